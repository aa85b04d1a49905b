// What the storages of grid barriers have in common, whatever memory is behind them.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gpusync/core/missing_block.hpp>
#include <gpusync/core/storage_control.hpp>
#include <gpusync/grid/barrier.hpp>
#include <gpusync/grid/capacity.hpp>
#include <gpusync/grid/layout.hpp>

namespace gpusync {

namespace detail {

/// What a storage holds besides its words, for algorithms that do not care where those lie.
template <class Algorithm>
class plain_placement {
 public:
  using places_type = typename Algorithm::places;

  /// Finds the places of a barrier with these words. `image`: the words when they are fresh.
  void put(const std::vector<uint32_t>& image, uint32_t* words, uint32_t capacity) {
    (void)image, (void)capacity;
    places_ = Algorithm::places_in(words);
  }
  /// What the barriers of these words are given. Its members may be changed for tests.
  places_type& places() { return places_; }
  /// Fits what a barrier was given to a launch, `captured` into a graph or not.
  void fit(places_type& given, uint32_t members, uint32_t threads, bool captured) {
    (void)given, (void)members, (void)threads, (void)captured;
  }

 private:
  places_type places_;
};

/// What a barrier of these members begins with, made by the storage that `control` is of.
inline handle_header header_for(const barrier_control& control, const whole_grid&) {
  return control.header(handle_kind::whole_grid);
}
inline handle_header header_for(const barrier_control& control, const block_range& part) {
  return control.header(handle_kind::part, part.first, part.count);
}
inline handle_header header_for(const barrier_control& control, const dropping_blocks&) {
  return control.header(handle_kind::dropping);
}

/// The base of cuda_barrier_storage and host_barrier_storage. Placement: plain_placement, or what has its functions.
template <class Algorithm, class Grid, class Backend, class Placement>
class barrier_storage {
 public:
  /// The barrier to hand to a kernel: all blocks of its grid.
  basic_grid_barrier<Algorithm, Grid> barrier() { return handle(whole_grid()); }

  /// A barrier of a part of the grid. Throws invalid_argument if the storage is too small for it.
  basic_grid_barrier<Algorithm, Grid, block_range> barrier(block_range part) {
    static_assert(!Algorithm::whole_grid_only, "this algorithm joins nothing but whole grids");
    require_capacity(part, capacity_);
    return handle(part);
  }

  /// A barrier that blocks may leave early (arrive_and_drop). Launch it with gpusync::launch(), which makes all blocks
  /// members again.
  basic_grid_barrier<Algorithm, Grid, dropping_blocks> dropping_barrier() {
    static_assert(!Algorithm::whole_grid_only, "this algorithm joins nothing but whole grids");
    return handle(dropping_blocks(state() + layout_.roster, capacity_));
  }

  /// The blocks that a timed-out wait missed, with the phase; empty if none timed out, and if all had arrived but one
  /// of them, whose wait() others need (wait_needed_by_others), had not called it: ask report() whether all is well.
  /// Synchronizes with nothing: call it after the kernel, or at any time while it runs.
  std::vector<missing_block> missing() const { return control_->missing(); }

  /// What went wrong in a launch on this storage, in a sentence or two; empty if nothing did. Call it as missing(); it
  /// also works after a launch has failed and taken the CUDA context with it.
  std::string report() const { return control_->report(); }

  /// Back to the first state. Needed after a wait timed out. Precondition: no kernel uses the storage, and no launch on
  /// it is queued. Blocking.
  void reset() {
    timeout_report* const report = control_->memory.get();
    std::memset(static_cast<void*>(report), 0, timeout_report::bytes(capacity_ * std::max(gpus_, 1u)));
    report->capacity = capacity_;
    report->gpus = gpus_;
    control_->words.clear();
    std::vector<uint32_t> first(Algorithm::words(capacity_));
    Algorithm::start_at(first.data(), capacity_, first_phase_);
    control_->placement.put(first, state(), capacity_);
    control_->words.write(first);
    if constexpr (Algorithm::stamps_wrap) {
      control_->words.write(std::vector<uint32_t>(capacity_, first_phase_), layout_.entered);
    }
    control_->order.forget();
  }

