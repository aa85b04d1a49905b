// What breaks a barrier's contract and can be seen.
#include "ticking_grid.hpp"

namespace gpusync::test {
namespace {

using token_type = dropping_barrier::arrival_token;

/// Launches one block that does `calls`, and expects what is thrown for this misuse.
void expect_misuse(misuse reason, const char* what, void (*calls)(dropping_barrier&)) {
  storage memory(1);
  const std::string words = thrown_by<invalid_argument>([&] {
    run_blocks<dropping_barrier>(1, memory.dropping_barrier(), [&](dropping_barrier& b, uint32_t) {
      most_pauses = pauses + 1000;
      calls(b);
    });
  });
  expect_sentence(words, reason, 0, what);
}

void an_arrival_must_be_waited_for() {
  expect_misuse(misuse::unfinished_arrival, "arrive() after arrive() is refused", [](dropping_barrier& b) {
    [[maybe_unused]] const token_type first = b.arrive();
    [[maybe_unused]] const token_type second = b.arrive();
  });
  expect_misuse(misuse::unfinished_arrival, "sync() after arrive() is refused", [](dropping_barrier& b) {
    [[maybe_unused]] const token_type first = b.arrive();
    b.sync();
  });
  expect_misuse(misuse::unfinished_arrival, "arrive_and_drop() after arrive() is refused", [](dropping_barrier& b) {
    [[maybe_unused]] const token_type first = b.arrive();
    b.arrive_and_drop();
  });
  expect_misuse(misuse::unfinished_arrival, "and so in a later phase", [](dropping_barrier& b) {
    b.sync();
    [[maybe_unused]] const token_type first = b.arrive();
    [[maybe_unused]] const token_type second = b.arrive();
  });
}

void a_token_is_good_for_one_wait() {
  expect_misuse(misuse::spent_token, "a token is waited for once", [](dropping_barrier& b) {
    token_type token = b.arrive();
    b.wait(std::move(token));
    b.wait(std::move(token));
  });
  expect_misuse(misuse::spent_token, "with a deadline, too", [](dropping_barrier& b) {
    token_type token = b.arrive();
    b.wait(std::move(token));
    (void)b.wait_for(std::move(token), late);
  });
}

void a_token_that_was_moved_from_is_spent() {
  expect_misuse(misuse::spent_token, "a token that was moved from is refused", [](dropping_barrier& b) {
    token_type token = b.arrive();
    [[maybe_unused]] const token_type owner = std::move(token);
    b.wait(std::move(token));
  });
}

void a_token_belongs_to_its_barrier() {
  storage memory(1), others(1);
  const dropping_barrier original = others.dropping_barrier();
  const auto wait_elsewhere = [&](bool used_before) {
    return thrown_by<invalid_argument>([&] {
      run_blocks<dropping_barrier>(1, memory.dropping_barrier(), [&](dropping_barrier& b, uint32_t) {
        most_pauses = pauses + 1000;
        dropping_barrier other(detail::for_one_thread{}, original);
        if (used_before) other.sync();
        token_type token = b.arrive();
        other.wait(std::move(token));
      });
    });
  };
  expect_sentence(wait_elsewhere(false), misuse::foreign_token, 0, "a barrier takes no other one's token");
  memory.reset();
  expect_sentence(wait_elsewhere(true), misuse::foreign_token, 0, "nor after it was used");
}

/// A view as of some warps.
struct some_warps : ticking_grid {
  static constexpr bool whole_block = false;
  some_warps() : ticking_grid(current()) {}
  bool valid() const { return true; }
};

void a_view_comes_before_the_first_phase() {
  expect_misuse(misuse::lent, "a view after the first phase is refused", [](dropping_barrier& b) {
    b.sync();
    (void)b.on(some_warps());
  });
  storage memory(2);
  const std::string words = thrown_by<invalid_argument>([&] {
    run_blocks<dropping_barrier>(2, memory.dropping_barrier(), [&](dropping_barrier& b, uint32_t block) {
      if (block == 1) return b.arrive_and_drop();
      b.sync();
      (void)b.on(some_warps());
    });
  });
  expect_sentence(words, misuse::lent, 0, "and after a drop, which makes a block join anew");
}

void a_handle_is_for_one_thread() {
  storage memory(1);
  dropping_barrier shared = memory.dropping_barrier();
  const auto used = [&](void (*call)(dropping_barrier&)) {
    const std::string words = thrown_by<invalid_argument>(
        [&] { run_blocks<dropping_barrier>(1, shared, [&](dropping_barrier&, uint32_t) { call(shared); }); });
    expect_sentence(words, misuse::shared_handle, 0, "the handle that the launch was given is no thread's");
    memory.reset();
  };
  used([](dropping_barrier& b) { b.sync(); });
  used([](dropping_barrier& b) { b.enter(); });
  used([](dropping_barrier& b) { [[maybe_unused]] const token_type token = b.arrive(); });
  used([](dropping_barrier& b) { (void)b.on(some_warps()); });
}

void who_has_left_stays_away() {
  expect_misuse(misuse::left, "sync() after arrive_and_drop() is refused", [](dropping_barrier& b) {
    b.arrive_and_drop();
    b.sync();
  });
  expect_misuse(misuse::left, "arrive() after arrive_and_drop() is refused", [](dropping_barrier& b) {
    b.arrive_and_drop();
    [[maybe_unused]] const token_type token = b.arrive();
  });
  expect_misuse(misuse::left, "a second arrive_and_drop() is refused", [](dropping_barrier& b) {
    b.sync();
    b.arrive_and_drop();
    b.arrive_and_drop();
  });
}

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  using namespace gpusync::test;
  const named_check checks[] = {
      GPUSYNC_CHECK(an_arrival_must_be_waited_for),
      GPUSYNC_CHECK(a_token_is_good_for_one_wait),
      GPUSYNC_CHECK(a_token_that_was_moved_from_is_spent),
      GPUSYNC_CHECK(a_token_belongs_to_its_barrier),
      GPUSYNC_CHECK(a_view_comes_before_the_first_phase),
      GPUSYNC_CHECK(a_handle_is_for_one_thread),
      GPUSYNC_CHECK(who_has_left_stays_away),
  };
  return run_checks(checks, words, word);
}
