// Workload "graph states" on CUDA devices.
#include <memory>
#include <vector>

#include "boundary/cuda_graph.hpp"
#include "boundary/cuda_target.hpp"
#include "workloads/graph_states/graph_states.hpp"

namespace gpusync::tool {

namespace {

__global__ void does_nothing() {}

#if CUDART_VERSION >= 13000
__global__ void end_loop(cudaGraphConditionalHandle loop) {
  cudaGraphSetConditional(loop, 0);
}
#endif

void run_kernels(cudaStream_t stream, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) does_nothing<<<1, 32, 0, stream>>>();
  check_cuda(cudaGetLastError(), "a kernel");
  check_cuda(cudaStreamSynchronize(stream), "a kernel");
}

class own_stream {
 public:
  own_stream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  ~own_stream() { (void)cudaStreamDestroy(stream_); }
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;

  void use(uint32_t kernels = 1) const { run_kernels(stream_, kernels); }

 private:
  cudaStream_t stream_ = nullptr;
};

class cuda_graph_states : public graph_states_device {
 public:
  explicit cuda_graph_states(const device_description& description) : where_(description.index) {}

  void carry_out(const process_history& history) override {
    const cuda_device_scope scope(where_.device().ordinal());
    using what = process_history::what;
    switch (history.did) {
      case what::nothing: return;
      case what::graph_waits: make_graph(history.count); return;
      case what::upload_waits: make_graph(history.count).upload(where_.stream()); return;
      case what::upload_launched:
        make_graph(history.count).upload(where_.stream());
        graph_.replay(where_.stream());
        check_cuda(cudaStreamSynchronize(where_.stream()), "cudaGraphLaunch");
        return;
      case what::upload_dropped:
        make_graph(history.count).upload(where_.stream());
        graph_ = cuda_graph();
        return;
      case what::loop_launched: launch_loop(history.count); return;
      case what::kernels_here: run_kernels(where_.stream(), history.count); return;
      case what::kernels_there:
        streams_.push_back(std::make_unique<own_stream>());
        streams_.back()->use(history.count);
        return;
      case what::streams_used:
        for (uint32_t i = 0; i < history.count; ++i) {
          streams_.push_back(std::make_unique<own_stream>());
          streams_.back()->use();
        }
        return;
      case what::streams_unused:
        for (uint32_t i = 0; i < history.count; ++i) streams_.push_back(std::make_unique<own_stream>());
        return;
      case what::streams_in_turn:
        for (uint32_t i = 0; i < history.count; ++i) own_stream().use();
        return;
      case what::memory_taken:
        for (uint32_t i = 0; i < history.count; ++i) {
          pieces_.push_back(std::make_unique<piece>());
          check_cuda(cudaMalloc(&pieces_.back()->address, size_t{4} << 20), "cudaMalloc");
        }
        return;
    }
  }

 private:
  const cuda_graph& make_graph(uint32_t nodes) {
    graph_ = cuda_graph(where_.stream(), [&] {
      for (uint32_t i = 0; i < nodes; ++i) does_nothing<<<1, 32, 0, where_.stream()>>>();
    });
    return graph_;
  }
  void launch_loop([[maybe_unused]] uint32_t nodes) {
#if CUDART_VERSION >= 13000
    graph_ = cuda_graph::looping(where_.stream(), [&](cudaGraphConditionalHandle loop) {
      for (uint32_t i = 1; i < nodes; ++i) does_nothing<<<1, 32, 0, where_.stream()>>>();
      end_loop<<<1, 1, 0, where_.stream()>>>(loop);
      check_cuda(cudaGetLastError(), "a kernel");
    });
    graph_.replay(where_.stream());
    check_cuda(cudaStreamSynchronize(where_.stream()), "cudaGraphLaunch");
#else
    throw invalid_argument("Graphs with loops are made with CUDA 13 or later.");
#endif
  }
  /// Memory, and no kernel that clears it.
  struct piece {
    piece() = default;
    ~piece() { (void)cudaFree(address); }
    piece(const piece&) = delete;
    piece& operator=(const piece&) = delete;
    void* address = nullptr;
  };

  const cuda_target where_;
  cuda_graph graph_;
  std::vector<std::unique_ptr<own_stream>> streams_;
  std::vector<std::unique_ptr<piece>> pieces_;
};

const register_side<graph_states_device> graph_states_registered(device_kind::cuda, make_side<cuda_graph_states>);

}  // namespace

}  // namespace gpusync::tool
