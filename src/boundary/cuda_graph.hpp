// Work of a CUDA stream, kept for replays.
#pragma once

#include <memory>
#include <type_traits>

#include <gpusync/core/cuda_device.hpp>

namespace gpusync::tool {

/// What was queued on a stream, as a CUDA graph that can be replayed. Its first replay uploads it.
///
/// It is not uploaded before: as long as a graph waits that was uploaded and not launched, idle nodes of all graphs of
/// the process take 0.18 us longer on an H200 (driver 580), and so they do once it was destroyed without a launch:
/// experiment graph-states.
class cuda_graph {
 public:
  cuda_graph() = default;
  /// Captures what `queue()` starts on `stream`. Throws what `queue` throws, and cuda_failure; the stream, which others
  /// may use too, is never left in capture. `flags`: as cudaGraphInstantiate() takes them.
  template <class Queue>
  cuda_graph(cudaStream_t stream, Queue&& queue, unsigned long long flags = 0) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    owned_graph graph;
    end_behind(stream, queue, [&](cudaGraph_t made) { graph.reset(made); });
    instantiate(graph.get(), flags);
  }

#if CUDART_VERSION >= 13000
  /// One that goes round what `queue(loop)` starts, once and as long as a kernel in it says so: the last that calls
  /// cudaGraphSetConditional(loop, …) in a round, with 0 to end. Throws as the constructor does.
  template <class Queue>
  static cuda_graph looping(cudaStream_t stream, Queue&& queue) {
    cudaGraph_t made = nullptr;
    check_cuda(cudaGraphCreate(&made, 0), "cudaGraphCreate");
    const owned_graph graph(made);
    cudaGraphConditionalHandle loop{};
    check_cuda(cudaGraphConditionalHandleCreate(&loop, made, 1, cudaGraphCondAssignDefault),
               "cudaGraphConditionalHandleCreate");
    cudaGraphNodeParams round{};
    round.type = cudaGraphNodeTypeConditional;
    round.conditional.handle = loop;
    round.conditional.type = cudaGraphCondTypeWhile;
    round.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    check_cuda(cudaGraphAddNode(&node, made, nullptr, nullptr, 0, &round), "cudaGraphAddNode");
    check_cuda(cudaStreamBeginCaptureToGraph(stream, round.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                             cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCaptureToGraph");
    end_behind(
        stream, [&] { queue(loop); }, [](cudaGraph_t) {});  // it is the node's
    cuda_graph all;
    all.instantiate(made, 0);
    return all;
  }
#endif

  /// Uploads it without a replay, which nothing should that measures. Blocking. Precondition: as of replay().
  void upload(cudaStream_t stream) const {
    check_cuda(cudaGraphUpload(instance_.get(), stream), "cudaGraphUpload");
    check_cuda(cudaStreamSynchronize(stream), "cudaGraphUpload");
  }

  /// Queues a replay. Precondition: not made by the default constructor.
  void replay(cudaStream_t stream) const {
    check_cuda(cudaGraphLaunch(instance_.get(), stream), "cudaGraphLaunch");
  }

 private:
  struct destroy {
    void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
    void operator()(cudaGraphExec_t instance) const { (void)cudaGraphExecDestroy(instance); }
  };
  using owned_graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, destroy>;

  /// Ends the capture behind what `queue()` starts, whatever comes of that; `take(graph)` gets what was captured.
  template <class Queue, class Take>
  static void end_behind(cudaStream_t stream, Queue&& queue, Take&& take) {
    const auto end = [&] {
      cudaGraph_t graph = nullptr;
      const cudaError_t code = cudaStreamEndCapture(stream, &graph);
      take(graph);
      return code;
    };
    try {
      queue();
    } catch (...) {
      (void)end();
      (void)cudaGetLastError();
      throw;
    }
    check_cuda(end(), "cudaStreamEndCapture");
  }
  void instantiate(cudaGraph_t graph, unsigned long long flags) {
    cudaGraphExec_t instance = nullptr;
    check_cuda(cudaGraphInstantiate(&instance, graph, flags), "cudaGraphInstantiate");
    instance_.reset(instance);
  }

  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, destroy> instance_;
};

}  // namespace gpusync::tool