  /// For handles that call the barrier several times in each of their phases: reports name those from now on.
  void count_phases_of(uint32_t calls) { control_->count_phases_of(calls); }

  /// Bytes of the memory that blocks share; neither the report nor placed lines are counted.
  size_t bytes() const { return control_->words.bytes(); }

  /// The algorithm's words, for tests.
  uint32_t* state() { return control_->words.data(); }
  /// Where and how they are used: what its barriers are given. Its members may be changed for tests.
  typename Algorithm::places& places() { return control_->placement.places(); }

 protected:
  /// `gpus`: how many GPUs' blocks may be missing, 0 for a barrier of one grid.
  barrier_storage(const typename Backend::place& where, block_count blocks, uint32_t first_phase, Placement&& placement,
                  uint32_t gpus = 0)
      : capacity_(require_servable<Algorithm>(blocks)),
        gpus_(gpus),
        first_phase_(first_phase),
        layout_(barrier_layout::of(Algorithm::words(capacity_), capacity_)),
        control_(std::make_unique<control>(where, capacity_, layout_,
                                           typename Backend::report(where, capacity_ * std::max(gpus, 1u)),
                                           std::move(placement))) {
    reset();
  }

  const Placement& placement() const { return control_->placement; }
  void forget_order() { control_->order.forget(); }
  const barrier_layout& layout() const { return layout_; }
  const timeout_report& raw_report() const { return *control_->memory.get(); }
  /// Says which other parts of its barrier there are, on other GPUs.
  void stand_beside(std::vector<barrier_control::other_part> others) { control_->stand_beside(std::move(others)); }
  /// The arrival log of its own words.
  arrival_log log() const { return layout_.log(control_->words.data(), control_->memory.get()); }
  /// Sets words, from the `first` on. Blocks.
  void write(const std::vector<uint32_t>& from, size_t first) { control_->words.write(from, first); }

  /// Sets one of the words while kernels may be running. Blocks.
  void set_while_running(const uint32_t* word, uint32_t value) {
    control_->words.set_while_running(static_cast<size_t>(word - state()), value);
  }

  template <class Members>
  basic_grid_barrier<Algorithm, Grid, Members> handle(const Members& who) {
    const handle_header header = header_for(*control_, who);
    return basic_grid_barrier<Algorithm, Grid, Members>({header, places(), capacity_, state(), log()}, who);
  }

 private:
  /// Has all that is behind the storage, for it must stay where it is when the storage is moved.
  class control final : public barrier_control {
   public:
    control(const typename Backend::place& where, uint32_t capacity, const barrier_layout& layout,
            typename Backend::report&& report, Placement&& placed)
        : barrier_control(Backend::device(where), capacity, report.get()),
          words(where, layout.total),
          memory(std::move(report)),
          placement(std::move(placed)),
          order(where),
          roster_(layout.roster) {
      this->enlist();
    }
    ~control() override { this->retire(); }

    void check(const handle_header& handle, const launch_request& launch) override {
      barrier_control::check(handle, launch);
      order.check(launch);
    }
    void complete(handle_header& handle, const launch_request& launch) override {
      const uint64_t members = handle.kind == handle_kind::part ? handle.count : launch.blocks;
      placement.fit(reinterpret_cast<barrier_argument<Algorithm>*>(&handle)->places, static_cast<uint32_t>(members),
                    static_cast<uint32_t>(launch.threads), launch.captured);
    }
    void prepare(const handle_header& handle, const launch_request& launch) override {
      order.follow();
      drops_ = handle.kind == handle_kind::dropping;
      if (drops_) words.clear(roster_, dropping_blocks::words(capacity()), launch);
    }
    void withdraw() override {
      if (!drops_) order.withdraw();
    }
    void release() override { order.release(); }

    typename Backend::template words<uint32_t> words;
    typename Backend::report memory;
    Placement placement;
    typename Backend::order order;

   private:
    size_t roster_;
    bool drops_ = false;  ///< the last launch, for which words are cleared on its stream
  };

  uint32_t capacity_;
  uint32_t gpus_;
  uint32_t first_phase_;
  barrier_layout layout_;
  std::unique_ptr<control> control_;
};

}  // namespace detail

}  // namespace gpusync
