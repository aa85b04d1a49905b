// Consensus without any strong primitive: one masked store of a warp to several words.
#pragma once

#include <gpusync/rmw/consensus.hpp>
#include <gpusync/rmw/litmus.hpp>

namespace gpusync::rmw {

/// Consensus policy for a basic_rmw_object: the long-lived consensus of Ha, Tsigas and Anshus (2008), on which Hagen,
/// Ha and Anshus built their objects (items H2, H3 and H5), reconstructed in docs/rmw.md from what their papers say of
/// it: a store that assigns several words at once decides among those who make it (Herlihy 1991). Participant i assigns
/// its own cell and the cell that it shares with each other participant, all with the number of the round. Of two who
/// have both stored, the shared cell names the later one; who has not stored when i looks is later than i. So all agree
/// on the first. A cell of a later round says that this one is over (the papers' round check).
///
/// Preconditions: participants are whole warps, converged at the call (rmw::cuda_warp). The masked store takes effect
///   as one, which no manual promises: Evidence says where it was tested. What it does not cover does not compile, on
///   another device cuda_rmw_storage throws untested_device (for shared memory the program must ask:
///   rmw::require_evidence), and a grid traps in which two participants share a multiprocessor, if that was not tested.
///   Never in distributed shared memory, where it tears.
/// Synchronizes: nothing (publication::tagged).
/// Progress: wait-free; see basic_rmw_object. On host threads the store is an imitation under a lock.
/// Cost: a decision is one masked store, a sequentially consistent fence, one load of the N own cells and, unless this
///   participant was alone in the round, one load of the shared cells. The fence is needed for safety.
/// Storage: N (N + 1) / 2 cells in one line in global memory, so 5 participants; in shared memory 16, in rows of 16
///   cells of which no two in one store share a bank. Cells of 8 bytes (128 bytes for 5 participants) count rounds for
///   ever. Cells of 4 bytes are those of the paper (64 bytes): they serve 2^31 - 1 rounds, and the object refuses the
///   next one.
template <class Evidence, space Where = space::global, class Cell = uint64_t>
struct coalesced_store : consensus_defaults {
  static_assert(sizeof(Cell) == 4 || sizeof(Cell) == 8, "cells are words of 32 or 64 bits");
  static constexpr publication order = publication::tagged;
  static constexpr uint32_t max_participants = Where == space::global ? 5 : 16;
  static constexpr bool uses_cells = true;
  static constexpr bool tells_losers = false;
  static constexpr const char* name = "coalesced-store";
  using evidence = Evidence;
  using cell_type = Cell;

  /// One more than with compare-and-swap: a look at the last round may find that it is over already.
  static constexpr uint32_t max_passes = 4;

  /// Rounds that an object lasts; the largest number stands for no end.
  static constexpr uint64_t max_rounds = sizeof(Cell) == 8 ? ~uint64_t{0} : 0x7fffffff;

  /// What is known of the last round.
  struct head {
    uint64_t round;              ///< its number, from 1; 0: what the object began with
    uint32_t winner_and_buffer;  ///< participant * 2 + buffer
    bool known;  ///< that participant has won it; otherwise it took part, and the round is over or will be soon

    GPUSYNC_HD uint32_t stamp() const { return static_cast<uint32_t>(round); }
    GPUSYNC_HD uint32_t winner() const { return winner_and_buffer >> 1; }
    GPUSYNC_HD uint32_t buffer() const { return winner_and_buffer & 1; }
    GPUSYNC_HD bool decided() const { return known; }
    template <class Visitor>
    GPUSYNC_HD void visit(Visitor& put) const {
      put(round);
      put(winner_and_buffer);
      put(known);
    }
  };

