// What a participant of a wait-free object does: the algorithm.
#pragma once

#include <gpusync/core/handle.hpp>
#include <gpusync/rmw/layout.hpp>
#include <gpusync/rmw/machine.hpp>
#include <gpusync/rmw/operations.hpp>
#include <gpusync/rmw/words.hpp>

namespace gpusync {

/// What one participant holds in its hand: made by basic_rmw_object::join(), used by that participant alone. Functions
/// take it by reference, for it cannot be copied: two copies would announce under the same numbers.
///
/// How a call goes. The object's state is a record that the last decided round took; a record also holds, for each
/// participant, the number of its last applied announcement and the answer to it. A participant that has won the last
/// round that it knows of tries once, without announcing anything, to have the next one too. Otherwise it announces its
/// operation; then, in each pass, it reads the decided state, which may already hold its answer, applies all announced
/// operations to a copy, and proposes the copy to the next round. Whoever wins, all that it saw announced is done: that
/// bounds the passes, and it is why a round may serve many. All words carry tags, so a record that is overwritten while
/// it is read is noticed.
template <class State, uint32_t N, class Consensus, class Operation, class Machine>
class rmw_participant : public detail::passed_by_reference<rmw_participant<State, N, Consensus, Operation, Machine>> {
  using layout = rmw::layout<State, N, Consensus, Operation>;
  using wire = rmw::wire<Operation>;
  using head = typename Consensus::head;
  static constexpr uint32_t lanes = Machine::lanes;
  static constexpr uint32_t slots = (N + lanes - 1) / lanes;  ///< participants that a lane looks after
  static constexpr uint32_t state_words = layout::state_words;
  static constexpr bool ordered = Consensus::order == rmw::publication::ordered;
  static constexpr memory_order sees = ordered ? memory_order::acquire : memory_order::relaxed;
  static constexpr memory_order publishes = ordered ? memory_order::release : memory_order::relaxed;

 public:
  /// Use basic_rmw_object::join() instead.
  GPUSYNC_API rmw_participant(Machine machine, uint64_t* words, uint32_t self)
      : machine_(machine), words_(machine.hold(words)), self_(self) {
    resume();
  }

  /// Replaces the state x by operation(x) and returns x: one indivisible step among those of all participants. All
  /// lanes of the participant call together, with the same operation, and get the same answer.
  ///
  /// Preconditions: `operation` is a pure function of x, defined for every x. Others may apply it too, more than once,
  /// and to states that it is not applied to in the end.
  /// Synchronizes: as the policy's publication says.
  /// Progress: wait-free. It ends after at most basic_rmw_object::max_passes passes and max_steps accesses to memory,
  ///   whatever the other participants do, crash or have done. If this participant stops in the middle for ever, the
  ///   operation takes place once or never.
  GPUSYNC_API State apply(const Operation& operation) {
    if constexpr (ordered) machine_.meet();
    const State answer = apply_alone(operation);
    if constexpr (ordered) machine_.meet();
    return answer;
  }

  // The named operations of CUDA, for objects whose Operation is rmw::named_operation; rmw::operation_kind defines
  // them.

  /// Adds `value`; the answer is the state before.
  GPUSYNC_API State add(State value) { return apply(Operation::make(rmw::operation_kind::add, value)); }
  /// Subtracts `value`; the answer is the state before.
  GPUSYNC_API State subtract(State value) { return apply(Operation::make(rmw::operation_kind::subtract, value)); }
  /// Puts `value` in the state's place; the answer is the state before.
  GPUSYNC_API State exchange(State value) { return apply(Operation::make(rmw::operation_kind::exchange, value)); }
  /// Keeps the lesser of the state and `value`; the answer is the state before.
  GPUSYNC_API State minimum(State value) { return apply(Operation::make(rmw::operation_kind::minimum, value)); }
  /// Keeps the greater of the state and `value`; the answer is the state before.
  GPUSYNC_API State maximum(State value) { return apply(Operation::make(rmw::operation_kind::maximum, value)); }
  /// Adds 1, or goes to 0 from `limit` on; the answer is the state before.
  GPUSYNC_API State increment(State limit) { return apply(Operation::make(rmw::operation_kind::increment, limit)); }
  /// Subtracts 1, or goes to `limit` from 0 and from above it; the answer is the state before.
  GPUSYNC_API State decrement(State limit) { return apply(Operation::make(rmw::operation_kind::decrement, limit)); }
  /// Puts `desired` in the state's place if that has the bits of `expected`; the answer is the state before.
  GPUSYNC_API State compare_exchange(State expected, State desired) {
    return apply(Operation::make(rmw::operation_kind::compare_exchange, desired, expected));
  }

