// The memory behind a grid barrier whose blocks are host threads.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include <gpusync/core/host_grid.hpp>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/core/storage_control.hpp>
#include <gpusync/grid/barrier.hpp>
#include <gpusync/grid/capacity.hpp>
#include <gpusync/grid/handles.hpp>
#include <gpusync/grid/layout.hpp>

namespace gpusync {

/// Owns the state of one grid barrier for grids of up to `blocks` blocks of host threads. Reusable by one launch after
/// another without a reset, unless a wait timed out. Grid: host_grid, or a test's stand-in for it.
template <class Algorithm, class Grid = host_grid>
class host_barrier_storage {
 public:
  /// Throws invalid_argument if the algorithm cannot serve that many blocks. `first_phase` is where the phase counter
  /// starts (modulo its width); only tests of the wrap need another than 0.
  explicit host_barrier_storage(block_count blocks, uint32_t first_phase = 0)
      : capacity_(grid::require_servable<Algorithm>(blocks)),
        first_phase_(first_phase),
        layout_(grid::layout::of(Algorithm::words(capacity_), capacity_)),
        words_(std::make_unique<line[]>(layout_.total / grid::layout::line_words)),
        report_(timeout_report::bytes(capacity_) / sizeof(uint32_t)),
        control_(std::make_unique<control>(capacity_, report_memory(), words() + layout_.roster)) {
    reset();
    places_ = Algorithm::places_in(words());
  }

  /// The barrier to hand to a kernel: all blocks of its grid.
  basic_grid_barrier<Algorithm, Grid> barrier() { return handle(whole_grid()); }

  /// A barrier of a part of the grid. Throws invalid_argument if the storage is too small for it.
  basic_grid_barrier<Algorithm, Grid, block_range> barrier(block_range part) {
    static_assert(!Algorithm::whole_grid_only, "this algorithm joins nothing but whole grids");
    grid::require_capacity(part, capacity_);
    return handle(part);
  }

  /// A barrier that blocks may leave early (arrive_and_drop).
  basic_grid_barrier<Algorithm, Grid, dropping_blocks> dropping_barrier() {
    static_assert(!Algorithm::whole_grid_only, "this algorithm joins nothing but whole grids");
    return handle(dropping_blocks(words() + layout_.roster, capacity_));
  }

  /// The blocks that a timed-out wait missed, with the phase; empty if none timed out.
  std::vector<missing_block> missing() { return missing_blocks(*report_memory()); }

  /// What went wrong in a launch on this storage, in a sentence or two; empty if nothing did.
  std::string report() const { return report_in_words(*reinterpret_cast<const timeout_report*>(report_.data())); }

  /// Back to the first state. Needed after a wait timed out. Precondition: no kernel uses the storage.
  void reset() {
    std::memset(words(), 0, layout_.total * sizeof(uint32_t));
    std::memset(report_.data(), 0, report_.size() * sizeof(uint32_t));
    report_memory()->capacity = capacity_;
    Algorithm::start_at(words(), capacity_, first_phase_);
  }

  /// Bytes of shared state, the report not counted.
  size_t bytes() const { return layout_.total * sizeof(uint32_t); }

  /// The algorithm's words, for tests.
  uint32_t* state() { return words(); }
  /// What its barriers are given besides; its members may be changed for tests.
  typename Algorithm::places& places() { return places_; }

 private:
  struct alignas(128) line {
    uint32_t words[grid::layout::line_words];
  };

  class control : public detail::barrier_control {
   public:
    control(uint32_t capacity, timeout_report* report, uint32_t* roster)
        : barrier_control(detail::launch_request::host_launch, capacity, report), roster_(roster) {}
    void prepare(const detail::handle_header& handle, const detail::launch_request&) override {
      if (running_.exchange(true)) {
        throw storage_in_use(
            "This storage is in use by a launch that has not ended: the two would count in the same words. Give each "
            "launch a storage of its own, or start one after the other.");
      }
      if (handle.kind != detail::handle_kind::dropping) return;
      std::memset(roster_, 0, dropping_blocks::words(capacity()) * sizeof(uint32_t));
    }

    void release() override { running_ = false; }

   private:
    uint32_t* roster_;
    std::atomic<bool> running_{false};
  };

  template <class Members>
  basic_grid_barrier<Algorithm, Grid, Members> handle(const Members& who) {
    const detail::handle_header header = detail::header_for(*control_, who);
    return basic_grid_barrier<Algorithm, Grid, Members>(
        {header, places_, capacity_, words(), layout_.log(words(), report_memory())}, who);
  }

  uint32_t* words() { return words_[0].words; }
  timeout_report* report_memory() { return reinterpret_cast<timeout_report*>(report_.data()); }

  uint32_t capacity_;
  uint32_t first_phase_;
  grid::layout layout_;
  std::unique_ptr<line[]> words_;
  std::vector<uint32_t> report_;
  typename Algorithm::places places_;
  std::unique_ptr<control> control_;
};

}  // namespace gpusync
