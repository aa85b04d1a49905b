// Deadlines, and what a wait does when its own is over.
#include <gpusync/core/deadline.hpp>
#include <gpusync/core/host_memory.hpp>
#include <gpusync/core/wait.hpp>

#include <chrono>

#include "check.hpp"

namespace gpusync::test {
namespace {

/// A thread that is kept from polling while it looks at the clock, and in that time what it waits for happens.
struct interrupted_grid {
  using memory = host_memory;
  static constexpr uint32_t polls_per_look = 1;
  static constexpr bool may_lose_phases = false;
  uint32_t* awaited;

  uint64_t now() const {
    *awaited = 1;
    return 5000;
  }
  void pause() const {}
  uint32_t* opaque(uint32_t* pointer) const { return pointer; }
  void raise_timeout_flag(uint32_t) const {}
};

void a_wait_polls_once_more_after_its_deadline() {
  uint32_t word = 0, claimed = 0, arrived = 0, entered = 0;
  const arrival_log log{&claimed, &arrived, &entered, nullptr};
  wait_context<deadline> context(deadline(timeout(0)), log, 0, 7);
  const wait_status status = poll_until<memory_order::acquire, scope::device>(
      interrupted_grid{&word}, &word, [](uint32_t value) { return value == 1; }, context);
  expect(arrived == 7, "a long wait says that its block is here");
  expect(status == wait_status::completed, "what has happened before the deadline was found over is not timed out");
}

/// A thread that is kept from running: when it looks, its phase has ended, and a later one has been lost.
struct late_grid {
  using memory = host_memory;
  static constexpr uint32_t polls_per_look = 1;
  static constexpr bool may_lose_phases = true;
  uint32_t* awaited;

  uint64_t now() const { return 0; }
  void pause() const { *awaited = 1; }
  uint32_t* opaque(uint32_t* pointer) const { return pointer; }
  void raise_timeout_flag(uint32_t) const {}
  void fail(timeout_report*, misuse, uint32_t) const { expect(false, "a phase that has ended ends no launch"); }
};

void a_wait_polls_once_more_after_a_loss() {
  uint32_t word = 0, claimed = 1, arrived = 0, entered = 0;
  const arrival_log log{&claimed, &arrived, &entered, nullptr};
  wait_context<no_deadline> context(no_deadline{}, log, 0, 7);
  const wait_status status = poll_until<memory_order::acquire, scope::device>(
      late_grid{&word}, &word, [](uint32_t value) { return value == 1; }, context);
  expect(status == wait_status::completed, "what has happened before the loss was seen is no loss");
}

void a_timeout_takes_ticks_of_any_length() {
  using std::ratio;
  using std::chrono::duration;
  expect(timeout(duration<int64_t, ratio<1, 600'000'000>>(600'000'000)).nanoseconds() == 1'000'000'000,
         "600 million ticks of 1/600,000,000 s are a second");
  expect(timeout(duration<int64_t, ratio<1, 600'000'000>>(1)).nanoseconds() == 1, "one of them is 1 ns, rounded down");
  expect(timeout(duration<int64_t, ratio<1, 3>>(3)).nanoseconds() == 1'000'000'000, "three thirds are a second");
  expect(timeout(duration<int64_t, ratio<1001, 30'000>>(30'000)).nanoseconds() == 1'001'000'000'000,
         "30,000 pictures of 1001/30,000 s are 1001 s");
  expect(timeout(duration<int64_t, std::pico>(1'999)).nanoseconds() == 1, "1999 ps are 1 ns, rounded down");
  expect(timeout(duration<int64_t, ratio<1, 600'000'000>>(INT64_MAX)).nanoseconds() == 15'372'286'728'091'293'011u,
         "the product of count and tick may be longer than 64 bits");
  expect(timeout(duration<int64_t, ratio<60>>(INT64_MAX)).nanoseconds() == UINT64_MAX,
         "what is too long is the longest");
}

void a_clock_that_steps_back_ends_no_wait() {
  deadline limit(timeout(100));
  expect(!limit.passed(5000), "the first look begins the span");
  expect(!limit.passed(4999), "a clock that steps back by 1 ns ends no wait");
  expect(!limit.passed(0), "nor does one that steps back by all that it has");
  expect(!limit.passed(5099), "the span is not over before its end");
  expect(limit.passed(5100), "it is over at its end");
}

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  using namespace gpusync::test;
  const named_check checks[] = {
      GPUSYNC_CHECK(a_wait_polls_once_more_after_its_deadline),
      GPUSYNC_CHECK(a_wait_polls_once_more_after_a_loss),
      GPUSYNC_CHECK(a_timeout_takes_ticks_of_any_length),
      GPUSYNC_CHECK(a_clock_that_steps_back_ends_no_wait),
  };
  return run_checks(checks, words, word);
}
