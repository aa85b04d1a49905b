// What a wait-free object is written in: the machine on which one participant runs.
#pragma once

#include <gpusync/core/config.hpp>
#include <gpusync/core/ordering.hpp>

namespace gpusync::rmw {

/// Where the words of an object lie.
enum class space {
  global,  ///< device memory, for participants anywhere in a grid
  shared,  ///< the shared memory of a block, for its warps
};

/// What load_wide() and compare_exchange_wide() take.
using wide = wide_word;

/// @page Machine
/// How one participant of a wait-free object reaches memory, and how its lanes, the threads that act together for it,
/// reach each other. All lanes call each function together. Every access to memory goes through these functions, so a
/// test's machine can count them, or stop for ever at one.
/// - `lanes`, `lane()`: how many there are (1 to 32), and which one is calling
/// - `load<Order>(address)`: the word, of 32 or 64 bits, at the lane's own address
/// - `load_one<Order>(address)`: the word at an address that all lanes share: the same value for all of them
/// - `store<Order>(address, word)`: of the lane's own word
/// - `compare_exchange<Order>(address, expected, desired)`: once for all lanes; returns what stood there before
/// - `load_wide<Order>(address)`, `compare_exchange_wide<Order>(address, expected, desired)`: both for 128 bits
/// - `assign(count, address_of, word_of)`: words 0 to count - 1, each to its address, all at once: the masked store
/// - `load_cell<Order>(address)`: a word that assign() writes; these have 32 or 64 bits
/// - `imitates_masked_store`, `where`: whether assign() is one by other means than the hardware's; its memory
/// - `fence()`: a sequentially consistent fence
/// - `sync_lanes()`: orders the lanes' accesses before it with those behind it, for publication::ordered
/// - `any(b)`, `all(b)`, `ballot(b)`: votes of the lanes; the ballot's bit l is lane l's
/// - `merge(bits)`, `most(word)`: union and maximum over the lanes
/// - `broadcast(word, lane)`: 32 bits of that lane
/// - `sum_before<Used>(amount, total)`: the sum over the lanes before this one; `total` over all; only the first `Used`
///   of them have anything to add
/// - `hold(words)`: `words`, for a participant to keep
/// - `refuse(participant, count)`: for a number of a participant that the object does not have; does not return
/// - `place()`, `refuse_place()`: where it runs, never 0, and what to do if another one runs there too, which does not
///   return; only for evidence that asks for it (rmw/litmus.hpp)
/// - `rounds_exhausted(rounds)`: for an object that has no more rounds; does not return
/// - `milestone(pass, participant)`: says that everything that the participant does from here on follows from its
///   operation and from what participant.visit() shows. Only the schedule explorer listens: it may forget how the
///   participant came here.

/// The part that a machine of one lane has for nothing. Fulfils @ref Machine in what is about lanes.
struct single_lane {
  static constexpr uint32_t lanes = 1;

  GPUSYNC_HD uint32_t lane() const { return 0; }
  GPUSYNC_HD void sync_lanes() const {}
  GPUSYNC_HD bool any(bool value) const { return value; }
  GPUSYNC_HD bool all(bool value) const { return value; }
  GPUSYNC_HD uint32_t ballot(bool value) const { return value ? 1 : 0; }
  GPUSYNC_HD uint32_t merge(uint32_t bits) const { return bits; }
  GPUSYNC_HD uint64_t most(uint64_t word) const { return word; }
  GPUSYNC_HD uint32_t broadcast(uint32_t word, uint32_t) const { return word; }
  GPUSYNC_HD uint64_t* hold(uint64_t* words) const { return words; }
  template <uint32_t Used, class T>
  GPUSYNC_HD T sum_before(T amount, T& total) const {
    total = amount;
    return T{};
  }
  template <class Participant>
  GPUSYNC_HD void milestone(uint32_t, const Participant&) const {}
};

}  // namespace gpusync::rmw
