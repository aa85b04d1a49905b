// Dependency counters: small task graphs in every order of their atomic operations, epoch after epoch and launch after
// launch, and mutants that must be found out, among them what kernels do that count by hand.
#include <gpusync/neighbours/dependency_counters_host.hpp>

#include "checks.hpp"
#include "mutants/memories.hpp"

namespace gpusync::verify {

namespace {

using gpusync::detail::counter_epochs;

/// What a block does once an epoch: awaits counters, reads what blocks have written, writes, publishes.
struct block_task {
  std::vector<uint32_t> awaits = {}, reads = {};
  bool writes = false;
  std::vector<uint32_t> publishes = {};
};

struct counters_program {
  std::vector<uint32_t> expected;
  std::vector<std::vector<block_task>> blocks;
  uint32_t epochs = 2;  ///< of a launch
  uint32_t launches = 1;
  uint32_t threads = 1;
  uint32_t first_epoch = 0;
  /// Whether blocks that write have seen to it that what they overwrite, of two epochs before, has been read.
  bool asks_readers = false;
};

struct as_shipped {
  template <class Counters>
  static void await(Counters& counters, const std::vector<uint32_t>& which) {
    if (which.size() == 1) return counters.await(which[0]);
    counters.await(which.data(), static_cast<uint32_t>(which.size()));
  }
};

template <class Memory = model_memory, class Epochs = counter_epochs, class Grid = model_grid<Memory>,
          class Waiting = as_shipped>
exploration explore_counters(const counters_program& what, bool stale) {
  shape form;
  form.blocks = static_cast<uint32_t>(what.blocks.size());
  form.threads = what.threads;
  form.stale = stale;
  form.most_states = states_allowed(300'000);
  basic_host_dependency_counter_storage<Grid, Epochs> storage(form.blocks, what.expected, {}, counter_spacing::packed,
                                                              what.first_epoch);
  explorer search(form, [&] {
    explorer& active = explorer::active();
    uint32_t epoch = 0;
    for (uint32_t launch = 0; launch < what.launches; ++launch) {
      auto counters = storage.counters();
      for (uint32_t i = 0; i < what.epochs; ++i, ++epoch) {
        if (i != 0) counters.next_epoch();
        const uint32_t half = epoch % 2;
        for (const block_task& task : what.blocks[active.block()]) {
          if (!task.awaits.empty()) Waiting::await(counters, task.awaits);
          active.read_slots(half, [&](uint32_t block) {
            return std::find(task.reads.begin(), task.reads.end(), block) != task.reads.end();
          });
          if (task.writes) active.write_slot(half, [&](uint32_t) { return what.asks_readers; });
          if (task.publishes.size() == 1) {
            counters.publish(task.publishes[0]);
          } else if (!task.publishes.empty()) {
            counters.publish(task.publishes.data(), static_cast<uint32_t>(task.publishes.size()));
          }
        }
        active.checkpoint(epoch, &counters, sizeof(counters));
      }
      if (what.launches > 1) active.end_launch();
    }
  });
  return search.run();
}

/// Blocks 0 and 1 publish to the one counter that block 2 awaits.
counters_program gather(uint32_t epochs) {
  return {{2}, {{{{}, {}, true, {0}}}, {{{}, {}, true, {0}}}, {{{0}, {0, 1}, false, {}}}}, epochs};
}
/// One block publishes what the others read.
counters_program broadcast(uint32_t epochs, uint32_t consumers) {
  counters_program what{{1}, {{{{}, {}, true, {0}}}}, epochs};
  for (uint32_t i = 0; i < consumers; ++i) what.blocks.push_back({{{0}, {0}, false, {}}});
  return what;
}
/// The same, and they go on once it has been read.
counters_program gather_and_answer(uint32_t epochs) {
  const std::vector<block_task> producer{{{}, {}, true, {0}}, {{1}, {}, false, {}}};
  counters_program what{{2, 1}, {producer, producer, {{{0}, {0, 1}, false, {1}}}}, epochs};
  what.asks_readers = true;
  return what;
}
/// Two blocks that each need what the other has made in the epoch, and have two buffers.
counters_program exchange(uint32_t epochs) {
  counters_program what{
      {1, 1}, {{{{}, {}, true, {0}}, {{1}, {1}, false, {}}}, {{{}, {}, true, {1}}, {{0}, {0}, false, {}}}}, epochs};
  what.asks_readers = true;
  return what;
}
/// Block 1 hands on what it has seen of block 0.
counters_program chain(uint32_t epochs) {
  return {{1, 1}, {{{{}, {}, true, {0}}}, {{{0}, {0}, true, {1}}}, {{{1}, {0, 1}, false, {}}}}, epochs};
}
/// Block 0 publishes to a list, block 2 awaits one.
counters_program lists(uint32_t epochs) {
  return {{1, 2}, {{{{}, {}, true, {0, 1}}}, {{{0}, {0}, true, {1}}}, {{{0, 1}, {0, 1}, false, {}}}}, epochs};
}

counters_program with(counters_program what, uint32_t threads, uint32_t launches = 1, uint32_t first_epoch = 0) {
  what.threads = threads;
  what.launches = launches;
  what.first_epoch = first_epoch;
  return what;
}

void must_pass(const std::string& words, const counters_program& what, bool stale = true) {
  const exploration result = explore_counters(what, stale);
  expect_nothing_found(words, result);
}

/// A mutant's grid, on which misuse goes unseen: what it does to data is to be found.
template <class Memory>
struct unseeing_grid : model_grid<Memory> {
  static unseeing_grid current() { return {}; }
  void fail(timeout_report*, misuse, uint32_t) const {}
};

/// The text with these classes in the place of the shipped ones must be found out.
template <class Memory = model_memory, class Epochs = counter_epochs, class Grid = unseeing_grid<Memory>,
          class Waiting = as_shipped>
void add_mutant(const std::string& name, failure expected, const counters_program& what,
                const test::memory_fault& fault = faulty_memory::none) {
  add_mutant_check("counters_mutant", name, expected, fault,
                   [=] { return explore_counters<Memory, Epochs, Grid, Waiting>(what, true); });
}

/// Waits for a count to be just so.
struct waits_for_equality : counter_epochs {
  static bool reached(uint32_t value, uint32_t goal) { return value == goal; }
};
/// Knows nothing of the end of a word.
struct wraps_wrongly : counter_epochs {
  static bool reached(uint32_t value, uint32_t goal) { return value >= goal; }
};
/// Publishes without a look at the epoch before.
struct mixes_epochs : counter_epochs {
  static bool may_mix(uint32_t, uint32_t) { return false; }
};
/// Is content with a publish less.
struct expects_one_less : counter_epochs {
  static uint32_t begin(uint32_t epoch, uint32_t expected) { return epoch * (expected - 1); }
};
/// The threads of block `Of` do not meet.
template <uint32_t Of>
struct without_block_barrier : unseeing_grid<model_memory> {
  static without_block_barrier current() { return {}; }
  void sync_block() const {
    if (block() != Of) unseeing_grid::sync_block();
  }
};

/// The epoch is not kept for the next launch: all that is stored with plain order.
struct forgets_epochs : model_memory {
  template <memory_order, scope, class T>
  static void store(T*, T) {}
};

/// As some kernels that count by hand: waits for just the count, and takes it back for the next epoch.
struct waits_and_takes_back {
  template <class Counters>
  static void await(Counters& counters, const std::vector<uint32_t>& which) {
    const gpusync::detail::dependency_places& at = places_of(counters);
    uint32_t* const word = at.counter(which[0]);
    const uint32_t goal = at.expected[which[0]];
    while (model_memory::load<memory_order::acquire, scope::device>(word) != goal) explorer::active().pause();
    model_memory::add<memory_order::relaxed, scope::device>(word, 0u - goal);
  }
  /// A handle begins with what its storage gave it.
  template <class Counters>
  static const gpusync::detail::dependency_places& places_of(const Counters& counters) {
    return reinterpret_cast<const gpusync::detail::counters_argument*>(&counters)->places;
  }
};

}  // namespace

void add_dependency_counter_checks() {
  add_check("counters", "run_graphs_in_order", [] {
    must_pass("two publish, one awaits; 2 epochs", gather(2));
    must_pass("two publish, one awaits and answers; 4 epochs", gather_and_answer(4));
    must_pass("one publishes, two await; 2 epochs", broadcast(2, 2));
    must_pass("two exchange; 4 epochs", exchange(4));
    must_pass("a chain of three; 2 epochs", chain(2));
    must_pass("lists; 2 epochs", lists(2));
  });
  add_check("counters", "join_all_threads_of_a_block", [] {
    must_pass("2 x 2 threads, one publishes; 2 epochs", with(broadcast(2, 1), 2));
    must_pass("2 x 2 threads exchange; 2 epochs", with(exchange(2), 2));
    must_pass("3 x 2 threads, lists; 1 epoch", with(lists(1), 2));
    must_pass("3 x 2 threads, two publish; 2 epochs, latest values", with(gather(2), 2), false);
  });
  add_check("counters", "go_on_with_the_next_launch", [] {
    must_pass("two publish, one awaits; 2 launches of 1 epoch", with(gather(1), 1, 2));
    must_pass("two publish, one awaits and answers; 2 launches of 2 epochs", with(gather_and_answer(2), 1, 2));
    must_pass("two exchange; 3 launches of 1 epoch", with(exchange(1), 1, 3));
    must_pass("2 x 2 threads; 2 launches of 1 epoch", with(broadcast(1, 1), 2, 2));
  });
  add_check("counters", "count_on_across_the_end_of_their_words", [] {
    for (const uint32_t first : {~0u, ~0u - 1, (1u << 31) - 1, (1u << 30) - 1}) {
      must_pass("two publish, one awaits, from epoch " + std::to_string(first), with(gather(2), 1, 1, first));
    }
  });
  add_mutant<faulty_memory>("publish_without_release", failure::data_race, gather(1), faults::no_release);
  add_mutant<faulty_memory>("await_without_acquire", failure::data_race, gather(1), faults::waits_do_not_acquire);
  add_mutant<torn_add>("publishes_that_are_not_atomic", failure::deadlock, gather(1));
  add_mutant<model_memory, counter_epochs, without_block_barrier<0>>("publish_without_block_barrier",
                                                                     failure::data_race, with(broadcast(2, 1), 2));
  add_mutant<model_memory, counter_epochs, without_block_barrier<1>>("await_without_block_barrier", failure::data_race,
                                                                     with(broadcast(1, 1), 2));
  add_mutant<model_memory, waits_for_equality>("awaits_equality", failure::deadlock, broadcast(2, 1));
  add_mutant<model_memory, wraps_wrongly>("compares_without_the_wrap", failure::data_race,
                                          with(broadcast(1, 1), 1, 1, ~0u));
  add_mutant<model_memory, mixes_epochs>("publishes_without_a_look_at_the_epoch_before", failure::data_race, gather(2));
  add_mutant<model_memory, expects_one_less>("expects_one_publish_less", failure::data_race, gather(1));
  add_mutant<forgets_epochs>("forgets_its_epoch_between_launches", failure::data_race, with(broadcast(1, 1), 1, 2));
  add_mutant<model_memory, counter_epochs, unseeing_grid<model_memory>, waits_and_takes_back>(
      "awaits_equality_and_subtracts", failure::deadlock, broadcast(1, 2));
}

}  // namespace gpusync::verify
