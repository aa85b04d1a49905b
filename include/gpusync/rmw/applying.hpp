// How a participant of a wait-free object applies what has been announced.
#pragma once

#include <gpusync/rmw/announcing.hpp>

namespace gpusync::rmw::detail {

/// Applies operations to a copy of the state, and notes the answers.
template <class State, uint32_t N, class Consensus, class Operation, class Machine>
class applying : public announcing<State, N, Consensus, Operation, Machine> {
 protected:
  using part = own_part<State, N, Consensus, Operation, Machine>;
  using part::answers_;
  using part::code_of;
  using part::lanes;
  using part::machine_;
  using part::number_of;
  using part::numbers_;
  using part::slots;
  using part::state_words;
  using typename part::layout;
  using typename part::wire;

  using announcing<State, N, Consensus, Operation, Machine>::announcing;

  using typename announcing<State, N, Consensus, Operation, Machine>::announcements;

  /// The announcement of this tag has been applied to `state`.
  GPUSYNC_API void note(uint32_t slot, uint32_t tag, const uint32_t (&state)[state_words]) {
    numbers_[slot] = number_of(tag) | layout::fresh;
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < state_words; ++i) answers_[i][slot] = state[i];
  }

  /// The same if all pending operations are additions: a lane's own one after the other, and those of the lanes in the
  /// time of a few.
  GPUSYNC_API void add_announced(const announcements& all, uint32_t (&state)[state_words]) {
    using sum = typename wire::sum;
    sum amount[slots];
    sum own{};
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      uint32_t operand[wire::words];
      GPUSYNC_UNROLL()
      for (uint32_t row = 0; row < wire::words; ++row) operand[row] = all.operand[row][slot];
      amount[slot] = all.pending[slot] ? wire::amount(code_of(all.tag[slot]), operand) : sum{};
      own = static_cast<sum>(own + amount[slot]);
    }
    const sum old = static_cast<sum>(joined<State>(state));
    sum total{};
    sum before = static_cast<sum>(old + machine_.template sum_before<(N < lanes ? N : lanes)>(own, total));
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      uint32_t answer[state_words];
      split(static_cast<State>(before), answer);
      if (all.pending[slot]) note(slot, all.tag[slot], answer);
      before = static_cast<sum>(before + amount[slot]);
    }
    split(static_cast<State>(static_cast<sum>(old + total)), state);
  }

  /// Applies the pending operations to `state`, one after the other, and notes answers and numbers.
  GPUSYNC_API void apply_announced(const announcements& all, uint32_t (&state)[state_words]) {
    if constexpr (lanes > 1 && wire::has_sums) {
      bool sums = true;
      GPUSYNC_UNROLL()
      for (uint32_t slot = 0; slot < slots; ++slot) {
        sums = sums && (!all.pending[slot] || wire::is_sum(code_of(all.tag[slot])));
      }
      if (machine_.all(sums)) {
        add_announced(all, state);
        return;
      }
    }
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      for (uint32_t left = machine_.ballot(all.pending[slot]); left != 0; left &= left - 1) {
        const uint32_t lane = lowest_bit(left);
        uint32_t operand[wire::words];
        GPUSYNC_UNROLL()
        for (uint32_t row = 0; row < wire::words; ++row) {
          operand[row] = machine_.broadcast(all.operand[row][slot], lane);
        }
        const Operation operation = wire::get(code_of(machine_.broadcast(all.tag[slot], lane)), operand);
        if (lane == machine_.lane()) note(slot, all.tag[slot], state);
        split(operation(joined<State>(state)), state);
      }
    }
  }
};

}  // namespace gpusync::rmw::detail
