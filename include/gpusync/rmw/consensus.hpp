// What a consensus policy of wait-free objects is, and what those are that say nothing else.
#pragma once

#include <gpusync/rmw/machine.hpp>
#include <gpusync/rmw/words.hpp>

namespace gpusync::rmw {

/// @page Consensus
/// What decides which proposal each round of a wait-free object takes: a struct without data, derived from
/// consensus_defaults. Besides what has a default there, it has
/// - `order`, `name`: how its words order the accesses around a call, a publication; and its name, as in results
/// - `max_participants`, `max_passes`: limits; see basic_rmw_object
/// - `words(N)`: words of 64 bits for N participants; all zero is a valid start
/// - `head`: what is known of a round, copied freely:
///   - `head::stamp()`: the tag of the words of its record
///   - `head::winner()`, `head::buffer()`: the participant whose record it took, and which of its two
///   - `head::decided()`: whether it is known to be decided, not only proposed
///   - `head::visit(put)`: gives `put` all that the head consists of, for the milestone() of a Machine
///   - `head::state(words)`: writes the object's state, as split() does; if the policy carries it
/// - `settled<N>(words)`: the head of an object that nobody uses
/// - `latest<N>(machine, words)`: the head of the last round
/// - `free_buffer(machine, words, self, known)`: the record of participant `self` that no decided state can be in,
///   which it may write when it joins
/// - `next_buffer(self, known, other)`: the record that it may write for the round after `known`, `other` being the one
///   that it did not write last
/// - `next(known, self, buffer, last, state)`: the head if the next round takes this record; `last`: the stamp that the
///   participant has last written
/// - `with_state(known, state)`: the same without a record, if the policy carries the state
/// - `propose<N>(machine, words, self, known, wanted)`: tries to make `wanted` the round after `known`: whether it did.
///   `known` is the last round then
/// - `latest_steps(N)`, `propose_steps(N)`: how many accesses to memory these make at most

/// What most policies are. Fulfils @ref Consensus with what derives from it.
struct consensus_defaults {
  /// How often one who has announced an operation looks for the answer before it competes for a round.
  static constexpr uint32_t spin_limit = 0;
  /// The state stands in the policy's words, not in the records; then there is start_word().
  static constexpr bool carries_state = false;
  /// Its words are written with masked stores, and not accessed with atomics.
  static constexpr bool uses_cells = false;
  /// Who proposes learns whether its proposal was taken.
  static constexpr bool tells_losers = true;
  /// The compute capability that it needs of a CUDA device, as 90 for 9.0; 0: any.
  static constexpr int compute_capability = 0;
  /// A round's stamp may be more than that of the round before it and 1.
  static constexpr bool stamps_skip = false;
  /// What its words are, if they are cells.
  using cell_type = uint64_t;
  /// What shows that it works on a device, if that is no matter of course: see litmus.hpp.
  using evidence = void;
  /// Every round has a record of its own, so those that lost are free, and the two are written in turn.
  template <class Head>
  GPUSYNC_HD static uint32_t next_buffer(uint32_t, const Head&, uint32_t other) {
    return other;
  }
  /// Before a participant joins: makes sure that it may, or does not return.
  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine>
  GPUSYNC_HD static void take_place(const Machine&, uint64_t*, uint32_t) {}
};

}  // namespace gpusync::rmw
