// Votes and sums of a grid barrier: what they must not take for a part of a sum.
#include "ticking_grid.hpp"

namespace gpusync::test {
namespace {

constexpr timeout long_enough{10'000'000};  // of the clock that goes on with each look

/// A block that has seen a vote's end adds to the next while a slow one has yet to look at this.
void who_is_slow_reads_its_own_vote() {
  storage memory(2);
  std::atomic<bool> fast{false};
  run_blocks<barrier>(2, memory.barrier(), [&](barrier& b, uint32_t block) {
    b.enter_votes();
    for (uint32_t vote = 0; vote < 4; ++vote) {
      auto token = b.cast_add(10 + block);
      if (vote == 2 && block == 0) wait_for(fast);
      expect(b.wait(std::move(token)) == 21, "a sum is of one vote, whoever is early in the next");
      if (vote == 2 && block == 1) {
        auto next = b.cast_add(11);
        fast = true;
        expect(b.wait(std::move(next)) == 21, "a sum is of one vote, whoever is late in the one before");
        ++vote;
      }
    }
  });
}

void a_carry_is_no_part_of_a_sum() {
  storage memory(2, 0xfffe);
  run_blocks<barrier>(2, memory.barrier(), [&](barrier& b, uint32_t block) {
    for (uint32_t vote = 0; vote < 8; ++vote) {
      expect(b.vote_add(vote % 3 == 0 ? 0 : block) == (vote % 3 == 0 ? 0 : 1), "a sum across the wrap of arrivals");
    }
  });
}

/// A block that comes late to a launch finds what earlier ones have left, and not what others have brought already.
void a_launch_begins_with_what_the_last_has_left() {
  storage memory(2);
  for (int launch = 0; launch < 2; ++launch) {
    std::atomic<bool> voted_alone{false};
    run_blocks<barrier>(2, memory.barrier(), [&](barrier& b, uint32_t block) {
      if (block == 0) {
        for (int i = 0; i < 1000 && !voted_alone; ++i) std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      auto token = b.cast_add(5);
      if (block == 1) voted_alone = true;
      const voted<uint32_t> end = b.wait_for(std::move(token), long_enough);
      expect(end.status == wait_status::completed, "the first vote of a launch ends");
      expect(end.answer == 10, "the first sum is of what this launch has brought");
    });
  }
}

/// A block that waits long notes that in the log as well, over what is looked for here: so the one that will be missing
/// comes last, and all is done several times.
void a_late_vote_does_not_hide_a_missing_block() {
  for (int times = 0; times < 8; ++times) {
    storage memory(2);
    std::atomic<bool> arrived{false};
    run_blocks<barrier>(2, memory.barrier(), [&](barrier& b, uint32_t block) {
      b.enter_votes();
      if (block == 0) wait_for(arrived);
      auto token = b.arrive_add(1);  // notes in the log that the block is here
      if (block == 1) arrived = true;
      (void)b.wait(std::move(token));
    });
    run_blocks<barrier>(2, memory.barrier(), [&](barrier& b, uint32_t block) {
      if (block == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      b.enter_votes();
      if (block == 1) return;
      expect(b.sync_add_for(1, soon).status == wait_status::timed_out, "a vote in which a block is missing times out");
    });
    const std::vector<missing_block> missing = memory.missing();
    expect(missing == std::vector<missing_block>{{1, 0}}, "who voted in an earlier launch is named for this");
    expect(!missing.empty() && missing[0].started,
           "it has been seen, for it has passed the phase before the first vote");
  }
}

/// Of two barriers: what one has left for the block's threads, the other must not overwrite.
void answers_of_two_barriers_do_not_mix() {
  storage one(1), two(1);
  constexpr uint32_t threads = 4;
  launch(
      host_device{}, {1, threads},
      [](barrier a, barrier b) {
        const uint32_t thread = ticking_grid::current().thread();
        for (uint32_t i = 0; i < 300; ++i) {
          auto first = a.cast_add(i);
          auto second = b.cast_add(i + 1);
          if (thread == i % threads) std::this_thread::yield();
          expect(a.wait(std::move(first)) == i, "an answer is of its own barrier");
          expect(b.wait(std::move(second)) == i + 1, "an answer is of its own barrier");
        }
      },
      one.barrier(), two.barrier());
}

/// Of one barrier: what a vote has left for the block's threads, the next must not overwrite.
void an_answer_stays_until_all_have_read_it() {
  storage memory(1);
  constexpr uint32_t threads = 4;
  launch(
      host_device{}, {1, threads},
      [](barrier b) {
        for (uint32_t i = 0; i < 500; ++i) expect(b.vote_add(i) == i, "an answer is of its own vote");
      },
      memory.barrier());
}

/// Who asks before a block has voted finds that not all have.
void who_asks_early_waits_for_all() {
  storage memory(2);
  std::atomic<bool> asked{false};
  run_blocks<barrier>(2, memory.barrier(), [&](barrier& b, uint32_t block) {
    b.enter_votes();
    if (block == 1) wait_for(asked);
    auto token = b.cast_add(10 + block);
    b.ask(token);
    if (block == 0) asked = true;
    expect(b.wait(std::move(token)) == 21, "an answer that was asked for early is of all blocks");
  });
}

/// What was asked for in one vote is no answer to the next.
void who_does_not_ask_looks_anew() {
  storage memory(1);
  run_blocks<barrier>(1, memory.barrier(), [&](barrier& b, uint32_t) {
    for (uint32_t vote = 0; vote < 6; ++vote) {
      auto token = b.cast_add(vote);
      if (vote % 2 == 0) b.ask(token);
      expect(b.wait(std::move(token)) == vote, "an answer is of its own vote");
    }
  });
}

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  using namespace gpusync::test;
  const named_check checks[] = {
      GPUSYNC_CHECK(who_is_slow_reads_its_own_vote),
      GPUSYNC_CHECK(a_carry_is_no_part_of_a_sum),
      GPUSYNC_CHECK(a_launch_begins_with_what_the_last_has_left),
      GPUSYNC_CHECK(a_late_vote_does_not_hide_a_missing_block),
      GPUSYNC_CHECK(answers_of_two_barriers_do_not_mix),
      GPUSYNC_CHECK(an_answer_stays_until_all_have_read_it),
      GPUSYNC_CHECK(who_asks_early_waits_for_all),
      GPUSYNC_CHECK(who_does_not_ask_looks_anew),
  };
  return run_checks(checks, words, word);
}
