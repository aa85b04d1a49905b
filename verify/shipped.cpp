// The barriers as they are shipped: none of them may fail.
#include <array>
#include <cstdlib>

#include "checks.hpp"
#include "planned_counters.hpp"
#include "support/literal_2010.hpp"

namespace gpusync::verify {

namespace {

/// Beyond so many states a check is cut short and says so. GPUSYNC_VERIFY_STATES is for those who have more time.
uint64_t bound() {
  const char* given = std::getenv("GPUSYNC_VERIFY_STATES");
  return given == nullptr ? 300'000 : std::strtoull(given, nullptr, 10);
}

shape of(uint32_t blocks, uint32_t threads, bool stale = true) {
  shape form;
  form.blocks = blocks;
  form.threads = threads;
  form.stale = stale;
  form.most_states = bound();
  return form;
}

program phases(uint32_t count, uint32_t first = 0, bool split = false) {
  program what;
  what.phases = count;
  what.first_phase = first;
  what.split = split;
  return what;
}

program launches(std::vector<uint32_t> blocks) {
  program what = phases(2);
  what.launches = std::move(blocks);
  return what;
}

program drop(uint32_t block, uint32_t last_phase) {
  program what = phases(3);
  what.dropping = block;
  what.last_phase = last_phase;
  return what;
}

/// Some barriers' waits need to look further once a block has dropped out. That is explored with the latest values
/// only; without it they may hang, but must still be safe whatever the loads return.
template <class Algorithm>
void check_dropping() {
  for (const auto& [blocks, block, last] :
       {std::array{2u, 0u, 0u}, {2u, 1u, 1u}, {3u, 0u, 0u}, {3u, 0u, 1u}, {3u, 1u, 0u}, {3u, 1u, 1u}, {3u, 2u, 0u}}) {
    const std::string who =
        std::to_string(blocks) + " blocks, block " + std::to_string(block) + " drops in phase " + std::to_string(last);
    expect_nothing_found(who + ", latest values",
                         explore<Algorithm, model_memory, true>(of(blocks, 1, false), drop(block, last)));
    shape safe = of(blocks, 1);
    safe.may_hang = true;
    expect_nothing_found(who + ", safety", explore<Algorithm>(safe, drop(block, last)));
  }
}

template <class Algorithm>
void check_algorithm() {
  // Two phases before the wrap of a 32-bit counter and of a 16-bit one alike.
  constexpr uint32_t before_wrap = 0xfffffffe;
  expect_nothing_found("2 blocks, 4 phases", explore<Algorithm>(of(2, 1), phases(4)));
  expect_nothing_found("2 blocks, 4 phases across the wrap, split",
                       explore<Algorithm>(of(2, 1), phases(4, before_wrap, true)));
  expect_nothing_found("3 blocks, 3 phases", explore<Algorithm>(of(3, 1), phases(3)));
  expect_nothing_found("3 blocks, 3 phases across the wrap, split",
                       explore<Algorithm>(of(3, 1), phases(3, before_wrap, true)));
  expect_nothing_found("4 blocks, 2 phases", explore<Algorithm>(of(4, 1), phases(2)));
  expect_nothing_found("4 blocks, 3 phases, latest values",
                       explore<Algorithm>(of(4, 1, false), phases(3, before_wrap)));
  expect_nothing_found("2 blocks of 2 threads, 3 phases", explore<Algorithm>(of(2, 2), phases(3)));
  expect_nothing_found("3 blocks of 2 threads, 2 phases, latest values",
                       explore<Algorithm>(of(3, 2, false), phases(2)));
  expect_nothing_found("launches of 2, 3 and 2 blocks", explore<Algorithm>(of(3, 1), launches({2, 3, 2})));
  expect_nothing_found("launches of 3, 1 and 3 blocks", explore<Algorithm>(of(3, 1), launches({3, 1, 3})));
  expect_nothing_found("launches of 4 and 3 blocks, latest values",
                       explore<Algorithm>(of(4, 1, false), launches({4, 3})));
  if constexpr (orders_data(Algorithm::order)) check_dropping<Algorithm>();
}

template <class Algorithm>
void check_plan() {
  expect_nothing_found("2 blocks of 2 threads, 3 phases", explore<Algorithm>(of(2, 2), phases(3)));
  expect_nothing_found("2 blocks of 2 threads, 2 phases, split", explore<Algorithm>(of(2, 2), phases(2, 0xfffe, true)));
  expect_nothing_found("3 blocks of 2 threads, 2 phases, latest values",
                       explore<Algorithm>(of(3, 2, false), phases(2)));
  expect_nothing_found("launches of 2 and 1 blocks of 2 threads", explore<Algorithm>(of(2, 2), launches({2, 1, 2})));
}

template <class Algorithm>
void check_fitted_plan() {
  check_plan<Algorithm>();
  expect_nothing_found("3 blocks of 2 threads, 2 phases across the wrap",
                       explore<Algorithm>(of(3, 2, false), phases(2, 0xffff)));
  expect_nothing_found("launches of 2, 3 and 1 blocks of 2 threads",
                       explore<Algorithm>(of(3, 2, false), launches({2, 3, 1})));
}

/// A text of 2010 that orders no data: it must at least neither hang nor release early. It needs a thread per block.
template <class Algorithm>
void check_literal() {
  expect_nothing_found("2 blocks of 2 threads, 4 phases", explore<Algorithm>(of(2, 2), phases(4)));
  expect_nothing_found("2 blocks of 3 threads, 3 phases, split", explore<Algorithm>(of(2, 3), phases(3, 0, true)));
}

}  // namespace

void add_shipped_checks() {
  for_each_algorithm([](auto tag) {
    using algorithm = decltype(tag);
    add_check("shipped", gpusync::grid::name_of<algorithm>(), check_algorithm<algorithm>);
  });
  add_check("shipped", "lock_free_2010_none", check_literal<gpusync::rivals::literal_lock_free<ordering::none>>);
  constexpr ordering order = ordering::acquire_release;
  add_check("shipped", "placed_counters_two_sub_counters", check_plan<planned_counters<order, 2, 1>>);
  add_check("shipped", "placed_counters_fitted", check_fitted_plan<planned_counters<order, 1, 1, true>>);
  add_check("shipped", "placed_counters_two_copies", check_plan<planned_counters<order, 1, 2>>);
}

}  // namespace gpusync::verify
