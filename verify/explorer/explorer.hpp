// Runs a small multithreaded program in every order that its atomic operations can take.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "explorer/fiber.hpp"
#include "explorer/model_state.hpp"
#include "explorer/visited_set.hpp"

namespace gpusync::verify {

/// What is explored and how far.
struct shape {
  uint32_t blocks = 2;
  uint32_t threads = 1;
  bool stale = true;      ///< loads may return what other threads have overwritten; otherwise the latest value only
  bool fences = false;    ///< the program has fences; their bookkeeping makes more states, so it is off otherwise
  bool looking = false;   ///< failed polls do more than load one word
  bool may_hang = false;  ///< deadlocks are no failures: only safety is asked for
  bool calls = false;     ///< the program makes calls, whose log is part of the state
  uint32_t gpus = 1;      ///< the blocks are those of so many GPUs, as many of each
  uint64_t most_states = 1'000'000;
};

enum class failure {
  none,
  deadlock,
  early_release,
  data_race,
  runaway,
  not_linearizable,
  not_wait_free,
  disagreement,
  wrong_answer,
  wrongly_removed
};
const char* to_string(failure kind);
std::string hex(uint64_t value);

struct exploration {
  uint64_t states = 0;
  uint64_t steps = 0;            ///< transitions between states
  uint64_t executions = 0;       ///< ways in which all threads came to their end, each up to the first known state
  uint64_t most_call_steps = 0;  ///< accesses of one call, at most
  double seconds = 0;
  bool exhaustive = false;
  failure found = failure::none;
  std::string trace;  ///< of the failure
};

/// Depth-first search over schedules. A step is one atomic operation of one thread with all that the thread does up to
/// its next one. See verify/README.md for the memory model and for why a failed poll is no step.
class explorer {
 public:
  /// `body` is what each thread of each block runs.
  explorer(const shape& form, std::function<void()> body);
  ~explorer();
  explorer(const explorer&) = delete;
  explorer& operator=(const explorer&) = delete;

  /// Stores to words in [from, to) are not explored, for nobody loads them; a load there is an error. May be called for
  /// several places.
  void ignore_stores(const void* from, const void* to) { ignored_.push_back({from, to}); }
  /// How traces write the address of a word from here on. May be called for several places.
  template <class Word>
  void name_words(const Word* from, const std::string& name = "word") {
    named_.push_back({from, sizeof(Word), name});
  }

  exploration run();

  // What a running thread calls.
  static explorer& active() { return *active_; }
  const shape& form() const { return form_; }
  uint32_t fiber_index() const { return current_; }
  uint32_t block() const { return current_ / form_.threads; }
  uint32_t thread() const { return current_ % form_.threads; }
  /// Blocks of each GPU, and the calling thread's.
  uint32_t blocks_of_gpu() const { return form_.blocks / form_.gpus; }
  uint32_t gpu() const { return block() / blocks_of_gpu(); }
  uint32_t blocks() const { return state_.fibers[current_].blocks; }
  void set_blocks(uint32_t blocks) { state_.fibers[current_].blocks = static_cast<uint8_t>(blocks); }

  uint64_t perform(action what, memory_order order, const void* address, size_t bytes, uint64_t operand);
  /// An atomic read-modify-write: the word becomes change(before, operand, second). Returns what was before.
  uint64_t modify(memory_order order, const void* address, size_t bytes, changed_value change, uint64_t operand,
                  uint64_t second);
  /// Relaxed stores to several words in one step. They are one event: whoever has read one of them with acquire has
  /// seen them all, and so has whoever executes a fence after it has seen one of them, or what came behind it in its
  /// word.
  void store_several(uint32_t count, const void* const* addresses, size_t bytes, const uint64_t* values);
  /// A poll whose deadline may be over: instead of reading a value it may give up at any time, and always can.
  uint64_t load_or_give_up(memory_order order, const void* address, size_t bytes, bool& gave_up);
  /// A load that is part of the step before it: of a word that no other thread writes.
  uint64_t load_at_once(memory_order order, const void* address, size_t bytes);
  /// A store that is part of the step before it: for words that no other thread may read any more or yet.
  void store_at_once(memory_order order, const void* address, size_t bytes, uint64_t value);
  void acquire_last(const void* address, size_t bytes);
  void fence() { (void)perform(action::fence, memory_order::seq_cst, nullptr, 4, 0); }
  void pause();
  /// In how many threads of the block `value` is true.
  uint32_t meet_block(bool value);
  /// Words that a block's threads share; a meeting must part writes from reads.
  void share(uint32_t index, uint32_t value);
  uint32_t shared(uint32_t index);
  /// As share(), by threads that all write the same; and an add of one, by any threads.
  void share_alike(uint32_t index, uint32_t value);
  void count_shared(uint32_t index);
  /// The launch of the calling thread's GPU ends.
  void end_launch();

