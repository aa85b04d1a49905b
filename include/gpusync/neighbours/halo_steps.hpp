// The steps of a halo, as a thread goes through them: halo.hpp has what they are, halo_polls.hpp how words are waited
// for.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <string.h>  // memcpy, as run-time compilers have it
#endif

#include <gpusync/neighbours/halo_words.hpp>

namespace gpusync::detail {

/// What a thread of a halo knows, how it begins and ends a step, and how it puts words.
template <class T, class Grid, halo_form Form>
class halo_steps {
 protected:
  using argument = halo_argument<T>;
  using memory = typename Grid::memory;
  using halves = halo_unit<sizeof(T)>;
  using unit = typename argument::unit;
  using bits = typename argument::bits;

  GPUSYNC_HD explicit halo_steps(const argument& given) : given_(given) {}

  enum class stage : uint32_t { putting, sent, received, fresh, lost, original, lent };

  GPUSYNC_HD bool by_words() const {
    if constexpr (Form == halo_form::words) return true;
    if constexpr (Form == halo_form::flags) return false;
    return given_.form == halo_form::words;
  }
  /// Where the block's word `i` lies. Precondition: it is there.
  GPUSYNC_API uint32_t own_place(uint32_t i) const {
    return given_.pages_per_block == 1 ? own_ + i : given_.place(Grid::current().block(), i);
  }
  /// The number of this step: never that of one of the two before it.
  GPUSYNC_HD uint32_t step() const { return step_; }
  /// The buffer of this step, of two.
  GPUSYNC_API_TEMPLATE
  template <class Word>
  GPUSYNC_HD Word* buffer() const {
    return reinterpret_cast<Word*>(buffer_);
  }
  GPUSYNC_API void turn_buffer(Grid grid) {
    const uint32_t place = (step_ & 1u) != 0 ? argument::page_words : 0;
    // Opaque, or the compiler would choose anew for each word and poll, and where others wait for it.
    buffer_ = grid.opaque(by_words() ? reinterpret_cast<uint32_t*>(given_.units + place)
                                     : reinterpret_cast<uint32_t*>(given_.plain + place));
  }

  GPUSYNC_API void store_word(uint32_t at, T value) {
    if (by_words()) {
      memory::template store<memory_order::relaxed, scope::device>(buffer<unit>() + at,
                                                                   halves::make(bits_of(value), step()));
    } else {
      buffer<bits>()[at] = bits_of(value);
    }
  }
  GPUSYNC_API void store_pair(uint32_t at, T first, T second) {
    if constexpr (sizeof(T) == 4) {
      if (by_words()) {
        memory::template store<memory_order::relaxed, scope::device>(
            reinterpret_cast<word_pair*>(buffer<unit>() + at),
            word_pair{halves::make(bits_of(first), step()), halves::make(bits_of(second), step())});
        return;
      }
    }
    store_word(at, first);
    store_word(at + 1, second);
  }

  GPUSYNC_HD static bits bits_of(T value) {
    bits copy;
    memcpy(&copy, &value, sizeof(T));
    return copy;
  }
  GPUSYNC_HD static T value_of(bits copy) {
    T value;
    memcpy(&value, &copy, sizeof(T));
    return value;
  }

  /// Precondition of a function, and the first thing that a block does.
  GPUSYNC_API void at_stage(stage wanted) {
    if (stage_ == wanted) return;
    if (stage_ == stage::fresh && wanted == stage::putting) return join();
    refuse(given_.log.report, stage_);
  }
  /// Calls with a deadline say so again once a step was given up; others end the launch.
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD bool is_lost_to() const {
    if constexpr (Deadline::bounded) return stage_ == stage::lost;
    return false;
  }
  GPUSYNC_API_TEMPLATE
  template <class Nothing = void>
  [[noreturn]] GPUSYNC_HD GPUSYNC_COLD static void refuse(timeout_report* report, stage found) {
    Grid::current().fail(report,
                         found == stage::lost       ? misuse::lost_phase
                         : found == stage::original ? misuse::shared_handle
                                                    : misuse::out_of_turn,
                         0);
  }

  GPUSYNC_API_TEMPLATE
  template <class Nothing = void>
  [[noreturn]] GPUSYNC_HD GPUSYNC_COLD static void refuse_word(timeout_report* report, uint32_t number) {
    Grid::current().fail(report, misuse::no_such_word, number);
  }

  /// Before the block counts its first step of the launch, all its threads have read the count. All threads of the
  /// block; enter() does it outside a loop of steps.
  GPUSYNC_API void meet(Grid grid) {
    if (by_words() && !met_) grid.sync_block();
    met_ = true;
  }

  GPUSYNC_API void join() {
    const Grid grid = Grid::current();
    find_step(grid);
    if constexpr (Grid::may_lose_phases) {
      if (given_.log.lost(grid) != 0) grid.fail(given_.log.report, misuse::lost_phase, 0);
    }
  }

  GPUSYNC_API void find_step(Grid grid) {
    if (stage_ != stage::fresh) refuse(given_.log.report, stage_);
    if (grid.blocks() != given_.blocks) grid.fail(given_.log.report, misuse::outsider, given_.blocks);
    own_ = given_.place(grid.block(), 0);
    if (by_words()) {
      uint32_t* const count = given_.places.flag(grid.block());
      step_ = memory::template load<memory_order::relaxed, scope::device>(count) + 1;
      // Opaque, or both the thread and the address would be found anew in each step.
      count_ = grid.opaque(grid.thread() == 0 ? count : nullptr);
    } else {
      state_ = grid::neighbour_flags::find<false>(grid, given_.places, {grid.block(), given_.blocks});
      step_ = state_.goal;
    }
    turn_buffer(grid);
    stage_ = stage::putting;
  }

  GPUSYNC_API void end_step() {
    ++step_;
    ++passed_;
    asked_ = false;
    turn_buffer(Grid::current());
    stage_ = stage::putting;
  }

  argument given_;
  grid::neighbour_flags::state state_{};
  uint32_t own_ = 0;            ///< the block's first word
  uint32_t* buffer_ = nullptr;  ///< of this step, of two
  uint32_t step_ = 0;           ///< counted through all launches, modulo 2^32
  uint32_t passed_ = 0;
  stage stage_ = stage::fresh;
  bool met_ = false;           ///< the block's threads, in this launch
  bool asked_ = false;         ///< in this step
  uint32_t* count_ = nullptr;  ///< of the steps that the block has sent; of its thread 0 alone
  uint32_t timeout_flag_ = 0;
  uint64_t sent_at_ = 0;  ///< by the multiprocessor's clock
};

}  // namespace gpusync::detail
