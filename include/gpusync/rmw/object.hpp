// The wait-free read-modify-write object: any function on a state of up to 64 bytes, whoever stops in the middle of it.
#pragma once

#include <gpusync/rmw/layout.hpp>
#include <gpusync/rmw/operations.hpp>
#include <gpusync/rmw/participant.hpp>
#include <gpusync/rmw/words.hpp>

namespace gpusync {

/// A read-modify-write object of N participants, which survives that N - 1 of them stop for ever, wherever they stand:
/// an operation replaces the state x by f(x) and returns x, in one indivisible step (Kruskal, Rudolph and Snir 1988;
/// Hagen, Ha and Anshus, items H1 to H5, H7 and H8). A small value, which may be copied (its participants may not):
/// pass it to the kernel by value; it stays valid as long as the memory behind it.
///
/// State: trivially copyable, up to 64 bytes, value-initializable. Consensus: rmw::cas, rmw::cas128 or
/// rmw::coalesced_store (docs/rmw.md says which). Operation: the type of f, a trivially copyable function object with
/// `State operator()(State) const`, which travels to those who help; by default CUDA's named operations, for states
/// that are numbers. Machine: where a participant runs, rmw::host_machine, rmw::cuda_warp or rmw::cuda_thread.
///
/// Preconditions: a number below N is used by one participant at a time. A number may be taken over, in the same launch
///   or in another, from a participant that has left or that is known to have stopped: what that one did must happen
///   before the new one's join().
/// Synchronizes: as Consensus::order says.
/// Progress: wait-free: each call ends after max_passes passes and max_steps accesses, even if all others have stopped.
///   The bounds are proved for sequentially consistent memory (docs/rmw.md); where a write reaches others late, a pass
///   more may be needed for each that is on its way.
/// Cost: alone, one compare-and-swap (or masked store, fence and load) and 2 N words written; among others one to three
///   such rounds, each of which reads and writes some 2 N words and serves all that have announced something.
/// Storage: `bytes`: some 32 N^2 + 80 N for a state of 4 bytes, and 16 N^2 more for each further 4.
template <class State, uint32_t N, class Consensus, class Operation, class Machine>
class basic_rmw_object {
  static_assert(N >= 1, "an object has participants");
  static_assert(N <= Consensus::max_participants, "the consensus policy serves fewer participants");
  static_assert(sizeof(State) <= 64, "a state has at most 64 bytes");
  static_assert(__is_trivially_copyable(State), "a state is copied word by word");
  static_assert(__is_trivially_copyable(Operation), "an operation is copied word by word");

 public:
  /// What it holds.
  using state_type = State;
  /// How a round is decided.
  using consensus = Consensus;
  /// The type of f.
  using operation = Operation;
  /// Where a participant runs.
  using machine_type = Machine;
  /// What join() returns.
  using participant = rmw_participant<State, N, Consensus, Operation, Machine>;
  /// Where its memory has what.
  using layout = rmw::detail::object_layout<State, N, Consensus, Operation>;

  /// The most participants.
  static constexpr uint32_t participants = N;
  /// How often one call looks at a decided state, at most, after it has announced its operation.
  static constexpr uint32_t max_passes = Consensus::max_passes;
  /// The most accesses to memory of one call; what the lanes of a warp do together counts for each word.
  static constexpr uint64_t max_steps =
      // The attempt from the state at hand, if that fails: all announcements, a record, the proposal.
      (N - 1) * uint64_t{layout::operation_words} + layout::record_words + Consensus::propose_steps(N) +
      // Announcing it, the fence, looking for a response, the first look at the head.
      layout::operation_words + 1 + uint64_t{Consensus::spin_limit} * layout::state_words + Consensus::latest_steps(N) +
      // Each pass: a record and all announcements; but for the last one a record of its own and the proposal.
      max_passes * (layout::record_words + (N - 1) * uint64_t{layout::operation_words}) +
      (max_passes - 1) * (uint64_t{layout::record_words} + Consensus::propose_steps(N)) +
      // After a win, responses and a look at the announcements.
      (N - 1) * uint64_t{(Consensus::spin_limit == 0 ? 0 : layout::state_words) + 1};
  /// Words of 64 bits behind the object; they begin at a multiple of 128 bytes.
  static constexpr uint64_t words = layout::total;
  /// The same in bytes.
  static constexpr size_t bytes = words * sizeof(uint64_t);

  /// Use a storage's object() instead, or a shared object's. `memory` was made by start().
  GPUSYNC_HD explicit basic_rmw_object(uint64_t* memory) : words_(memory) {}

  /// Writes a fresh object whose state is `first` to `memory`, all `words` of it. Nothing may use the object yet.
  GPUSYNC_HD static void start(uint64_t* memory, const State& first) {
    for (uint64_t i = 0; i < words; ++i) memory[i] = start_word(i, first);
  }
  /// Word `index` of a fresh object, for several threads that write one together.
  GPUSYNC_HD static uint64_t start_word(uint64_t index, const State& first) {
    uint32_t state[layout::state_words];
    rmw::split(first, state);
    // Round 0 was won by participant 0 with its record 0; all tags and numbers are 0.
    if constexpr (Consensus::carries_state) {
      return index < Consensus::words(N)
                 ? Consensus::start_word(static_cast<uint32_t>(index), state, layout::state_words)
                 : 0;
    }
    const uint64_t at = index - layout::record(0, 0);
    return index >= layout::record(0, 0) && at < layout::state_words ? rmw::detail::tagged(state[at], 0) : 0;
  }

  /// Makes the calling thread, or warp, participant `number`; all lanes call together. Costs a few loads, of which two
  /// wait for another. On the host a number that the object does not have throws invalid_argument; on a GPU the kernel
  /// traps.
  GPUSYNC_API participant join(uint32_t number, Machine on = Machine()) const {
    if (number >= N) on.refuse(number, N);
    return participant(on, words_, number);
  }

  /// The state, if nobody is using the object: for the host, after a kernel. Copy `words` words of it first.
  GPUSYNC_HD static State settled_state(const uint64_t* memory) {
    const auto head = Consensus::template settled<N>(memory);
    uint32_t state[layout::state_words];
    if constexpr (Consensus::carries_state) {
      head.state(state);
    } else {
      for (uint32_t i = 0; i < layout::state_words; ++i) {
        state[i] = rmw::detail::payload_of(memory[layout::record(head.winner(), head.buffer()) + i]);
      }
    }
    return rmw::joined<State>(state);
  }

  /// The object's words, for tests.
  GPUSYNC_HD uint64_t* memory() const { return words_; }

 private:
  uint64_t* words_;
};

}  // namespace gpusync
