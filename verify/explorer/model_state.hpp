// The state of the modelled machine: what each thread has seen, and what has been written to each word.
#pragma once

#include <algorithm>

#include <gpusync/core/config.hpp>
#include <gpusync/core/ordering.hpp>

namespace gpusync::verify {

inline constexpr uint32_t max_fibers = 8;
inline constexpr uint32_t max_gpus = 3;
inline constexpr uint32_t max_words = 56;    ///< words that a check may touch
inline constexpr uint32_t max_writes = 640;  ///< in one execution
inline constexpr uint32_t no_message = ~0u;  ///< stands for a word's value at the start
inline constexpr uint32_t gives_up = ~2u;    ///< stands for what a poll reads when its deadline is over: nothing

/// What happens before a point of the execution. Ordered by inclusion; join() is the union.
struct view {
  uint8_t clock[max_fibers] = {};  ///< of each thread, so many of its accesses to plain data
  uint8_t seen[max_words] = {};    ///< of each word, the write with this stamp and all before it

  void join(const view& other) {
    for (uint32_t i = 0; i < max_fibers; ++i) clock[i] = std::max(clock[i], other.clock[i]);
    for (uint32_t i = 0; i < max_words; ++i) seen[i] = std::max(seen[i], other.seen[i]);
  }
};

/// One write to one word.
struct message {
  uint64_t value;
  uint32_t previous;  ///< the write to the same word before it, or no_message
  uint32_t stamp;     ///< its number among the writes to its word, from 1
  uint8_t word;
  uint8_t before;  ///< so many messages before this one were made by the same store_several
  uint8_t behind;  ///< and so many behind it
  view released;   ///< what an acquiring reader gets
};

enum class action : uint8_t { load, store, store_several, add, fetch_add, modify, fence };

/// What action::modify makes of a word.
using changed_value = uint64_t (*)(uint64_t before, uint64_t operand, uint64_t second);

inline constexpr uint32_t most_at_once = 4;  ///< words that one store_several stores

/// The next atomic operation of a thread, not done yet.
struct operation {
  action what = action::fence;
  memory_order order = memory_order::relaxed;
  uint8_t word = 0;
  uint64_t operand = 0;
  uint64_t second = 0;
  changed_value change = nullptr;
  bool may_give_up = false;  ///< of a load: it may be taken for one that comes when a deadline is over
  uint8_t count = 0;         ///< of store_several's words and values
  uint8_t words[most_at_once] = {};
  uint64_t values[most_at_once] = {};
};

enum class fiber_status : uint8_t {
  runnable,      ///< has been let on and has still to run to its next operation
  at_operation,  ///< `pending` is next
  paused,        ///< its last poll has failed
  meeting,       ///< waits for the other threads of its block
  between,       ///< waits for the launch to end
  done,
};

/// The loads of a thread since its last failed poll or its last other operation. See explorer::pause().
struct poll_round {
  static constexpr uint8_t no_word = 255;

  uint64_t base = 0;           ///< the thread's history when it came to the wait
  uint64_t reads = 0;          ///< hash of what this round has read
  uint64_t reached = 0;        ///< the thread's history at the end of the last round
  uint32_t writes = 0;         ///< the machine's, then
  uint8_t count = 0;           ///< loads of this round
  uint8_t first = no_word;     ///< word of this round
  uint8_t previous = no_word;  ///< first word of the last round
  bool in_vain = false;        ///< the last round has read just what the one before it has
};

/// A call of an object that the program makes: what a check of its answer needs to know.
struct call_state {
  uint64_t mask = 0;              ///< the call's bit
  uint64_t completed_before = 0;  ///< the calls that had ended when it began
  uint32_t steps = 0;             ///< its accesses to memory so far
  bool begins = false;            ///< it begins with the thread's next step
};

struct fiber_state {
  fiber_status status = fiber_status::runnable;
  operation pending;
  uint64_t result = 0;
  uint64_t history = 0;  ///< of all that its next steps depend on
  view now;              ///< what happens before its next step
  view loaded;           ///< what its relaxed loads would bring if it fenced
  view fenced;           ///< what happened before its last fence
  poll_round round;
  uint32_t last_message = no_message;
  uint8_t last_word = 0;
  bool last_was_load = false;
  bool gave_up = false;  ///< the last operation
  uint8_t blocks = 0;    ///< of the launch that it takes part in
  uint8_t arriving = 0;  ///< phase + 1 of the barrier call that it has begun
  call_state call;
  uint32_t may_read = 0;  ///< the program's note of what the thread may still read; no part of the state
  uint32_t noted = 0;     ///< a mutant's note; no part of the state
};

struct block_state {
  uint8_t met = 0;
  uint8_t held = 0;     ///< threads whose value was true, so far
  uint8_t told = 0;     ///< what the last meeting agreed on
  uint8_t arrived = 0;  ///< phase + 1 of the last barrier call in which a thread of it has done something
  view gathered;
  uint32_t shared[10] = {};  ///< words that the block's threads share; who reads one remembers what
  // Bits of the threads that have written them, written what others do, or read them since the block met; no part of
  // the state.
  uint32_t shared_written[10] = {};
  uint32_t shared_alike[10] = {};
  uint32_t shared_read[10] = {};
};

/// A plain location with one writer.
struct slot_state {
  uint8_t written = 0;            ///< the owner's clock
  uint8_t read[max_fibers] = {};  ///< each reader's clock
};

/// What all calls so far have shown.
struct call_log {
  uint64_t begun = 0;
  uint64_t completed = 0;
  uint64_t known_order = 0;  ///< the program's own
};

/// Only the first `writes` messages count. A message never changes, so who goes back to an earlier state on the way to
/// this one finds its messages as they were, and all that it needs is what stands before them.
struct model_state {
  fiber_state fibers[max_fibers];
  block_state blocks[max_fibers];
  slot_state slots[2][max_fibers];
  uint32_t latest[max_words];
  call_log calls;
  view fences;              ///< what the fences so far have published
  view boundary[max_gpus];  ///< what the threads that have ended a launch on each GPU bring
  uint8_t at_boundary[max_gpus] = {};
  uint32_t writes = 0;
  uint32_t masked_stores = 0;
  message messages[max_writes];

  /// Calls `use(begin, bytes)` with each part that a step of so many threads and blocks may change.
  template <class Use>
  void for_each_part(uint32_t threads, uint32_t used_blocks, Use&& use) {
    use(fibers, threads * sizeof(fiber_state));
    use(blocks, used_blocks * sizeof(block_state));
    use(slots, static_cast<size_t>(reinterpret_cast<char*>(messages) - reinterpret_cast<char*>(slots)));
  }
};

}  // namespace gpusync::verify
