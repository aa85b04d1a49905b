// The memory behind a grid barrier on a CUDA device.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/cuda_storage_control.hpp>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/grid/barrier.hpp>
#include <gpusync/grid/capacity.hpp>
#include <gpusync/grid/counter_places.cuh>
#include <gpusync/grid/handles.hpp>
#include <gpusync/grid/layout.hpp>

namespace gpusync {

/// Owns the state of one grid barrier for grids of up to `blocks` blocks of a CUDA device: its words in device memory,
/// its time-out report in mapped host memory, so that the host can read it while a kernel runs. Reusable by one launch
/// after another without a reset, unless a wait timed out.
///
/// For launches on one stream: gpusync::launch() refuses another one (storage_in_use) until hand_over(). A launch that
/// is captured into a graph counts for the stream that captures it; run the graph on that stream too, or where it is
/// ordered with the storage's other launches, for a replay is not seen here.
template <class Algorithm>
class cuda_barrier_storage {
 public:
  /// Throws invalid_argument if the algorithm cannot serve that many blocks, cuda_failure if memory is short.
  /// `first_phase` is where the phase counter starts (modulo its width); only tests of the wrap need another than 0.
  /// With placed counters, the constructor surveys the L2 cache if no other storage of placed counters of the device is
  /// alive. That takes some 20 ms, blocks, and should find the device idle; no kernel may be running that waits for the
  /// calling thread.
  cuda_barrier_storage(const cuda_device& device, block_count blocks, uint32_t first_phase = 0)
      : cuda_barrier_storage(device, blocks, barrier_tuning::shipped_for(device.name()), first_phase) {}

  /// The same with a table of one's own, such as `gpusync tune` writes; throws invalid_argument if it is not valid.
  /// Algorithms without a choice ignore it.
  cuda_barrier_storage(const cuda_device& device, block_count blocks, const barrier_tuning& tuning,
                       uint32_t first_phase = 0)
      : capacity_(grid::require_servable<Algorithm>(blocks)),
        first_phase_(first_phase),
        layout_(grid::layout::of(Algorithm::words(capacity_), capacity_)) {
    words_ = cuda_buffer(device, layout_.total * sizeof(uint32_t));
    counters_ = std::make_unique<grid::counter_placement<Algorithm>>(device, tuning);
    const cuda_device_scope scope(device.ordinal());
    void* mapped = nullptr;
    check_cuda(cudaHostAlloc(&mapped, timeout_report::bytes(capacity_), cudaHostAllocMapped), "cudaHostAlloc");
    report_.reset(static_cast<timeout_report*>(mapped));
    control_ = std::make_unique<control>(*this);
    reset();
  }

  /// The barrier to hand to a kernel: all blocks of its grid.
  basic_grid_barrier<Algorithm, cuda_grid> barrier() { return handle(whole_grid()); }

  /// A barrier of a part of the grid. Throws invalid_argument if the storage is too small for it.
  basic_grid_barrier<Algorithm, cuda_grid, block_range> barrier(block_range part) {
    static_assert(!Algorithm::whole_grid_only, "this algorithm joins nothing but whole grids");
    grid::require_capacity(part, capacity_);
    return handle(part);
  }

  /// A barrier that blocks may leave early (arrive_and_drop). Launch it with gpusync::launch(), which makes all blocks
  /// members again.
  basic_grid_barrier<Algorithm, cuda_grid, dropping_blocks> dropping_barrier() {
    static_assert(!Algorithm::whole_grid_only, "this algorithm joins nothing but whole grids");
    return handle(dropping_blocks(words() + layout_.roster, capacity_));
  }

  /// The blocks that a timed-out wait missed, with the phase; empty if none timed out. Synchronizes with nothing: call
  /// it after the kernel, or at any time while it runs.
  std::vector<missing_block> missing() const { return missing_blocks(*report_); }

