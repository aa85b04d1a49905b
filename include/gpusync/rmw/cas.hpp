// Consensus by compare-and-swap: one word of 64 bits says whose proposal each round has taken.
#pragma once

#include <gpusync/rmw/consensus.hpp>

namespace gpusync::rmw {

/// Consensus policy for a basic_rmw_object: the word `head` holds the number of the last decided round, the participant
/// whose proposal it took, and which of its two records that is. A round is decided by the compare-and-swap that moves
/// the head on. (Herlihy 1991: compare-and-swap has an infinite consensus number. The round numbers and the helping are
/// those of Ha, Tsigas and Anshus 2008, in the form reconstructed in docs/rmw.md.)
///
/// Preconditions: at most 32,768 participants.
/// Synchronizes: publication::tagged nothing, ordered everything (see there).
/// Progress: wait-free; see basic_rmw_object.
/// Cost: a decision is one compare-and-swap, a look at the last one a load of one word.
/// Storage: one word of 64 bits. Rounds are counted modulo 2^48, and modulo 2^32 in the records' tags: a participant
///   must not sleep through exactly a multiple of 2^32 rounds in the middle of a call.
///
/// SpinLimit: how often one who has announced an operation looks for the answer before it competes for a round. With
/// many participants spin_limit lets the last winner apply the operations of all, round after round. 0: compete at
/// once.
template <publication Order = publication::tagged, uint32_t SpinLimit = 0>
struct cas : consensus_defaults {
  static constexpr publication order = Order;
  static constexpr uint32_t spin_limit = SpinLimit;
  static constexpr uint32_t max_participants = 1u << 15;
  static constexpr const char* name = "cas";
  static constexpr uint32_t max_passes = 3;

  /// What is known of the last decided round.
  struct head {
    uint64_t bits;  ///< round * 2^16 + winner * 2 + buffer

    GPUSYNC_HD uint32_t stamp() const { return static_cast<uint32_t>(bits >> 16); }
    GPUSYNC_HD uint32_t winner() const { return static_cast<uint32_t>(bits >> 1) & 0x7fff; }
    GPUSYNC_HD uint32_t buffer() const { return static_cast<uint32_t>(bits) & 1; }
    GPUSYNC_HD static constexpr bool decided() { return true; }
    template <class Visitor>
    GPUSYNC_HD void visit(Visitor& put) const {
      put(bits);
    }
  };

  GPUSYNC_HD static constexpr uint32_t words(uint32_t) { return 1; }
  GPUSYNC_HD static constexpr uint64_t latest_steps(uint32_t) { return 1; }
  GPUSYNC_HD static constexpr uint64_t propose_steps(uint32_t) { return 1; }

  template <uint32_t N>
  GPUSYNC_HD static head settled(const uint64_t* words) {
    return {*words};
  }

  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine>
  GPUSYNC_HD static head latest(const Machine& machine, const uint64_t* words) {
    return {machine.template load_one<sees>(words)};
  }

  GPUSYNC_API_TEMPLATE
  template <class Machine>
  GPUSYNC_HD static uint32_t free_buffer(const Machine&, const uint64_t*, uint32_t self, const head& known) {
    return known.winner() == self ? 1 - known.buffer() : 0;
  }

  GPUSYNC_HD static head next(const head& known, uint32_t self, uint32_t buffer, uint32_t, const uint32_t*) {
    return {((known.bits >> 16) + 1) << 16 | self << 1 | buffer};
  }

  /// `known` is `wanted` then, and else a decided round after it.
  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine>
  GPUSYNC_HD static bool propose(const Machine& machine, uint64_t* words, uint32_t, head& known, const head& wanted) {
    const uint64_t before = machine.template compare_exchange<hands_on>(words, known.bits, wanted.bits);
    const bool taken = before == known.bits;
    known.bits = taken ? wanted.bits : before;
    return taken;
  }

 private:
  static constexpr memory_order sees = Order == publication::ordered ? memory_order::acquire : memory_order::relaxed;
  static constexpr memory_order hands_on =
      Order == publication::ordered ? memory_order::acq_rel : memory_order::relaxed;
};

}  // namespace gpusync::rmw
