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
    std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, destroy> graph;
    try {
      queue();
    } catch (...) {
      (void)end(stream, graph);
      (void)cudaGetLastError();
      throw;
    }
    check_cuda(end(stream, graph), "cudaStreamEndCapture");
    cudaGraphExec_t instance = nullptr;
    check_cuda(cudaGraphInstantiate(&instance, graph.get(), flags), "cudaGraphInstantiate");
    instance_.reset(instance);
  }

  /// Uploads it without a replay, which nothing should that measures. Blocking. Precondition: as of replay().
  void upload(cudaStream_t stream) const {
    check_cuda(cudaGraphUpload(instance_.get(), stream), "cudaGraphUpload");
    check_cuda(cudaStreamSynchronize(stream), "cudaGraphUpload");
  }

  /// Queues a replay. Precondition: not made by the default constructor.
  void replay(cudaStream_t stream) const { check_cuda(cudaGraphLaunch(instance_.get(), stream), "cudaGraphLaunch"); }

 private:
  struct destroy {
    void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
    void operator()(cudaGraphExec_t instance) const { (void)cudaGraphExecDestroy(instance); }
  };
  template <class Owner>
  static cudaError_t end(cudaStream_t stream, Owner& owner) {
    cudaGraph_t graph = nullptr;
    const cudaError_t code = cudaStreamEndCapture(stream, &graph);
    owner.reset(graph);
    return code;
  }

  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, destroy> instance_;
};

}  // namespace gpusync::tool
