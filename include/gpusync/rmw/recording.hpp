// How a participant of a wait-free object reads and proposes states.
#pragma once

#include <gpusync/rmw/applying.hpp>

namespace gpusync::rmw::detail {

/// Records: a state, and for each participant the number of its last applied announcement and the answer to it.
template <class State, uint32_t N, class Consensus, class Operation, class Machine>
class recording : public applying<State, N, Consensus, Operation, Machine> {
 protected:
  using part = own_part<State, N, Consensus, Operation, Machine>;
  using part::answers_;
  using part::at;
  using part::buffer_;
  using part::current_;
  using part::head_;
  using part::lanes;
  using part::last_number_;
  using part::machine_;
  using part::number_at;
  using part::numbers_;
  using part::own_answer;
  using part::publishes;
  using part::sees;
  using part::self_;
  using part::slots;
  using part::stamp_;
  using part::state_;
  using part::state_words;
  using part::words_;
  using typename part::head;
  using typename part::layout;

  using applying<State, N, Consensus, Operation, Machine>::applying;

  using typename announcing<State, N, Consensus, Operation, Machine>::fetched_announcements;

  /// Reads the record that `head_` names into state_, numbers_ and answers_. Returns whether it answers this
  /// participant's last announcement; if it does not, `whole` says whether all of it is the record of that round. On
  /// the way, in the same round trip, it fetches the announcements into `fetched`.
  GPUSYNC_API bool read_record(State& answer, bool& whole, fetched_announcements& fetched) {
    const uint64_t* record = words_ + layout::record(head_.winner(), head_.buffer());
    uint64_t numbers[slots];
    uint64_t answers[state_words][slots];
    uint64_t state[state_words];
    // The numbers first: see write_record().
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      numbers[slot] = at(slot) < N ? machine_.template load<sees>(record + layout::numbers + at(slot)) : 0;
    }
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < state_words; ++i) {
      GPUSYNC_UNROLL()
      for (uint32_t slot = 0; slot < slots; ++slot) {
        answers[i][slot] = at(slot) < N ? machine_.template load<sees>(record + layout::answers + i * N + at(slot)) : 0;
      }
    }
    if constexpr (!Consensus::carries_state) {
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < state_words; ++i) state[i] = machine_.template load<sees>(record + i);
    }
    this->fetch_announcements(fetched);

    const uint32_t stamp = head_.stamp();
    bool mine = false;
    whole = true;
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (at(slot) >= N) continue;
      const uint32_t written = tag_of(numbers[slot]);
      const uint32_t payload = payload_of(numbers[slot]);
      whole = whole && written == stamp;
      numbers_[slot] = payload & number_mask;
      bool answered = at(slot) == self_ && number_at(slot) == last_number_ && answers_now(payload, written);
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < state_words; ++i) {
        const uint32_t tag = tag_of(answers[i][slot]);
        whole = whole && tag == stamp;
        answered = answered && at_or_after(tag, written);
        answers_[i][slot] = payload_of(answers[i][slot]);
      }
      mine = mine || answered;
    }
    if constexpr (Consensus::carries_state) {
      head_.state(state_);
    } else {
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < state_words; ++i) {
        whole = whole && tag_of(state[i]) == stamp;
        state_[i] = payload_of(state[i]);
      }
    }
    whole = machine_.all(whole);
    if (!machine_.any(mine)) return false;
    answer = own_answer();
    return true;
  }

  /// Whether this participant's last announcement has been applied for good, if its number was found in a record that
  /// was `written` in the buffer which `head_` names. It has been if that is the decided record itself. A later record
  /// there is a proposal, which may never be decided; but what it has not applied itself it found decided. That is what
  /// makes a call end even if the record is overwritten whenever it is read.
  GPUSYNC_API bool answers_now(uint32_t payload, uint32_t written) const {
    const bool applied_here = (payload & layout::fresh) != 0;
    if (!applied_here) return at_or_after(written, head_.stamp());
    return written == head_.stamp() && head_.decided();
  }

  /// The numbers last: whoever reads a number first, and then the answer to it, finds one that is no older.
  GPUSYNC_API void write_record(const uint32_t (&state)[state_words], uint32_t stamp) const {
    uint64_t* record = words_ + layout::record(self_, buffer_);
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < state_words; ++i) {
      GPUSYNC_UNROLL()
      for (uint32_t slot = 0; slot < slots; ++slot) {
        if (at(slot) >= N) continue;
        machine_.template store<publishes>(record + layout::answers + i * N + at(slot),
                                           tagged(answers_[i][slot], stamp));
      }
    }
    if constexpr (!Consensus::carries_state) {
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < state_words; ++i) {
        if (machine_.lane() == i % lanes) machine_.template store<publishes>(record + i, tagged(state[i], stamp));
      }
    }
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (at(slot) >= N) continue;
      machine_.template store<publishes>(record + layout::numbers + at(slot), tagged(numbers_[slot], stamp));
    }
  }

  /// Proposes `state`, with numbers_ and answers_ if `recorded`, as the successor of the state that `head_` names.
  /// Without `recorded` these are as in that state.
  GPUSYNC_API bool install(const uint32_t (&state)[state_words], bool recorded) {
    head wanted;
    bool writes = true;
    if constexpr (Consensus::carries_state) {
      writes = recorded;
      if (!writes) wanted = Consensus::with_state(head_, state);
    }
    if (writes) {
      buffer_ = Consensus::next_buffer(self_, head_, buffer_);
      wanted = Consensus::next(head_, self_, buffer_, stamp_, state);
      stamp_ = wanted.stamp();
      write_record(state, wanted.stamp());
      // The other record is next whether this one wins or not: a reader may be on its way to it.
      buffer_ = 1 - buffer_;
    }
    current_ = Consensus::template propose<N>(machine_, words_, self_, head_, wanted);
    if (!current_) return false;
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < state_words; ++i) state_[i] = state[i];
    if (Consensus::spin_limit != 0) this->deliver();
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) numbers_[slot] = number_at(slot);
    this->look();
    return true;
  }

  /// For a policy in which a round's stamp does not follow from the round before it: the last stamp that a participant
  /// of this number has written.
  GPUSYNC_API void find_last_stamp() {
    uint64_t ahead = 0;
    for (uint32_t buffer = 0; buffer < 2; ++buffer) {
      for (uint32_t slot = 0; slot < slots; ++slot) {
        if (at(slot) >= N) continue;
        // The row that is written first.
        const uint64_t word =
            machine_.template load<sees>(words_ + layout::record(self_, buffer) + layout::answers + at(slot));
        const uint32_t stamp = tag_of(word);
        if (at_or_after(stamp, head_.stamp()) && stamp - head_.stamp() > ahead) ahead = stamp - head_.stamp();
      }
    }
    stamp_ += static_cast<uint32_t>(machine_.most(ahead));
  }
};

}  // namespace gpusync::rmw::detail