  /// Its number in the object.
  GPUSYNC_API uint32_t number() const { return self_; }
  /// The last round that this participant knows of.
  GPUSYNC_API const typename Consensus::head& known() const { return head_; }
  /// Where it runs.
  GPUSYNC_API const Machine& machine() const { return machine_; }

  /// Shows a machine's milestone() all that the participant's next steps depend on.
  template <class Visitor>
  GPUSYNC_HD void visit(Visitor& put) const {
    put(last_number_);
    put(buffer_);
    put(stamp_);
    put(current_);
    head_.visit(put);
    for (uint32_t i = 0; current_ && i < state_words; ++i) put(state_[i]);
    for (uint32_t s = 0; current_ && s < slots; ++s) {
      put(numbers_[s]);
      put(news_[s]);
      for (uint32_t i = 0; i < state_words; ++i) put(answers_[i][s]);
    }
  }

 private:
  /// Rows of announcements as they were read, of those that the lane looks after.
  struct fetched_announcements {
    uint64_t words[wire::words][slots];
  };
  /// What a lane has read of the announcements of those that it looks after.
  struct announcements {
    bool pending[slots];
    uint32_t tag[slots];  ///< number * 2^8 + code
    uint32_t operand[wire::words][slots];
  };

  /// The participant that the lane looks after in a slot; there may be none of that number.
  GPUSYNC_API uint32_t at(uint32_t slot) const { return slot * lanes + machine_.lane(); }
  GPUSYNC_HD static constexpr uint32_t number_of(uint32_t tag) { return tag >> 8; }
  GPUSYNC_HD static constexpr uint32_t code_of(uint32_t tag) { return tag & 0xff; }