  // The test program's own marks.
  void write_slot(uint32_t half);
  /// The same, where only the reads of the blocks for which `counts` holds must have come before.
  void write_slot(uint32_t half, const std::function<bool(uint32_t block)>& counts);
  /// Reads the slots of the threads of the blocks for which `wanted` holds.
  void read_slots(uint32_t half, const std::function<bool(uint32_t block)>& wanted);
  void arriving(uint32_t phase);
  void passing(uint32_t phase, const std::function<bool(uint32_t block)>& member);
  /// The thread's next step begins a call, of which `mask` is the bit in the log.
  void begin_call(uint64_t mask);
  void end_call();
  /// The call will never end.
  void abandon_call() { self().call = {}; }
  const call_state& call() { return self().call; }
  call_log& calls() { return state_.calls; }
  void require(bool right, failure kind, const std::string& text) {
    if (!right) fail(kind, text);
  }
  /// What a thread may still read; 0 at first.
  uint32_t& may_read() { return self().may_read; }
  uint32_t others_may_read() const;
  /// What a mutant remembers for a thread.
  uint32_t& noted() { return self().noted; }
  /// All that the thread's next steps depend on is in these bytes: what it has read before is forgotten.
  void checkpoint(uint32_t phase, const void* bytes, size_t count);

 private:
  static constexpr uint32_t unread = ~1u;  ///< for a choice's message: none tried yet
  struct choice {
    uint32_t fiber;
    uint32_t message;  ///< the one that is read
  };
  struct node {
    std::vector<std::byte> state;
    std::vector<fiber::image> fibers;
    choice next;
    choice taken;
    uint32_t resumed;  ///< bits of the fibers that have run in that step
    bool progress;     ///< some step is possible that does not need a stale value
  };

  uint32_t fibers() const { return form_.blocks * form_.threads; }
  fiber_state& self() { return state_.fibers[current_]; }
  uint32_t word_at(const void* address, size_t bytes);
  uint64_t perform(const operation& next);
  uint64_t perform_at_once(const operation& next);
  bool ignored(const void* address) const {
    for (const auto& [from, to] : ignored_) {
      if (address >= from && address < to) return true;
    }
    return false;
  }
  uint32_t stamp_of(uint32_t message) const { return message == no_message ? 0 : state_.messages[message].stamp; }
  uint64_t value_of(uint32_t message, uint32_t word) const {
    return message == no_message ? initial_[word] : state_.messages[message].value;
  }

  void start();
  void search(exploration& result);
  void apply(const choice& taken);
  void write(fiber_state& own, uint32_t word, uint64_t value, const view* continued);
  void see_whole_events(view& of) const;
  void run_locally();
  bool step(const choice& taken);
  bool all_done() const;
  bool enabled(uint32_t index) const;
  bool next_choice(node& at) const;
  uint64_t state_hash();
  void save(node& to);
  void restore(const node& from, uint32_t resumed);
  void resume(uint32_t index);
  node& push(size_t depth);
  void retrace(size_t depth);
  void fail(failure kind, const std::string& text);
  std::string name_of_fiber(uint32_t index) const;
  std::string name_of_word(uint32_t word) const;
  void note(const std::string& text);

  static explorer* active_;

  shape form_;
  std::function<void()> body_;
  std::vector<std::unique_ptr<fiber>> stacks_;
  model_state state_;
  uint32_t current_ = 0;
  uint32_t resumed_ = 0;  ///< bits of the fibers that have run in this step

  std::unordered_map<const void*, uint32_t> word_ids_;
  std::vector<const void*> addresses_;
  std::vector<uint64_t> initial_;
  struct named_place {
    const void* from;
    size_t bytes;  ///< of a word
    std::string name;
  };
  std::vector<std::pair<const void*, const void*>> ignored_;
  std::vector<named_place> named_;

  std::vector<std::unique_ptr<node>> path_;
  visited_set visited_;
  std::vector<uint8_t> canonical_;
  uint64_t most_call_steps_ = 0;
  failure failed_ = failure::none;
  bool tracing_ = false;
  std::string trace_;
};

}  // namespace gpusync::verify
