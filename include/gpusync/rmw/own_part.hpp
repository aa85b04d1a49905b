// What a participant of a wait-free object holds: its data, and how its lanes share the participants among them.
#pragma once

#include <gpusync/rmw/layout.hpp>
#include <gpusync/rmw/machine.hpp>
#include <gpusync/rmw/operations.hpp>
#include <gpusync/rmw/words.hpp>

namespace gpusync::rmw::detail {

/// The base of rmw_participant's parts: own_part, announcing, applying, recording.
template <class State, uint32_t N, class Consensus, class Operation, class Machine>
class own_part {
 protected:
  using layout = rmw::detail::object_layout<State, N, Consensus, Operation>;
  using wire = rmw::wire<Operation>;
  using head = typename Consensus::head;
  static constexpr uint32_t lanes = Machine::lanes;
  static constexpr uint32_t slots = (N + lanes - 1) / lanes;  ///< participants that a lane looks after
  static constexpr uint32_t state_words = layout::state_words;
  static constexpr bool ordered = Consensus::order == publication::ordered;
  static constexpr memory_order sees = ordered ? memory_order::acquire : memory_order::relaxed;
  static constexpr memory_order publishes = ordered ? memory_order::release : memory_order::relaxed;

 public:
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

 protected:
  GPUSYNC_API own_part(Machine machine, uint64_t* words, uint32_t self)
      : machine_(machine), words_(machine.hold(words)), self_(self) {}

  /// The participant that the lane looks after in a slot; there may be none of that number.
  GPUSYNC_API uint32_t at(uint32_t slot) const { return slot * lanes + machine_.lane(); }
  GPUSYNC_API bool is_other(uint32_t slot) const { return at(slot) < N && at(slot) != self_; }
  GPUSYNC_API uint32_t number_at(uint32_t slot) const { return numbers_[slot] & number_mask; }
  /// An announcement's tag: its number * 2^8 + the operation's code.
  GPUSYNC_HD static constexpr uint32_t number_of(uint32_t tag) { return tag >> 8; }
  GPUSYNC_HD static constexpr uint32_t code_of(uint32_t tag) { return tag & 0xff; }

  /// This participant's own entry of answers_.
  GPUSYNC_API State own_answer() const {
    uint32_t words[state_words];
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < state_words; ++i) {
      uint32_t word = 0;
      GPUSYNC_UNROLL()
      for (uint32_t slot = 0; slot < slots; ++slot) word = at(slot) == self_ ? answers_[i][slot] : word;
      words[i] = machine_.broadcast(word, self_ % lanes);
    }
    return joined<State>(words);
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

}  // namespace gpusync::rmw::detail
