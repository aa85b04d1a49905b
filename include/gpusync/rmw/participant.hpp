// What a participant of a wait-free object does: the algorithm.
#pragma once

#include <gpusync/core/handle.hpp>
#include <gpusync/rmw/recording.hpp>

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
class rmw_participant : public detail::passed_by_reference<rmw_participant<State, N, Consensus, Operation, Machine>>,
                        private rmw::detail::recording<State, N, Consensus, Operation, Machine> {
  using parts = rmw::detail::recording<State, N, Consensus, Operation, Machine>;
  using part = rmw::detail::own_part<State, N, Consensus, Operation, Machine>;
  using part::buffer_;
  using part::current_;
  using part::head_;
  using part::last_number_;
  using part::machine_;
  using part::ordered;
  using part::sees;
  using part::self_;
  using part::slots;
  using part::stamp_;
  using part::state_;
  using part::state_words;
  using part::words_;
  using typename part::layout;
  using typename parts::announcements;
  using typename parts::fetched_announcements;

 public:
  /// Use basic_rmw_object::join() instead.
  GPUSYNC_API rmw_participant(Machine machine, uint64_t* words, uint32_t self) : parts(machine, words, self) {
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
    if (ordered) machine_.sync_lanes();
    const State answer = apply_alone(operation);
    if (ordered) machine_.sync_lanes();
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
  using part::visit;

 private:
  /// Finds out how far a participant of this number has come, be it in an earlier launch, crashed or not.
  GPUSYNC_API void resume() {
    Consensus::template take_place<N>(machine_, words_, self_);
    // A crash in the middle of an announcement leaves its first row, which is written first, with the newest number.
    last_number_ =
        this->number_of(rmw::detail::tag_of(machine_.template load_one<sees>(words_ + layout::announcement(0, self_))));
    head_ = Consensus::template latest<N>(machine_, words_);
    buffer_ = Consensus::free_buffer(machine_, words_, self_, head_);
    stamp_ = head_.stamp();
    if (Consensus::stamps_skip) this->find_last_stamp();
    State ignored;
    bool whole = false;
    fetched_announcements unread;
    (void)this->read_record(ignored, whole, unread);
    current_ = whole && head_.decided();
    if (current_) this->look();
  }

  /// apply() but for what other lanes do around it.
  GPUSYNC_API State apply_alone(const Operation& operation) {
    machine_.milestone(0, *this);
    State answer{};
    if (Consensus::tells_losers) {
      if (current_ && try_unannounced(operation, answer)) return answer;
      this->announce(operation);
      machine_.fence();
    } else {
      // Who proposes may not learn whether it has won, so it must be able to find its answer: no attempt without an
      // announcement. But one may be made at once, and the fence in it serves both.
      this->announce(operation);
      if (current_) {
        if (try_announced(operation, answer)) return answer;
        return help_until_done(operation);
      }
      machine_.fence();
    }
    if (this->wait_for_response(answer)) {
      current_ = false;
      return answer;
    }
    head_ = Consensus::template latest<N>(machine_, words_);
    return help_until_done(operation);
  }

  /// One attempt to have the next round, from the state that this participant made and still holds. Nothing tells the
  /// others of it before it has succeeded.
  GPUSYNC_API bool try_unannounced(const Operation& operation, State& answer) {
    answer = rmw::joined<State>(state_);
    announcements all;
    const bool others = this->has_news();
    if (others) this->read_announcements(all);
    uint32_t state[state_words];
    rmw::split(operation(answer), state);
    if (others) this->apply_announced(all, state);
    return this->install(state, others);
  }

  /// The same for an operation that has been announced.
  GPUSYNC_API bool try_announced(const Operation& operation, State& answer) {
    if (this->has_news()) {
      announcements all;
      this->read_announcements(all);
      this->include_own(operation, all);
      this->apply_announced(all, state_);
      answer = this->own_answer();
    } else {
      answer = rmw::joined<State>(state_);
      GPUSYNC_UNROLL()
      for (uint32_t slot = 0; slot < slots; ++slot) {
        if (this->at(slot) == self_) this->note(slot, last_number_ << 8, state_);
      }
      rmw::split(operation(answer), state_);
    }
    return this->install(state_, true);
  }

  /// Precondition: the operation has been announced, and `head_` was read behind the fence that followed.
  GPUSYNC_API State help_until_done(const Operation& operation) {
    State answer{};
    current_ = false;
    for (uint32_t pass = 1;; ++pass) {
      machine_.milestone(pass, *this);
      bool whole = false;
      fetched_announcements fetched;
      const bool done = this->read_record(answer, whole, fetched);
      whole = whole && head_.decided();
      if (!Consensus::tells_losers) {
        // Its next call announces itself in any case, so an attempt from this state costs it little, even if that is
        // old by then.
        current_ = done && whole;
        if (current_) this->look();
      }
      if (done) return answer;
      if (whole) {
        announcements all;
        this->open_announcements(fetched, all);
        this->include_own(operation, all);
        this->apply_announced(all, state_);
        const bool won = this->install(state_, true);
        if (won) return this->own_answer();
      } else {
        // Overwritten, so a later round has been decided; or on its way still.
        head_ = Consensus::template latest<N>(machine_, words_);
      }
    }
  }
};

}  // namespace gpusync