  /// The place of the cell that two participants share, or of a participant's own.
  GPUSYNC_HD static constexpr uint32_t cell(uint32_t one, uint32_t other) {
    const uint32_t low = one < other ? one : other;
    const uint32_t high = one < other ? other : one;
    return Where == space::global ? high * (high + 1) / 2 + low : low * 16 + (low + high) % 16;
  }
  /// What a participant's own cell holds once it has proposed its record `buffer` (0 or 1) to a round.
  GPUSYNC_HD static constexpr Cell own_cell(uint64_t round, uint32_t buffer) {
    return static_cast<Cell>(round << 1 | buffer);
  }
  /// The round in an own cell; 0: none yet.
  GPUSYNC_HD static constexpr uint64_t round_of(Cell own) { return own >> 1; }
  /// The record in an own cell.
  GPUSYNC_HD static constexpr uint32_t buffer_of(Cell own) { return static_cast<uint32_t>(own) & 1; }
  /// What the cell of two participants holds once `writer` has stored. The round loses its upper bits: it is compared
  /// only with that of a round in which both have stored.
  GPUSYNC_HD static constexpr Cell pair_cell(uint64_t round, uint32_t writer) {
    return static_cast<Cell>(round << 4 | writer);
  }
  /// The participant who stored last in the cell of two.
  GPUSYNC_HD static constexpr uint32_t writer_of(Cell pair) { return static_cast<uint32_t>(pair) & 15; }

  /// In words of 64 bits: the cells; and behind their line, if the evidence asks for it, where participants run.
  GPUSYNC_HD static constexpr uint32_t words(uint32_t participants) {
    return Evidence::apart ? places + participants : cell_words(participants);
  }

  /// Makes sure that no two participants of a grid are on one multiprocessor, if the evidence is for such only. Part of
  /// joining.
  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine>
  GPUSYNC_HD static void take_place(const Machine& machine, uint64_t* words, uint32_t self) {
    if constexpr (Evidence::apart) {
      const uint64_t place = machine.place();
      if (machine.lane() == 0) machine.template store<memory_order::relaxed>(words + places + self, place);
      machine.fence();  // of two who come at once one at least sees the other
      bool taken = false;
      for (uint32_t other = machine.lane(); other < N; other += Machine::lanes) {
        if (other == self) continue;
        taken = taken || machine.template load<memory_order::relaxed>(words + places + other) == place;
      }
      if (machine.any(taken)) machine.refuse_place();
    }
  }
  GPUSYNC_HD static constexpr uint64_t latest_steps(uint32_t participants) {
    return participants + settle_steps(participants);
  }
  GPUSYNC_HD static constexpr uint64_t propose_steps(uint32_t participants) {
    return 2 + participants + pairs(participants) + settle_steps(participants);
  }

  template <uint32_t N>
  GPUSYNC_HD static head settled(const uint64_t* words) {
    return latest<N>(plain{}, words);
  }

  /// The last round that has been decided; or, if it was over before its winner was found, a record of it that was
  /// proposed, with `known` false. Then a round has been decided since the call.
  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine>
  GPUSYNC_HD static head latest(const Machine& machine, const uint64_t* words) {
    constexpr uint32_t slots = (N + Machine::lanes - 1) / Machine::lanes;
    Cell own[slots];
    load_own<N>(machine, words, own);
    const uint64_t round = latest_of(machine, own);
    if (round == 0) return {0, 0, true};
    return settle<N>(machine, words, own, round);
  }

  GPUSYNC_API_TEMPLATE
  template <class Machine>
  GPUSYNC_HD static uint32_t free_buffer(const Machine& machine, const uint64_t* words, uint32_t self, const head&) {
    const Cell own = machine.template load_cell<memory_order::relaxed>(cells(words) + cell(self, self));
    return 1 - buffer_of(static_cast<Cell>(machine.broadcast(static_cast<uint32_t>(own), 0)));
  }

  GPUSYNC_HD static head next(const head& known, uint32_t self, uint32_t buffer, uint32_t, const uint32_t*) {
    return {known.round + 1, self << 1 | buffer, true};
  }

