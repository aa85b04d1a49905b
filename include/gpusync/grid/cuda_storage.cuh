// The memory behind a grid barrier on a CUDA device.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/grid/barrier.hpp>
#include <gpusync/grid/layout.hpp>

namespace gpusync {

/// Owns the state of one grid barrier for grids of up to `blocks` blocks of a CUDA device: its words in device memory,
/// its time-out report in mapped host memory, so that the host can read it while a kernel runs. Reusable by one launch
/// after another without a reset, unless a wait timed out.
template <class Algorithm>
class cuda_barrier_storage {
 public:
  /// Throws invalid_argument if the algorithm cannot serve that many blocks, cuda_failure if memory is short.
  /// `first_phase` is where the phase counter starts (modulo its width); only tests of the wrap need another than 0.
  cuda_barrier_storage(const cuda_device& device, uint32_t blocks, uint32_t first_phase = 0)
      : capacity_(blocks), first_phase_(first_phase), layout_(grid::layout::of(Algorithm::words(blocks), blocks)) {
    if (blocks == 0 || blocks > Algorithm::max_blocks) {
      throw invalid_argument("A " + std::string(Algorithm::family) + " barrier serves 1 to " +
                             std::to_string(Algorithm::max_blocks) + " blocks, not " + std::to_string(blocks) + ".");
    }
    words_ = cuda_buffer(device, layout_.total * sizeof(uint32_t));
    const cuda_device_scope scope(device.ordinal());
    void* mapped = nullptr;
    check_cuda(cudaHostAlloc(&mapped, timeout_report::bytes(blocks), cudaHostAllocMapped), "cudaHostAlloc");
    report_.reset(static_cast<timeout_report*>(mapped));
    reset();
  }

  /// The barrier to hand to a kernel.
  basic_grid_barrier<Algorithm, cuda_grid> barrier() {
    return {words(), roll_call{words() + layout_.claimed, words() + layout_.arrived, report_.get()}, capacity_};
  }

  /// The blocks that a timed-out wait missed, with the phase; empty if none timed out. Synchronizes with nothing: call
  /// it after the kernel, or at any time while it runs.
  std::vector<missing_block> missing() const { return missing_blocks(*report_); }

  /// Back to the first state. Needed after a wait timed out. Precondition: no kernel uses the storage. Blocking.
  void reset() {
    const cuda_device_scope scope(words_.ordinal());
    std::memset(report_.get(), 0, timeout_report::bytes(capacity_));
    check_cuda(cudaMemset(words_.address(), 0, words_.bytes()), "cudaMemset");
    if constexpr (Algorithm::words(1) != 0) {
      std::vector<uint32_t> first(Algorithm::words(capacity_));
      Algorithm::start_at(first.data(), first_phase_);
      check_cuda(cudaMemcpy(words(), first.data(), first.size() * sizeof(uint32_t), cudaMemcpyHostToDevice),
                 "cudaMemcpy");
    }
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  /// Bytes of device memory.
  size_t bytes() const { return words_.bytes(); }

 private:
  struct free_host {
    void operator()(timeout_report* report) const { (void)cudaFreeHost(report); }
  };

  uint32_t* words() { return static_cast<uint32_t*>(words_.address()); }

  uint32_t capacity_;
  uint32_t first_phase_;
  grid::layout layout_;
  cuda_buffer words_;
  std::unique_ptr<timeout_report, free_host> report_;
};

}  // namespace gpusync