  /// What went wrong in a launch on this storage, in a sentence or two; empty if nothing did. Call it as missing(); it
  /// also works after a launch has failed and taken the CUDA context with it.
  std::string report() const { return report_in_words(*report_); }

  /// Back to the first state. Needed after a wait timed out. Precondition: no kernel uses the storage, and no launch on
  /// it is queued. Blocking.
  void reset() {
    const cuda_device_scope scope(words_.ordinal());
    std::memset(static_cast<void*>(report_.get()), 0, timeout_report::bytes(capacity_));
    report_->capacity = capacity_;
    check_cuda(cudaMemset(words_.address(), 0, words_.bytes()), "cudaMemset");
    if constexpr (Algorithm::words(1) != 0) {
      std::vector<uint32_t> first(Algorithm::words(capacity_));
      Algorithm::start_at(first.data(), capacity_, first_phase_);
      counters_->put(first, words(), capacity_);
      check_cuda(cudaMemcpy(words(), first.data(), first.size() * sizeof(uint32_t), cudaMemcpyHostToDevice),
                 "cudaMemcpy");
    }
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    control_->order.forget();
  }

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { control_->order.forget(); }

  /// The algorithm's words, for tests.
  uint32_t* state() { return words(); }
  /// Where and how the algorithm's words are used: what its barriers are given. Its members may be changed for tests.
  typename Algorithm::places& places() { return counters_->places(); }
  /// Bytes of device memory, placed lines not counted.
  size_t bytes() const { return words_.bytes(); }
  /// The lines of placed counters; nothing for other algorithms.
  const grid::counter_placement<Algorithm>& counters() const { return *counters_; }

 private:
  struct free_host {
    void operator()(timeout_report* report) const { (void)cudaFreeHost(report); }
  };

  class control : public detail::barrier_control {
   public:
    explicit control(cuda_barrier_storage& of)
        : barrier_control(of.words_.ordinal(), of.capacity_, of.report_.get()),
          order(of.words_.ordinal()),
          counters_(*of.counters_),
          roster_(of.words() + of.layout_.roster) {}

    void check(const detail::handle_header& handle, const detail::launch_request& launch) override {
      barrier_control::check(handle, launch);
      order.check(launch);
    }
    void complete(detail::handle_header& handle, const detail::launch_request& launch) override {
      using argument = typename basic_grid_barrier<Algorithm, cuda_grid>::argument;
      const uint64_t members = handle.kind == detail::handle_kind::part ? handle.count : launch.blocks;
      counters_.fit(reinterpret_cast<argument*>(&handle)->places, static_cast<uint32_t>(members),
                    static_cast<uint32_t>(launch.threads), launch.captured);
    }
    void prepare(const detail::handle_header& handle, const detail::launch_request& launch) override {
      order.follow();
      if (handle.kind != detail::handle_kind::dropping) return;
      check_cuda(cudaMemsetAsync(roster_, 0, dropping_blocks::words(capacity()) * sizeof(uint32_t),
                                 static_cast<cudaStream_t>(launch.stream)),
                 "cudaMemsetAsync");
    }

    detail::stream_order order;

   private:
    grid::counter_placement<Algorithm>& counters_;
    uint32_t* roster_;
  };

  template <class Members>
  basic_grid_barrier<Algorithm, cuda_grid, Members> handle(const Members& who) {
    const detail::handle_header header = detail::header_for(*control_, who);
    return basic_grid_barrier<Algorithm, cuda_grid, Members>(
        {header, counters_->places(), capacity_, words(), layout_.log(words(), report_.get())}, who);
  }

  uint32_t* words() { return static_cast<uint32_t*>(words_.address()); }

  uint32_t capacity_;
  uint32_t first_phase_;
  grid::layout layout_;
  cuda_buffer words_;
  // Of a fixed address, for the control refers to them and the storage may be moved.
  std::unique_ptr<grid::counter_placement<Algorithm>> counters_;
  std::unique_ptr<timeout_report, free_host> report_;
  std::unique_ptr<control> control_;
};

}  // namespace gpusync
