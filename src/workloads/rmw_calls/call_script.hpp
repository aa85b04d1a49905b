// What a participant calls, and what the answers must be.
#pragma once

#include <gpusync/rmw/operations.hpp>
#include <gpusync/rmw/words.hpp>

namespace gpusync::tool {

/// What one participant has seen, in numbers that can be added up over all of them.
struct call_tally {
  uint64_t answers = 0;    ///< sum of the fingerprints of the answers; of compare_exchange, of those that took place
  uint64_t successes = 0;  ///< of compare_exchange
  uint64_t disorder = 0;   ///< answers that cannot follow the participant's answers before

  GPUSYNC_HD void add(const call_tally& other) {
    answers += other.answers;
    successes += other.successes;
    disorder += other.disorder;
  }
};

/// A number's part in a sum that tells sets of numbers apart; two instructions of a GPU.
GPUSYNC_HD constexpr uint64_t fingerprint(uint32_t number) {
  return uint64_t{number} * (number ^ 0x9e3779b1u);
}

/// The calls of one participant, with operation `kind` on a state of type T. All calls of all participants together can
/// be checked from their tallies and the last state, as check_calls() does:
/// - ADD, SUB, INC and DEC count by ones, so the answers are so many numbers in a row, each once, and a participant's
///   own go one way;
/// - EXCH hands in numbers that are all different: each comes out once, as an answer or in the end;
/// - MAX and MIN hand in numbers that are all different, a participant's own going one way: each answer is not short of
///   the participant's last number, nor of its last answer, and the extreme is what remains;
/// - CAS counts by ones where nobody came in between: the answers of those that took place are so many numbers in a
/// row. Numbers stay below 2^24, which a float holds exactly. What goes down is checked as if it went up, and there are
/// no branches: this runs between two calls that are timed.
template <class T>
class call_script {
 public:
  GPUSYNC_HD call_script(rmw::operation_kind kind, uint32_t self, uint32_t participants, uint32_t calls)
      : kind_(kind), all_(participants * calls), top_(first_state(kind, all_)) {
    using rmw::operation_kind;
    const bool extreme = kind == operation_kind::maximum || kind == operation_kind::minimum;
    if (kind == operation_kind::exchange || extreme) {
      first_operand_ = 1 + self;
      operand_step_ = participants;
    } else if (kind == operation_kind::increment || kind == operation_kind::decrement) {
      first_operand_ = all_ + 1;
    }
    counts_ = !extreme && kind != operation_kind::exchange && kind != operation_kind::compare_exchange;
  }

  /// The state at the start, for so many calls in all.
  GPUSYNC_HD static constexpr uint32_t first_state(rmw::operation_kind kind, uint32_t all) {
    return kind == rmw::operation_kind::minimum ? all + 1 : goes_down(kind) ? all : 0;
  }

  /// Call `i`.
  GPUSYNC_HD rmw::named_operation<T> operation(uint32_t i) {
    const bool swaps = kind_ == rmw::operation_kind::compare_exchange;
    operand_ = first_operand_ + operand_step_ * i + (swaps ? last_ : 0);
    const uint32_t operand = kind_ == rmw::operation_kind::minimum ? top_ - operand_ : operand_;
    return rmw::named_operation<T>::make(kind_, static_cast<T>(operand), swaps ? static_cast<T>(last_) : T{});
  }

  /// Takes the answer to that call.
  GPUSYNC_HD void note(T answer) {
    using rmw::operation_kind;
    const auto given = static_cast<uint32_t>(answer);
    const uint32_t number = goes_down(kind_) ? top_ - given : given;
    const bool took_place = kind_ != operation_kind::compare_exchange || number == last_;
    const bool extreme = kind_ == operation_kind::maximum || kind_ == operation_kind::minimum;
    if (kind_ != operation_kind::exchange) {
      tally_.disorder += number < last_ || number > all_ - (counts_ ? 1 : 0) ? 1 : 0;
    }
    if (!extreme) tally_.answers += took_place ? fingerprint(number) : 0;
    if (kind_ == operation_kind::compare_exchange) tally_.successes += took_place ? 1 : 0;
    last_ = extreme && number < operand_ ? operand_ : number + (!extreme && took_place ? 1 : 0);
  }

  GPUSYNC_HD const call_tally& tally() const { return tally_; }

 private:
  GPUSYNC_HD static constexpr bool goes_down(rmw::operation_kind kind) {
    return kind == rmw::operation_kind::subtract || kind == rmw::operation_kind::decrement ||
           kind == rmw::operation_kind::minimum;
  }

  rmw::operation_kind kind_;
  uint32_t all_, top_;
  uint32_t first_operand_ = 1, operand_step_ = 0;
  bool counts_;
  uint32_t last_ = 0;  // the least that the next answer can be
  uint32_t operand_ = 0;
  call_tally tally_;
};

/// How many of `all` answers are wrong, as far as the tallies of all participants together and the last state can tell:
/// 0 if everything is right, and at least 1 otherwise.
inline uint64_t check_calls(rmw::operation_kind kind, uint32_t all, const call_tally& sum, uint32_t last_state) {
  using rmw::operation_kind;
  const auto prints = [](uint32_t first, uint32_t count) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; ++i) total += fingerprint(first + i);
    return total;
  };
  bool right = true;
  switch (kind) {
    case operation_kind::add:
    case operation_kind::increment: right = last_state == all && sum.answers == prints(0, all); break;
    case operation_kind::subtract:
    case operation_kind::decrement: right = last_state == 0 && sum.answers == prints(0, all); break;
    case operation_kind::exchange: right = sum.answers + fingerprint(last_state) == prints(0, all + 1); break;
    case operation_kind::maximum: right = last_state == all; break;
    case operation_kind::minimum: right = last_state == 1; break;
    case operation_kind::compare_exchange: {
      const auto done = static_cast<uint32_t>(sum.successes);
      right = done <= all && last_state == done && sum.answers == prints(0, done) && (all == 0 || done > 0);
      break;
    }
  }
  return sum.disorder + (right ? 0 : 1);
}

}  // namespace gpusync::tool