  /// As of the other policies; but `known` may be found undecided, as latest() says, and a participant that has won
  /// may not learn of it if the next round is over too.
  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine>
  GPUSYNC_HD static bool propose(const Machine& machine, uint64_t* words, uint32_t self, head& known,
                                 const head& wanted) {
    static_assert(
        Machine::imitates_masked_store ||
            Evidence::covers(Where, Where == space::global ? cell_words(N) * sizeof(uint64_t) : 16 * sizeof(Cell)),
        "nothing shows that a masked store to so many bytes of this memory is seen as one: see rmw/litmus.hpp");
    if constexpr (!Machine::imitates_masked_store)
      static_assert(Machine::where == Where, "the policy is for the other memory");
    constexpr uint32_t slots = (N + Machine::lanes - 1) / Machine::lanes;
    if constexpr (sizeof(Cell) == 4) {
      if (wanted.round > max_rounds) machine.rounds_exhausted(max_rounds);
    }
    machine.assign(
        N, [&](uint32_t other) { return cells(words) + cell(self, other); },
        [&](uint32_t other) {
          return other == self ? own_cell(wanted.round, wanted.buffer()) : pair_cell(wanted.round, self);
        });
    // Without it two participants may each miss the other's store, and both win.
    machine.fence();
    Cell own[slots];
    load_own<N>(machine, words, own);
    bool over = false;
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) over = over || round_of(own[slot]) > wanted.round;
    if (!machine.any(over)) {
      head found = wanted;
      if (find_first<N>(machine, words, own, found)) {
        known = found;
        return found.winner() == self;
      }
    }
    known = settle<N>(machine, words, own, latest_of(machine, own, wanted.round));
    return false;
  }

 private:
  static constexpr uint32_t places = 16;  // behind the line of the cells

  GPUSYNC_HD static constexpr uint32_t cell_words(uint32_t participants) {
    const uint32_t cells = Where == space::global ? participants * (participants + 1) / 2 : participants * 16;
    return static_cast<uint32_t>((cells * sizeof(Cell) + 7) / 8);
  }
  GPUSYNC_HD static constexpr uint64_t pairs(uint32_t participants) {
    return uint64_t{participants} * (participants - 1) / 2;
  }
  GPUSYNC_HD static constexpr uint64_t settle_steps(uint32_t participants) {
    return 1 + participants + pairs(participants);
  }

  /// For the memory of an object that nobody is using.
  struct plain : single_lane {
    template <memory_order, class Word>
    GPUSYNC_HD Word load_cell(const Word* address) const {
      return *address;
    }
    GPUSYNC_HD void fence() const {}
  };

  GPUSYNC_HD static Cell* cells(uint64_t* words) { return reinterpret_cast<Cell*>(words); }
  GPUSYNC_HD static const Cell* cells(const uint64_t* words) { return reinterpret_cast<const Cell*>(words); }

  /// Who won the round in which somebody has been seen to take part; or the one after it, and so on: see latest().
  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine, uint32_t Slots>
  GPUSYNC_HD static head settle(const Machine& machine, const uint64_t* words, Cell (&own)[Slots], uint64_t round) {
    // Whoever has not stored for this round at the second look was not the first to do so, for another one had by the
    // first look. The fence puts the looks in order.
    machine.fence();
    load_own<N>(machine, words, own);
    const uint64_t again = latest_of(machine, own, round);
    head found{again, 0, false};
    if (again == round && find_first<N>(machine, words, own, found)) return found;
    const uint32_t some = detail::lowest_bit(members<N>(machine, own, again));
    found.winner_and_buffer = some << 1 | buffer_in<N>(machine, own, some);
    found.known = false;
    return found;
  }

