// Votes and sums of the grid barriers in every order of their atomic operations: each answer of each member is checked.
#include "checks.hpp"
#include "mutants/neighbours.hpp"
#include "planned_counters.hpp"

namespace gpusync::verify {

namespace {

using gpusync::grid::lock_based;
using gpusync::grid::placed_counters;

/// A letter for each call: 'A', 'O', 'C' for sync_add(), sync_or(), sync_count(), the same small for their forms
/// without ordering, 'S' for arrive_add() and wait(), 's' for cast_add() and wait(), 'Q' and 'q' for these with an
/// ask() between, 'V' for arrive_count() and wait(), 'v' for cast_or() and wait(), '.' for sync().
struct vote_program {
  std::string calls;
  uint32_t first_phase = 0;
  std::vector<uint32_t> launches = {};  ///< blocks of each launch; if empty, one of all blocks
};

bool orders(char call) {
  return call < 'a';
}

/// What block `block` brings to call `call`: two of them have a sum beyond 2^32.
uint32_t brought(uint32_t block, uint32_t call) {
  return 0x80000000u + 3 * block + 7 * call;
}
bool says(uint32_t block, uint32_t thread, uint32_t call) {
  return (block + thread + call) % 3 == 0;
}

template <class Barrier>
uint32_t vote(Barrier& barrier, char call, uint32_t value, bool mine) {
  switch (call) {
    case 'A': return barrier.sync_add(value);
    case 'a': return barrier.vote_add(value);
    case 'O': return barrier.sync_or(mine) ? 1 : 0;
    case 'o': return barrier.vote_or(mine) ? 1 : 0;
    case 'C': return barrier.sync_count(mine);
    case 'c': return barrier.vote_count(mine);
    case 'S': {
      auto token = barrier.arrive_add(value);
      return barrier.wait(std::move(token));
    }
    case 's': {
      auto token = barrier.cast_add(value);
      return barrier.wait(std::move(token));
    }
    case 'V': {
      auto token = barrier.arrive_count(mine);
      return barrier.wait(std::move(token));
    }
    case 'v': {
      auto token = barrier.cast_or(mine);
      return barrier.wait(std::move(token)) ? 1 : 0;
    }
    case 'Q': {
      auto token = barrier.arrive_add(value);
      barrier.ask(token);
      return barrier.wait(std::move(token));
    }
    case 'q': {
      auto token = barrier.cast_add(value);
      barrier.ask(token);
      return barrier.wait(std::move(token));
    }
    default: barrier.sync(); return 0;
  }
}

uint32_t expected(char call, uint32_t number, uint32_t blocks, uint32_t threads) {
  uint32_t sum = 0, count = 0;
  for (uint32_t block = 0; block < blocks; ++block) {
    sum += brought(block, number);
    for (uint32_t thread = 0; thread < threads; ++thread) count += says(block, thread, number) ? 1 : 0;
  }
  switch (call) {
    case 'A':
    case 'a':
    case 'S':
    case 's':
    case 'Q':
    case 'q': return sum;
    case 'O':
    case 'v':
    case 'o': return count != 0 ? 1 : 0;
    case 'C':
    case 'V':
    case 'c': return count;
    default: return 0;
  }
}

/// Of a call of the running thread, in a launch of so many blocks.
void require_answer(char call, uint32_t number, uint32_t found, uint32_t blocks) {
  explorer& active = explorer::active();
  const uint32_t right = expected(call, number, blocks, active.form().threads);
  active.require(found == right, failure::wrong_answer,
                 "call " + std::to_string(number) + " answers " + hex(found) + " instead of " + hex(right));
}

/// What traces call the words of this storage, and which of them nobody loads.
template <class Algorithm, class Storage>
void describe(explorer& search, Storage& storage, const std::string& name) {
  const auto layout = gpusync::detail::barrier_layout::of(Algorithm::words(search.form().blocks), search.form().blocks);
  search.ignore_stores(storage.state() + layout.claimed, storage.state() + layout.roster);
  search.name_words(storage.state(), name);
}

template <class Algorithm, class Memory = model_memory, class Grid = model_grid<Memory>>
exploration explore_votes(shape form, const vote_program& what) {
  using grid = Grid;
  form.fences = Algorithm::order == ordering::fence;
  const std::vector<uint32_t> launches = what.launches.empty() ? std::vector<uint32_t>{form.blocks} : what.launches;
  host_barrier_storage<Algorithm, grid> storage(form.blocks, what.first_phase);
  explorer search(form, [&] {
    explorer& active = explorer::active();
    uint32_t number = 0, ordered = 0;
    for (const uint32_t blocks : launches) {
      active.set_blocks(blocks);
      const auto launched = [blocks](uint32_t block) { return block < blocks; };
      if (launched(active.block())) {
        auto barrier = storage.barrier();
        for (const char call : what.calls) {
          const uint32_t half = ordered % 2;
          if (orders(call)) active.write_slot(half);
          active.arriving(number);
          // What other threads of the block have in `value` must not matter.
          const uint32_t value = active.thread() == 0 ? brought(active.block(), number) : 0xdead;
          const uint32_t found = vote(barrier, call, value, says(active.block(), active.thread(), number));
          active.passing(number, launched);
          require_answer(call, number, found, blocks);
          if (orders(call)) {
            active.read_slots(half, launched);
            ++ordered;
          }
          active.checkpoint(number, &barrier, sizeof(barrier));
          ++number;
        }
      } else {
        number += static_cast<uint32_t>(what.calls.size());
        for (const char call : what.calls) ordered += orders(call) ? 1 : 0;
      }
      if (launches.size() > 1) active.end_launch();
    }
  });
  describe<Algorithm>(search, storage, "word");
  return search.run();
}

/// Of two barriers, the split votes of the one within those of the other: in each of so many rounds arrive_count() and
/// cast_count(), then arrive_add() and arrive_add().
template <class Algorithm, class Grid>
exploration explore_two(const shape& form, uint32_t rounds) {
  host_barrier_storage<Algorithm, Grid> first(form.blocks, 0xffff), second(form.blocks, 0xfffe);
  explorer search(form, [&] {
    explorer& active = explorer::active();
    struct {
      decltype(first.barrier()) outer, inner;
    } both{first.barrier(), second.barrier()};
    both.outer.enter_votes();
    both.inner.enter_votes();
    const uint32_t block = active.block(), thread = active.thread();
    for (uint32_t number = 0; number < 4 * rounds; number += 4) {
      auto count = both.outer.arrive_count(says(block, thread, number));
      auto count_within = both.inner.cast_count(says(block, thread, number + 1));
      require_answer('C', number + 1, both.inner.wait(std::move(count_within)), form.blocks);
      require_answer('C', number, both.outer.wait(std::move(count)), form.blocks);
      auto sum = both.outer.arrive_add(thread == 0 ? brought(block, number + 2) : 0xdead);
      auto sum_within = both.inner.arrive_add(thread == 0 ? brought(block, number + 3) : 0xdead);
      require_answer('A', number + 3, both.inner.wait(std::move(sum_within)), form.blocks);
      require_answer('A', number + 2, both.outer.wait(std::move(sum)), form.blocks);
      active.checkpoint(number, &both, sizeof(both));
    }
  });
  describe<Algorithm>(search, first, "outer");
  describe<Algorithm>(search, second, "inner");
  return search.run();
}

shape of(uint32_t blocks, uint32_t threads = 1, bool stale = true) {
  shape form;
  form.blocks = blocks;
  form.threads = threads;
  form.stale = stale;
  form.most_states = states_allowed(100'000);
  return form;
}

template <class Algorithm>
void check_votes() {
  // The low halves wrap in the second vote of each word, and carry into the high ones.
  constexpr uint32_t before_wrap = 0xffff;
  expect_nothing_found("2 blocks, ordered", explore_votes<Algorithm>(of(2), {"AAOC", before_wrap}));
  expect_nothing_found("2 blocks, unordered", explore_votes<Algorithm>(of(2), {"aaoca", before_wrap}));
  expect_nothing_found("2 blocks, mixed with phases", explore_votes<Algorithm>(of(2), {".aA.a", before_wrap}));
  expect_nothing_found("2 blocks, split", explore_votes<Algorithm>(of(2), {"sSs.S", 0xfffe}));
  expect_nothing_found("2 blocks, asked for", explore_votes<Algorithm>(of(2), {"qQaq", 0xfffe}));
  expect_nothing_found("2 blocks of 2 threads, asked for", explore_votes<Algorithm>(of(2, 2), {"qQ", before_wrap}));
  expect_nothing_found("3 blocks, asked for", explore_votes<Algorithm>(of(3), {"qQ", before_wrap}));
  expect_nothing_found("3 blocks, ordered", explore_votes<Algorithm>(of(3), {"AA", before_wrap}));
  expect_nothing_found("3 blocks, unordered", explore_votes<Algorithm>(of(3), {"aaa", before_wrap}));
  expect_nothing_found("3 blocks, unordered, latest values",
                       explore_votes<Algorithm>(of(3, 1, false), {"aaaa", before_wrap}));
  expect_nothing_found("2 blocks of 2 threads", explore_votes<Algorithm>(of(2, 2), {"AcO", before_wrap}));
  expect_nothing_found("2 blocks of 2 threads, unordered", explore_votes<Algorithm>(of(2, 2), {"aasa", before_wrap}));
  expect_nothing_found("2 blocks of 2 threads, split", explore_votes<Algorithm>(of(2, 2), {"sS", before_wrap}));
  expect_nothing_found("launches of 2, 1 and 2 blocks",
                       explore_votes<Algorithm>(of(2), {"aA", before_wrap, {2, 1, 2}}));
  expect_nothing_found("launches of 3 and 2 blocks", explore_votes<Algorithm>(of(3), {"aA", before_wrap, {3, 2}}));
  expect_nothing_found("3 blocks, mixed with phases", explore_votes<Algorithm>(of(3), {"A.asS", 0xfffe}));
  expect_nothing_found("3 blocks of 2 threads, latest values",
                       explore_votes<Algorithm>(of(3, 2, false), {"aOcA", before_wrap}));
  expect_nothing_found("4 blocks, latest values", explore_votes<Algorithm>(of(4, 1, false), {"aaAa", before_wrap}));
}

template <class Algorithm>
void check_planned_votes() {
  expect_nothing_found("2 blocks of 2 threads, mixed", explore_votes<Algorithm>(of(2, 2), {"AaC", 0xffff}));
  expect_nothing_found("2 blocks of 2 threads, unordered", explore_votes<Algorithm>(of(2, 2), {"aaoa", 0xfffe}));
  expect_nothing_found("launches of 2 and 1 blocks of 2 threads",
                       explore_votes<Algorithm>(of(2, 2), {"aS", 0xffff, {2, 1, 2}}));
}

template <class Algorithm, class Memory, class Grid = model_grid<Memory>>
void add_mutant(const std::string& name, failure wanted, const vote_program& what, const shape& form = of(2)) {
  add_check("votes_mutant", name,
            [=] { expect_found(name, explore_votes<Algorithm, Memory, Grid>(form, what), wanted); });
}

/// What the threads of a block do as lanes of a warp, and not each for itself.
template <class Algorithm>
void check_votes_of_warps() {
  const auto explore = explore_votes<Algorithm, model_memory, model_warp_grid<>>;
  expect_nothing_found("2 blocks of 2 lanes", explore(of(2, 2), {"AcO", 0xffff, {}}));
  expect_nothing_found("2 blocks of 2 lanes, unordered", explore(of(2, 2), {"oaco", 0xfffe, {}}));
  expect_nothing_found("2 blocks of 2 lanes, split", explore(of(2, 2), {"vV", 0xffff, {}}));
  expect_nothing_found("2 blocks of 2 lanes, split and not", explore(of(2, 2), {"VsvS", 0xffff, {}}));
  expect_nothing_found("launches of 2 and 1 blocks of 2 lanes", explore(of(2, 2), {"OC", 0xffff, {2, 1, 2}}));
  expect_nothing_found("a block alone", explore(of(1, Algorithm::lanes == 1 ? 3 : 2), {"OvCVoc", 0xffff, {}}));
  expect_nothing_found("votes of two barriers, one within the other, of a block alone",
                       explore_two<Algorithm, model_warp_grid<>>(of(1, 2), 2));
  shape larger = of(2, 2);
  larger.most_states = states_allowed(300'000);
  expect_nothing_found("votes of two barriers, one within the other",
                       explore_two<Algorithm, model_warp_grid<>>(larger, 1));
}

template <class Algorithm, uint32_t Lanes = 1>
struct of_lanes : Algorithm {
  static constexpr uint32_t lanes = Lanes;  ///< that add or poll
};

/// Sums and arrivals are added by two operations.
struct torn_vote : model_memory {
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    if constexpr (sizeof(T) == sizeof(uint64_t)) {
      model_memory::add<memory_order::relaxed, Scope>(address, value & 0xffffffffu);
      model_memory::add<Order, Scope>(address, value & ~T{0xffffffffu});
    } else {
      model_memory::add<Order, Scope>(address, value);
    }
  }
};

/// The add of a vote carries from neither half into the other.
struct halves_apart : model_memory {
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    if constexpr (sizeof(T) == sizeof(uint64_t)) {
      (void)explorer::active().modify(
          Order, address, sizeof(T),
          [](uint64_t before, uint64_t operand, uint64_t) {
            return ((before >> 32) + (operand >> 32)) << 32 |
                   (((before & 0xffffffffu) + (operand & 0xffffffffu)) & 0xffffffffu);
          },
          value, 0);
    } else {
      model_memory::add<Order, Scope>(address, value);
    }
  }
};

/// Votes do not release, as those without ordering; phases do.
struct votes_release_nothing : model_memory {
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    constexpr memory_order order = sizeof(T) == sizeof(uint64_t) ? memory_order::relaxed : Order;
    model_memory::add<order, Scope>(address, value);
  }
};

/// Votes do not acquire.
struct votes_acquire_nothing : model_memory {
  template <scope Scope, class T>
  static void acquire(const T* address) {
    if (sizeof(T) == sizeof(uint32_t)) model_memory::acquire<Scope>(address);
  }
};

/// Who has said yes stays so.
struct yeses_stay : model_warp_grid<> {
  static yeses_stay current() { return {}; }
  void clear_shared(uint32_t, uint32_t, uint32_t) const {}
};
/// They are forgotten by a lane that does not wait for the others to have read them.
struct yeses_forgotten_early : model_warp_grid<> {
  static yeses_forgotten_early current() { return {}; }
  void clear_shared(uint32_t words, uint32_t index, uint32_t) const { share_alike(words, index, 0); }
};
/// Of several sub-counters each lane takes its own for the whole.
struct lanes_apart : model_warp_grid<> {
  static lanes_apart current() { return {}; }
  uint32_t sum_of_first(uint32_t, uint32_t value) const { return value; }
};
/// As meets_once<Missing>, of blocks that are a warp.
template <uint32_t Missing>
struct warp_meets_once : model_warp_grid<> {
  static warp_meets_once current() { return {}; }
  void sync_block() const {
    const uint32_t turn = explorer::active().noted()++;
    if (turn < 2 || turn % 2 != Missing) model_warp_grid<>::sync_block();
  }
};

/// A block that has counted who says yes does not meet once more before it goes on.
struct counts_and_goes_on : model_warp_grid<> {
  static counts_and_goes_on current() { return {}; }
  void count_shared(uint32_t words, uint32_t index, bool value) const {
    explorer::active().noted() = 2;
    model_warp_grid<>::count_shared(words, index, value);
  }
  void sync_block() const {
    uint32_t& meetings = explorer::active().noted();
    if (meetings == 0 || --meetings != 0) model_warp_grid<>::sync_block();
  }
};

/// The phase before the first vote is not waited for: who comes late takes for the start what others have brought.
struct votes_without_a_start : lock_based<ordering::acquire_release> {
  template <class Grid, class Context>
  static wait_status wait(Grid grid, const uint32_t*, const state&, token, Context& context) {
    return sync_block_status(grid, wait_status::completed, context);
  }
};

}  // namespace