  /// Finds out how far a participant of this number has come, be it in an earlier launch, crashed or not.
  GPUSYNC_API void resume() {
    if constexpr (Consensus::uses_cells) Consensus::template take_place<N>(machine_, words_, self_);
    // A crash in the middle of an announcement leaves its first row, which is written first, with the newest number.
    last_number_ = number_of(rmw::tag_of(machine_.template load_one<sees>(words_ + layout::announcement(0, self_))));
    head_ = Consensus::template latest<N>(machine_, words_);
    buffer_ = Consensus::free_buffer(machine_, words_, self_, head_);
    stamp_ = head_.stamp();
    if constexpr (Consensus::stamps_skip) find_last_stamp();
    State ignored;
    bool whole = false;
    fetched_announcements unread;
    (void)read_record(ignored, whole, unread);
    current_ = whole && head_.decided();
    if (current_) look();
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
        const uint32_t stamp = rmw::tag_of(word);
        if (rmw::at_or_after(stamp, head_.stamp()) && stamp - head_.stamp() > ahead) ahead = stamp - head_.stamp();
      }
    }
    stamp_ += static_cast<uint32_t>(machine_.most(ahead));
  }

  /// apply() but for what other lanes do around it.
  GPUSYNC_API State apply_alone(const Operation& operation) {
    machine_.milestone(0, *this);
    State answer{};
    if constexpr (Consensus::tells_losers) {
      if (current_ && try_unannounced(operation, answer)) return answer;
      announce(operation);
      machine_.fence();
    } else {
      // Who proposes may not learn whether it has won, so it must be able to find its answer: no attempt without an
      // announcement. But one may be made at once, and the fence in it serves both.
      announce(operation);
      if (current_) {
        if (try_announced(operation, answer)) return answer;
        return help_until_done(operation);
      }
      machine_.fence();
    }
    if constexpr (Consensus::spin_limit != 0) {
      if (wait_for_response(answer)) {
        current_ = false;
        return answer;
      }
    }
    head_ = Consensus::template latest<N>(machine_, words_);
    return help_until_done(operation);
  }

  /// One attempt to have the next round, from the state that this participant made and still holds. Nothing tells the
  /// others of it before it has succeeded.
  GPUSYNC_API bool try_unannounced(const Operation& operation, State& answer) {
    answer = rmw::joined<State>(state_);
    announcements all;
    const bool others = has_news();
    if (others) read_announcements(all);
    uint32_t state[state_words];
    rmw::split(operation(answer), state);
    if (others) apply_announced(all, state);
    return install(state, others);
  }

  /// The same for an operation that has been announced.
  GPUSYNC_API bool try_announced(const Operation& operation, State& answer) {
    if (has_news()) {
      announcements all;
      read_announcements(all);
      include_own(operation, all);
      apply_announced(all, state_);
      answer = own_answer();
    } else {
      answer = rmw::joined<State>(state_);
      GPUSYNC_UNROLLED
      for (uint32_t slot = 0; slot < slots; ++slot) {
        if (at(slot) == self_) note(slot, last_number_ << 8, state_);
      }
      rmw::split(operation(answer), state_);
    }
    return install(state_, true);
  }

  /// Whether somebody had announced something that was not done when this participant last won.
  GPUSYNC_API bool has_news() const {
    bool news = false;
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      news = news || (is_other(slot) && rmw::announced_after(number_of(news_[slot]), number_at(slot)));
    }
    return machine_.any(news);
  }

  /// Tells the others of an operation, so that it is done even if this participant never wins a round. Whoever decides
  /// a round after the next one that this participant sees behind a fence has seen the announcement: that is the bound.
  GPUSYNC_API void announce(const Operation& operation) {
    last_number_ = (last_number_ + 1) & rmw::number_mask;
    uint32_t operand[wire::words];
    wire::put(operation, operand);
    const uint32_t tag = last_number_ << 8 | wire::code(operation);
    const uint32_t rows = wire::words_with(code_of(tag));
    if constexpr (Consensus::spin_limit != 0) {
      // Numbers come back after 2^24 announcements; responses must not lie about so long.
      if ((last_number_ & 0xffff) == 0 && machine_.lane() == 0) {
        machine_.template store<publishes>(words_ + layout::response(0, self_), rmw::tagged(0, ~uint32_t{0}));
      }
    }
    GPUSYNC_UNROLLED
    for (uint32_t row = 0; row < wire::words; ++row) {
      if (row < rows && machine_.lane() == 0) {
        machine_.template store<publishes>(words_ + layout::announcement(row, self_), rmw::tagged(operand[row], tag));
      }
    }
  }

  /// Precondition: the operation has been announced, and `head_` was read behind the fence that followed.
  GPUSYNC_API State help_until_done(const Operation& operation) {
    State answer{};
    current_ = false;
    for (uint32_t pass = 1;; ++pass) {
      machine_.milestone(pass, *this);
      bool whole = false;
      fetched_announcements fetched;
      const bool done = read_record(answer, whole, fetched);
      whole = whole && head_.decided();
      if constexpr (!Consensus::tells_losers) {
        // Its next call announces itself in any case, so an attempt from this state costs it little, even if that is
        // old by then.
        current_ = done && whole;
        if (current_) look();
      }
      if (done) return answer;
      if (whole) {
        announcements all;
        open_announcements(fetched, all);
        include_own(operation, all);
        apply_announced(all, state_);
        const bool won = install(state_, true);
        if (won) return own_answer();
      } else {
        // Overwritten, so a later round has been decided; or on its way still.
        head_ = Consensus::template latest<N>(machine_, words_);
      }
    }
  }

  /// Looks a few times whether a winner has answered already.
  GPUSYNC_API bool wait_for_response(State& answer) {
    for (uint32_t polls = 0; polls < Consensus::spin_limit; ++polls) {
      uint32_t words[state_words];
      bool there = true;
      GPUSYNC_UNROLLED
      for (uint32_t i = 0; i < state_words; ++i) {
        const uint64_t word = machine_.template load_one<sees>(words_ + layout::response(i, self_));
        there = there && rmw::tag_of(word) == last_number_;
        words[i] = rmw::payload_of(word);
      }
      if (there) {
        answer = rmw::joined<State>(words);
        return true;
      }
    }
    return false;
  }

  /// Reads the record that `head_` names into state_, numbers_ and answers_. Returns whether it answers this
  /// participant's last announcement; if it does not, `whole` says whether all of it is the record of that round. On
  /// the way, in the same round trip, it fetches the announcements into `fetched`.
  GPUSYNC_API bool read_record(State& answer, bool& whole, fetched_announcements& fetched) {
    const uint64_t* record = words_ + layout::record(head_.winner(), head_.buffer());
    uint64_t numbers[slots];
    uint64_t answers[state_words][slots];
    uint64_t state[state_words];
    // The numbers first: see write_record().
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      numbers[slot] = at(slot) < N ? machine_.template load<sees>(record + layout::numbers + at(slot)) : 0;
    }
    GPUSYNC_UNROLLED
    for (uint32_t i = 0; i < state_words; ++i) {
      GPUSYNC_UNROLLED
      for (uint32_t slot = 0; slot < slots; ++slot) {
        answers[i][slot] = at(slot) < N ? machine_.template load<sees>(record + layout::answers + i * N + at(slot)) : 0;
      }
    }
    if constexpr (!Consensus::carries_state) {
      GPUSYNC_UNROLLED
      for (uint32_t i = 0; i < state_words; ++i) state[i] = machine_.template load<sees>(record + i);
    }
    fetch_announcements(fetched);

    const uint32_t stamp = head_.stamp();
    bool mine = false;
    whole = true;
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (at(slot) >= N) continue;
      const uint32_t written = rmw::tag_of(numbers[slot]);
      const uint32_t payload = rmw::payload_of(numbers[slot]);
      whole = whole && written == stamp;
      numbers_[slot] = payload & rmw::number_mask;
      bool answered = at(slot) == self_ && number_at(slot) == last_number_ && answers_now(payload, written);
      GPUSYNC_UNROLLED
      for (uint32_t i = 0; i < state_words; ++i) {
        const uint32_t tag = rmw::tag_of(answers[i][slot]);
        whole = whole && tag == stamp;
        answered = answered && rmw::at_or_after(tag, written);
        answers_[i][slot] = rmw::payload_of(answers[i][slot]);
      }
      mine = mine || answered;
    }
    if constexpr (Consensus::carries_state) {
      head_.state(state_);
    } else {
      GPUSYNC_UNROLLED
      for (uint32_t i = 0; i < state_words; ++i) {
        whole = whole && rmw::tag_of(state[i]) == stamp;
        state_[i] = rmw::payload_of(state[i]);
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
    if (!applied_here) return rmw::at_or_after(written, head_.stamp());
    return written == head_.stamp() && head_.decided();
  }

  GPUSYNC_API uint32_t number_at(uint32_t slot) const { return numbers_[slot] & rmw::number_mask; }

  /// The rows that all announcements have.
  GPUSYNC_API void fetch_announcements(fetched_announcements& fetched) const {
    GPUSYNC_UNROLLED
    for (uint32_t row = 0; row < wire::common_words; ++row) {
      GPUSYNC_UNROLLED
      for (uint32_t slot = 0; slot < slots; ++slot) {
        fetched.words[row][slot] = is_other(slot) ? load_announcement(row, at(slot)) : 0;
      }
    }
  }

  GPUSYNC_API void read_announcements(announcements& all) const {
    fetched_announcements fetched;
    fetch_announcements(fetched);
    open_announcements(fetched, all);
  }

  /// Of the announcements that are newer than numbers_ all that are complete.
  GPUSYNC_API void open_announcements(fetched_announcements& fetched, announcements& all) const {
    auto& words = fetched.words;
    bool longer = false;
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      all.tag[slot] = rmw::tag_of(words[0][slot]);
      all.pending[slot] = is_other(slot) && rmw::announced_after(number_of(all.tag[slot]), number_at(slot));
      longer = longer || (all.pending[slot] && wire::words_with(code_of(all.tag[slot])) > wire::common_words);
    }
    if constexpr (wire::words > wire::common_words) {
      longer = machine_.any(longer);
      GPUSYNC_UNROLLED
      for (uint32_t row = wire::common_words; row < wire::words; ++row) {
        GPUSYNC_UNROLLED
        for (uint32_t slot = 0; slot < slots; ++slot) {
          const bool read = longer && all.pending[slot] && row < wire::words_with(code_of(all.tag[slot]));
          words[row][slot] = read ? load_announcement(row, at(slot)) : words[0][slot];
        }
      }
    }
    // Rows of different numbers: the announcement is being written, and its author needs no help yet; or it was
    // overwritten, so the earlier one has been applied by a round that this participant does not know of.
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      GPUSYNC_UNROLLED
      for (uint32_t row = 0; row < wire::words; ++row) {
        all.operand[row][slot] = rmw::payload_of(words[row][slot]);
        all.pending[slot] = all.pending[slot] && rmw::tag_of(words[row][slot]) == all.tag[slot];
      }
    }
  }

  GPUSYNC_API bool is_other(uint32_t slot) const { return at(slot) < N && at(slot) != self_; }
  GPUSYNC_API uint64_t load_announcement(uint32_t row, uint32_t participant) const {
    return machine_.template load<sees>(words_ + layout::announcement(row, participant));
  }

  /// Adds this participant's own announcement to those of the others.
  GPUSYNC_API void include_own(const Operation& operation, announcements& all) const {
    const uint32_t tag = last_number_ << 8 | wire::code(operation);
    uint32_t operand[wire::words];
    wire::put(operation, operand);
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (at(slot) != self_) continue;
      all.pending[slot] = true;
      all.tag[slot] = tag;
      GPUSYNC_UNROLLED
      for (uint32_t row = 0; row < wire::words; ++row) all.operand[row][slot] = operand[row];
    }
  }

  /// Applies the pending operations to `state`, one after the other, and notes answers and numbers.
  GPUSYNC_API void apply_announced(const announcements& all, uint32_t (&state)[state_words]) {
    if constexpr (lanes > 1 && wire::has_sums) {
      bool sums = true;
      GPUSYNC_UNROLLED
      for (uint32_t slot = 0; slot < slots; ++slot) {
        sums = sums && (!all.pending[slot] || wire::is_sum(code_of(all.tag[slot])));
      }
      if (machine_.all(sums)) {
        add_announced(all, state);
        return;
      }
    }
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      for (uint32_t left = machine_.ballot(all.pending[slot]); left != 0; left &= left - 1) {
        const uint32_t lane = rmw::lowest_bit(left);
        uint32_t operand[wire::words];
        GPUSYNC_UNROLLED
        for (uint32_t row = 0; row < wire::words; ++row) {
          operand[row] = machine_.broadcast(all.operand[row][slot], lane);
        }
        const Operation operation = wire::get(code_of(machine_.broadcast(all.tag[slot], lane)), operand);
        if (lane == machine_.lane()) note(slot, all.tag[slot], state);
        rmw::split(operation(rmw::joined<State>(state)), state);
      }
    }
  }

  /// The same if all pending operations are additions: a lane's own one after the other, and those of the lanes in the
  /// time of a few.
  GPUSYNC_API void add_announced(const announcements& all, uint32_t (&state)[state_words]) {
    using sum = typename wire::sum;
    sum amount[slots];
    sum own{};
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      uint32_t operand[wire::words];
      GPUSYNC_UNROLLED
      for (uint32_t row = 0; row < wire::words; ++row) operand[row] = all.operand[row][slot];
      amount[slot] = all.pending[slot] ? wire::amount(code_of(all.tag[slot]), operand) : sum{};
      own = static_cast<sum>(own + amount[slot]);
    }
    const sum old = static_cast<sum>(rmw::joined<State>(state));
    sum total{};
    sum before = static_cast<sum>(old + machine_.template sum_before<(N < lanes ? N : lanes)>(own, total));
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      uint32_t answer[state_words];
      rmw::split(static_cast<State>(before), answer);
      if (all.pending[slot]) note(slot, all.tag[slot], answer);
      before = static_cast<sum>(before + amount[slot]);
    }
    rmw::split(static_cast<State>(static_cast<sum>(old + total)), state);
  }

  /// The announcement of this tag has been applied to `state`.
  GPUSYNC_API void note(uint32_t slot, uint32_t tag, const uint32_t (&state)[state_words]) {
    numbers_[slot] = number_of(tag) | layout::fresh;
    GPUSYNC_UNROLLED
    for (uint32_t i = 0; i < state_words; ++i) answers_[i][slot] = state[i];
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
      wanted = Consensus::next(head_, self_, buffer_, stamp_, state);
      stamp_ = wanted.stamp();
      write_record(state, wanted.stamp());
      // The other record is next whether this one wins or not: a reader may be on its way to it.
      buffer_ = 1 - buffer_;
    }
    current_ = Consensus::template propose<N>(machine_, words_, self_, head_, wanted);
    if (!current_) return false;
    GPUSYNC_UNROLLED
    for (uint32_t i = 0; i < state_words; ++i) state_[i] = state[i];
    if constexpr (Consensus::spin_limit != 0) deliver();
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) numbers_[slot] = number_at(slot);
    look();
    return true;
  }

  /// The numbers last: whoever reads a number first, and then the answer to it, finds one that is no older.
  GPUSYNC_API void write_record(const uint32_t (&state)[state_words], uint32_t stamp) const {
    uint64_t* record = words_ + layout::record(self_, buffer_);
    GPUSYNC_UNROLLED
    for (uint32_t i = 0; i < state_words; ++i) {
      GPUSYNC_UNROLLED
      for (uint32_t slot = 0; slot < slots; ++slot) {
        if (at(slot) >= N) continue;
        machine_.template store<publishes>(record + layout::answers + i * N + at(slot),
                                           rmw::tagged(answers_[i][slot], stamp));
      }
    }
    if constexpr (!Consensus::carries_state) {
      GPUSYNC_UNROLLED
      for (uint32_t i = 0; i < state_words; ++i) {
        if (machine_.lane() == i % lanes) machine_.template store<publishes>(record + i, rmw::tagged(state[i], stamp));
      }
    }
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (at(slot) >= N) continue;
      machine_.template store<publishes>(record + layout::numbers + at(slot), rmw::tagged(numbers_[slot], stamp));
    }
  }

  /// Tells those whose operations this round has applied. A response that comes late is a response of an old number.
  GPUSYNC_API void deliver() const {
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (!is_other(slot) || (numbers_[slot] & layout::fresh) == 0) continue;
      GPUSYNC_UNROLLED
      for (uint32_t i = 0; i < state_words; ++i) {
        machine_.template store<publishes>(words_ + layout::response(i, at(slot)),
                                           rmw::tagged(answers_[i][slot], number_at(slot)));
      }
    }
  }

  /// Looks, after a win, at who has announced something: the next round must not pass them by. What comes is used in
  /// the next call, so that nobody waits for it.
  GPUSYNC_API void look() {
    GPUSYNC_UNROLLED
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (is_other(slot)) news_[slot] = rmw::tag_of(load_announcement(0, at(slot)));
    }
  }

  /// This participant's own entry of answers_.
  GPUSYNC_API State own_answer() const {
    uint32_t words[state_words];
    GPUSYNC_UNROLLED
    for (uint32_t i = 0; i < state_words; ++i) {
      uint32_t word = 0;
      GPUSYNC_UNROLLED
      for (uint32_t slot = 0; slot < slots; ++slot) word = at(slot) == self_ ? answers_[i][slot] : word;
      words[i] = machine_.broadcast(word, self_ % lanes);
    }
    return rmw::joined<State>(words);
  }

  Machine machine_;
  uint64_t* words_;
  uint32_t self_;
  uint32_t last_number_ = 0;  ///< of this participant's announcements
  uint32_t buffer_ = 0;       ///< which of its records is next
  uint32_t stamp_ = 0;        ///< of its last proposal
  bool current_ = false;      ///< the next three members hold what the round of head_ has decided
  head head_{};
  uint32_t state_[state_words] = {};
  uint32_t numbers_[slots] = {};
  uint32_t answers_[state_words][slots] = {};
  uint32_t news_[slots] = {};  ///< tags of announcements, read after that round was decided
};

}  // namespace gpusync