  /// Reads all own cells, each lane those that it looks after. With acquire: a shared cell that is read next must not
  /// be older than what is found here. (A load is less than a masked store: a warp that reads 128 bytes at once may see
  /// parts of different ages.)
  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine, uint32_t Slots>
  GPUSYNC_HD static void load_own(const Machine& machine, const uint64_t* words, Cell (&own)[Slots]) {
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < Slots; ++slot) {
      const uint32_t other = slot * Machine::lanes + machine.lane();
      own[slot] =
          other < N ? machine.template load_cell<memory_order::acquire>(cells(words) + cell(other, other)) : Cell{};
    }
  }
  /// The latest round among them.
  GPUSYNC_API_TEMPLATE
  template <class Machine, uint32_t Slots>
  GPUSYNC_HD static uint64_t latest_of(const Machine& machine, const Cell (&own)[Slots]) {
    uint64_t latest = 0;
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < Slots; ++slot) latest = round_of(own[slot]) > latest ? round_of(own[slot]) : latest;
    return machine.most(latest);
  }
  /// The same if it is known that it is not before `round`, nor 2^32 rounds after it.
  GPUSYNC_API_TEMPLATE
  template <class Machine, uint32_t Slots>
  GPUSYNC_HD static uint64_t latest_of(const Machine& machine, const Cell (&own)[Slots], uint64_t round) {
    uint32_t ahead = 0;
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < Slots; ++slot) {
      const uint64_t seen = round_of(own[slot]);
      const auto rounds = seen > round ? static_cast<uint32_t>(seen - round) : 0;
      ahead = rounds > ahead ? rounds : ahead;
    }
    return round + machine.most(ahead);
  }

  /// Who has stored for this round, as bits.
  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine, uint32_t Slots>
  GPUSYNC_HD static uint32_t members(const Machine& machine, const Cell (&own)[Slots], uint64_t round) {
    uint32_t bits = 0;
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < Slots; ++slot) {
      const uint32_t other = slot * Machine::lanes + machine.lane();
      bits |= machine.ballot(other < N && round_of(own[slot]) == round) << (slot * Machine::lanes % 32);
    }
    return bits;
  }

  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine, uint32_t Slots>
  GPUSYNC_HD static uint32_t buffer_in(const Machine& machine, const Cell (&own)[Slots], uint32_t participant) {
    uint32_t bits = 0;
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < Slots; ++slot) {
      if (slot * Machine::lanes + machine.lane() == participant) bits = buffer_of(own[slot]);
    }
    return machine.broadcast(bits, participant % Machine::lanes);
  }

  /// The first who has stored for round found.round, of those who have according to `own`; false if some of them have
  /// gone on to a later round meanwhile.
  GPUSYNC_API_TEMPLATE
  template <uint32_t N, class Machine, uint32_t Slots>
  GPUSYNC_HD static bool find_first(const Machine& machine, const uint64_t* words, const Cell (&own)[Slots],
                                    head& found) {
    const uint32_t stored = members<N>(machine, own, found.round);
    uint32_t later = 0;  // who came after another one; and the last bit if the round is over
    constexpr uint32_t over = 1u << 31;
    if ((stored & (stored - 1)) != 0) {
      GPUSYNC_UNROLL()
      for (uint32_t first = 0; first < N * N; first += Machine::lanes) {
        const uint32_t one = (first + machine.lane()) / N;
        const uint32_t other = (first + machine.lane()) % N;
        if (one >= other || (stored >> one & 1) == 0 || (stored >> other & 1) == 0) continue;
        const Cell pair = machine.template load_cell<memory_order::relaxed>(cells(words) + cell(one, other));
        later |= 1u << writer_of(pair) | (pair != pair_cell(found.round, writer_of(pair)) ? over : 0);
      }
      later = machine.merge(later);
      if ((later & over) != 0) return false;
    }
    const uint32_t winner = detail::lowest_bit(stored & ~later);
    found.winner_and_buffer = winner << 1 | buffer_in<N>(machine, own, winner);
    found.known = true;
    return true;
  }
};

}  // namespace gpusync::rmw
