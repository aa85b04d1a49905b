// Consensus by compare-and-swap of 128 bits: the state itself stands beside the number of the round.
#pragma once

#include <gpusync/rmw/consensus.hpp>

namespace gpusync::rmw {

/// Consensus policy for a basic_rmw_object with a state of up to 8 bytes: as rmw::cas, but the word that decides has
/// 128 bits and holds the state. A participant that is alone then makes an operation with one compare-and-swap and
/// nothing else, for however many participants the object is; only a round that answers others writes a record.
///
/// Preconditions: at most 32,768 participants; on CUDA sm_90; on the host x86-64.
/// Synchronizes: publication::tagged nothing, ordered everything (see there).
/// Progress: wait-free; see basic_rmw_object.
/// Cost: a decision is one compare-and-swap of 128 bits, a look at the last one a load of 128 bits.
/// Storage: one word of 128 bits. Records are told apart modulo 2^32, as with rmw::cas.
template <publication Order = publication::tagged, uint32_t SpinLimit = 0>
struct cas128 : consensus_defaults {
  static constexpr publication order = Order;
  static constexpr uint32_t spin_limit = SpinLimit;
  static constexpr uint32_t max_participants = 1u << 15;
  static constexpr bool carries_state = true;
  static constexpr bool stamps_skip =
      true;  ///< a record that lost to a change without one must not be taken for the next
  static constexpr const char* name = "cas128";
  static constexpr int compute_capability = 90;
  static constexpr uint32_t max_passes = 3;

  /// What is known of the last change. A change either has a record of its own or keeps that of the change before it.
  struct head {
    wide bits;  ///< low: the state; high: the record's stamp * 2^32 + changes modulo 2^16 * 2^16 + winner * 2 + buffer

    GPUSYNC_HD uint32_t stamp() const { return static_cast<uint32_t>(bits.high >> 32); }
    GPUSYNC_HD uint32_t winner() const { return static_cast<uint32_t>(bits.high >> 1) & 0x7fff; }
    GPUSYNC_HD uint32_t buffer() const { return static_cast<uint32_t>(bits.high) & 1; }
    GPUSYNC_HD static constexpr bool decided() { return true; }
    template <uint32_t StateWords>
    GPUSYNC_HD void state(uint32_t (&words)[StateWords]) const {
      static_assert(StateWords <= 2, "128 bits hold a state of up to 8 bytes: use rmw::cas for a larger one");
      words[0] = static_cast<uint32_t>(bits.low);
      if constexpr (StateWords == 2) words[1] = static_cast<uint32_t>(bits.low >> 32);
    }
    template <class Visitor>
    GPUSYNC_HD void visit(Visitor& put) const {
      put(bits.low);
      put(bits.high);
    }
  };

  GPUSYNC_HD static constexpr uint32_t words(uint32_t) { return 2; }
  GPUSYNC_HD static constexpr uint64_t latest_steps(uint32_t) { return 1; }
  GPUSYNC_HD static constexpr uint64_t propose_steps(uint32_t) { return 1; }

  /// Word `index` of a fresh object.
  GPUSYNC_HD static uint64_t start_word(uint32_t index, const uint32_t* state, uint32_t state_words) {
    if (index != 0) return 0;
    return state_words == 1 ? state[0] : uint64_t{state[1]} << 32 | state[0];
  }
  template <uint32_t N>
  GPUSYNC_HD static head settled(const uint64_t* words) {
    return {{words[0], words[1]}};
  }

  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine>
  GPUSYNC_HD static head latest(const Machine& machine, uint64_t* words) {
    return {machine.template load_wide<sees>(reinterpret_cast<wide*>(words))};
  }

  GPUSYNC_API_TEMPLATE
  template <class Machine>
  GPUSYNC_HD static uint32_t free_buffer(const Machine&, const uint64_t*, uint32_t self, const head& known) {
    return next_buffer(self, known, 0);
  }

  /// A participant may have lost to a change without a record, which kept the one that it won with: others still read
  /// it.
  GPUSYNC_HD static uint32_t next_buffer(uint32_t self, const head& known, uint32_t other) {
    return known.winner() == self ? 1 - known.buffer() : other;
  }

  /// The head with a record of participant `self`, whose stamps go on from `last`.
  template <uint32_t StateWords>
  GPUSYNC_HD static head next(const head& known, uint32_t self, uint32_t buffer, uint32_t last,
                              const uint32_t (&state)[StateWords]) {
    const uint32_t newest = detail::at_or_after(last, known.stamp()) ? last : known.stamp();
    const uint64_t record = uint64_t{newest + 1} << 32 | self << 1 | buffer;
    return {{low(state), record | ((known.bits.high + one_change) & changes)}};
  }
  /// The head with another state and the same record.
  template <uint32_t StateWords>
  GPUSYNC_HD static head with_state(const head& known, const uint32_t (&state)[StateWords]) {
    return {{low(state), (known.bits.high & ~changes) | ((known.bits.high + one_change) & changes)}};
  }

  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine>
  GPUSYNC_HD static bool propose(const Machine& machine, uint64_t* words, uint32_t, head& known, const head& wanted) {
    const wide before =
        machine.template compare_exchange_wide<hands_on>(reinterpret_cast<wide*>(words), known.bits, wanted.bits);
    const bool taken = before == known.bits;
    known.bits = taken ? wanted.bits : before;
    return taken;
  }

 private:
  static constexpr memory_order sees = Order == publication::ordered ? memory_order::acquire : memory_order::relaxed;
  static constexpr memory_order hands_on =
      Order == publication::ordered ? memory_order::acq_rel : memory_order::relaxed;
  static constexpr uint64_t one_change = uint64_t{1} << 16;
  static constexpr uint64_t changes = uint64_t{0xffff} << 16;

  template <uint32_t StateWords>
  GPUSYNC_HD static uint64_t low(const uint32_t (&state)[StateWords]) {
    return StateWords == 1 ? state[0] : uint64_t{state[StateWords - 1]} << 32 | state[0];
  }
};

}  // namespace gpusync::rmw
