// The memory behind a grid barrier on a CUDA device.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/grid/barrier.hpp>
#include <gpusync/grid/capacity.hpp>
#include <gpusync/grid/counter_places.cuh>
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
  /// With placed counters, the constructor surveys the L2 cache if no other storage of placed counters of the device is
  /// alive. That takes some 20 ms, blocks, and should find the device idle; no kernel may be running that waits for the
  /// calling thread.
  cuda_barrier_storage(const cuda_device& device, uint32_t blocks, uint32_t first_phase = 0)
      : cuda_barrier_storage(device, blocks, barrier_tuning::shipped_for(device.name()), first_phase) {}

  /// The same with a table of one's own, such as `gpusync tune` writes; throws invalid_argument if it is not valid.
  /// Algorithms without a choice ignore it.
  cuda_barrier_storage(const cuda_device& device, uint32_t blocks, const barrier_tuning& tuning,
                       uint32_t first_phase = 0)
      : capacity_(blocks), first_phase_(first_phase), layout_(grid::layout::of(Algorithm::words(blocks), blocks)) {
    grid::require_servable<Algorithm>(blocks);
    words_ = cuda_buffer(device, layout_.total * sizeof(uint32_t));
    places_ = grid::counter_places<Algorithm>(device, tuning);
    const cuda_device_scope scope(device.ordinal());
    void* mapped = nullptr;
    check_cuda(cudaHostAlloc(&mapped, timeout_report::bytes(blocks), cudaHostAllocMapped), "cudaHostAlloc");
    report_.reset(static_cast<timeout_report*>(mapped));
    reset();
  }

  /// The barrier to hand to a kernel: all blocks of its grid.
  basic_grid_barrier<Algorithm, cuda_grid> barrier() { return {words(), roll(), capacity_}; }

  /// A barrier of a part of the grid. Throws invalid_argument if the storage is too small for it.
  basic_grid_barrier<Algorithm, cuda_grid, block_range> barrier(block_range part) {
    static_assert(!grid::is_whole_grid_only<Algorithm>::value, "this algorithm joins nothing but whole grids");
    grid::require_capacity(part, capacity_);
    return {words(), roll(), capacity_, part};
  }

  /// A barrier that blocks may leave early (arrive_and_drop). Launch it with gpusync::launch(), which makes all blocks
  /// members again.
  basic_grid_barrier<Algorithm, cuda_grid, dropping_blocks> dropping_barrier() {
    static_assert(!grid::is_whole_grid_only<Algorithm>::value, "this algorithm joins nothing but whole grids");
    return {words(), roll(), capacity_, dropping_blocks(words() + layout_.roster, capacity_)};
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
      Algorithm::start_at(first.data(), capacity_, first_phase_);
      places_.put(first, words());
      check_cuda(cudaMemcpy(words(), first.data(), first.size() * sizeof(uint32_t), cudaMemcpyHostToDevice),
                 "cudaMemcpy");
    }
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  /// The algorithm's words, for tests.
  uint32_t* state() { return words(); }
  /// Bytes of device memory, placed lines not counted.
  size_t bytes() const { return words_.bytes(); }
  /// Where placed counters lie; nothing for other algorithms.
  const grid::counter_places<Algorithm>& places() const { return places_; }

 private:
  struct free_host {
    void operator()(timeout_report* report) const { (void)cudaFreeHost(report); }
  };

  uint32_t* words() { return static_cast<uint32_t*>(words_.address()); }
  roll_call roll() { return {words() + layout_.claimed, words() + layout_.arrived, report_.get()}; }

  uint32_t capacity_;
  uint32_t first_phase_;
  grid::layout layout_;
  cuda_buffer words_;
  grid::counter_places<Algorithm> places_;
  std::unique_ptr<timeout_report, free_host> report_;
};

}  // namespace gpusync
