// A bounded lead: members that count epochs, each at most so many epochs ahead of the slowest. Blocks of a grid
// (grid_window.hpp) and warps of a block (block_pace.hpp) are held together by this one text.
#pragma once

#include <gpusync/core/deadline.hpp>
#include <gpusync/core/wait.hpp>

namespace gpusync::detail {

/// Where a window's counters lie, and how far it lets its members lead.
struct window_places {
  uint32_t* words;  ///< `slots` counters, `pitch` words from one to the next, and behind them words_behind words
  uint32_t lead;    ///< epochs, at least 1
  uint32_t slots;   ///< a power of two, at least `lead`
  uint32_t pitch;   ///< 1, or a line's words

  static constexpr uint32_t words_behind = 2;  ///< members that have left, and members that have given up

  /// Counters for that lead. Two even for a lead of 1: who polls one is not in the way of those who add to the next.
  GPUSYNC_HD static constexpr uint32_t slots_for(uint32_t lead) {
    uint32_t slots = 2;
    while (slots < lead) slots *= 2;
    return slots;
  }
  /// Words in all, zero at first.
  GPUSYNC_HD static constexpr size_t words_for(uint32_t lead, uint32_t pitch) {
    return size_t{slots_for(lead)} * pitch + words_behind;
  }

  GPUSYNC_HD uint32_t* slot(uint32_t number) const { return words + size_t{number} * pitch; }
  GPUSYNC_HD uint32_t* left() const { return slot(slots); }
  GPUSYNC_HD uint32_t* given_up() const { return slot(slots) + 1; }
};

/// A member's place in a window: how many epochs it has ended. Of the threads of a member only the first one counts and
/// polls.
///
/// Epoch e has the counter e % slots, to which each member adds 1 when it has ended the epoch; who is to begin epoch e
/// waits until all have ended epoch e - lead. A counter is never reset while members run: it counts on, and none adds
/// to it for epoch e + slots before all have added for epoch e, since `slots` is not less than `lead`.
///
/// Relaxed throughout: a window orders nothing. Scope: whom the members' accesses must reach.
template <scope Scope>
class window_member {
 public:
  /// A member that has ended so many epochs; only tests of the wrap need another number than 0.
  GPUSYNC_HD explicit window_member(uint64_t ended = 0) : epoch_(ended) {}

  /// The end of an epoch; waits until the next one may begin. Called by one thread of a member of `members`.
  /// timed_out: `limit` passed first, or another member's had, so that there is nothing to keep pace with; the epoch
  /// has been counted all the same.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Deadline>
  GPUSYNC_HD wait_status end_epoch(Grid grid, const window_places& at, uint32_t members, Deadline limit) {
    count_epoch<Grid>(at);
    if (epoch_ < at.lead) return wait_status::completed;
    return wait(grid, at, members, limit);
  }

  /// The end of an epoch without waiting.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void count_epoch(const window_places& at) {
    Grid::memory::template add<memory_order::relaxed, Scope>(at.slot(slot_of(at, epoch_)), 1u);
    ++epoch_;
  }

  /// Takes part in no further epoch: the others do not wait for it. What it has counted it takes back, for they wait
  /// for one member less, from the first epoch on.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void leave(const window_places& at) {
    using memory = typename Grid::memory;
    GPUSYNC_UNROLL(1)
    for (uint32_t slot = 0; slot < at.slots; ++slot) {
      const uint32_t counted = round_of(at, epoch_) + (slot < slot_of(at, epoch_) ? 1 : 0);
      memory::template add<memory_order::relaxed, Scope>(at.slot(slot), 0u - counted);
    }
    // Who finds one member less finds what it had counted gone too, or would go on too early.
    memory::template add<memory_order::release, Scope>(at.left(), 1u);
  }

 private:
  GPUSYNC_HD static uint32_t slot_of(const window_places& at, uint64_t epoch) {
    return static_cast<uint32_t>(epoch) & (at.slots - 1);
  }
  /// How often the counters have been gone through before that epoch, modulo 2^32, as they count.
  GPUSYNC_HD static uint32_t round_of(const window_places& at, uint64_t epoch) {
    return static_cast<uint32_t>(epoch / at.slots);
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Deadline>
  GPUSYNC_HD wait_status wait(Grid grid, const window_places& at, uint32_t members, Deadline limit) {
    const uint64_t awaited = epoch_ - at.lead;
    const uint32_t* const counter = at.slot(slot_of(at, awaited));
    while (true) {
      const uint32_t goal = (members - left_) * (round_of(at, awaited) + 1);
      const auto counted = [goal](uint32_t value) { return static_cast<int32_t>(value - goal) >= 0; };
      if (soon_over<memory_order::relaxed, Scope>(grid, counter, counted)) return wait_status::completed;
      left_ = Grid::memory::template load<memory_order::acquire, Scope>(at.left());
      if constexpr (Deadline::bounded) {
        if (Grid::memory::template load<memory_order::relaxed, Scope>(at.given_up()) != 0)
          return wait_status::timed_out;
        if (limit.passed(grid.now())) return wait_status::timed_out;
      }
      grid.pause();
    }
  }

  uint64_t epoch_;     ///< epochs that it has ended
  uint32_t left_ = 0;  ///< members that have left, as far as it knows
};

}  // namespace gpusync::detail