void add_vote_checks() {
  constexpr ordering order = ordering::acquire_release;
  add_check("votes", "lock_based", check_votes<lock_based<order>>);
  add_check("votes", "placed_counters", check_votes<placed_counters<order>>);
  add_check("votes", "lock_based_fence", [] {
    expect_nothing_found("2 blocks", explore_votes<lock_based<ordering::fence>>(of(2), {"AaS", 0xffff}));
  });
  add_check("votes", "placed_counters_two_sub_counters", check_planned_votes<planned_counters<order, 2, 1>>);
  add_check("votes", "placed_counters_two_copies", check_planned_votes<planned_counters<order, 1, 2>>);
  add_check("votes", "placed_counters_fitted", check_planned_votes<planned_counters<order, 1, 1, true>>);
  using correct = lock_based<order>;
  add_mutant<correct, torn_vote>("torn", failure::wrong_answer, {"aa"});
  add_mutant<correct, halves_apart>("halves_apart", failure::wrong_answer, {"aaa", 0xffff});
  add_mutant<correct, votes_release_nothing>("no_release", failure::data_race, {"AA"});
  add_mutant<placed_counters<order>, votes_release_nothing>("no_release_placed", failure::data_race, {"AA"});
  add_mutant<correct, votes_acquire_nothing>("no_acquire", failure::data_race, {"AA"});
  add_mutant<placed_counters<order>, votes_acquire_nothing>("no_acquire_placed", failure::data_race, {"AA"});
  add_mutant<correct, votes_acquire_nothing>("no_acquire_asked", failure::data_race, {"QQ"});
  // Behind the phase before the first vote, of the two block barriers of each vote the one or the other is missing.
  add_mutant<correct, model_memory, meets_once<0>>("overwritten", failure::data_race, {"aa"}, of(2, 2));
  add_mutant<correct, model_memory, meets_once<1>>("read_too_early", failure::wrong_answer, {"aa"}, of(2, 2));
  // Votes that are counted in shared memory.
  add_check("votes", "lock_based_warps", check_votes_of_warps<of_lanes<lock_based<order>>>);
  add_check("votes", "placed_counters_warps_two_sub_counters",
            check_votes_of_warps<of_lanes<planned_counters<order, 2, 1>, 2>>);
  add_check("votes", "placed_counters_warps_two_copies",
            check_votes_of_warps<of_lanes<planned_counters<order, 1, 2>, 2>>);
  add_mutant<correct, model_memory, yeses_stay>("yeses_stay", failure::wrong_answer, {"cc"}, of(2, 2));
  add_mutant<planned_counters<order, 1, 2>, model_memory, yeses_forgotten_early>("yeses_forgotten_early",
                                                                                 failure::data_race, {"oo"}, of(2, 2));
  add_mutant<planned_counters<order, 2, 1>, model_memory, lanes_apart>("lanes_apart", failure::data_race, {"aa"},
                                                                       of(2, 2));
  add_mutant<correct, model_memory, warp_meets_once<0>>("yeses_read_early", failure::data_race, {"oo"}, of(2, 2));
  add_mutant<correct, model_memory, warp_meets_once<1>>("answers_read_early", failure::wrong_answer, {"oo"}, of(2, 2));
  add_check("votes_mutant", "counts_and_goes_on", [] {
    expect_found("counts_and_goes_on", explore_two<correct, counts_and_goes_on>(of(1, 2), 2), failure::data_race);
  });
  add_mutant<votes_without_a_start, model_memory>("without_a_start", failure::deadlock, {"a"});
}

}  // namespace gpusync::verify
