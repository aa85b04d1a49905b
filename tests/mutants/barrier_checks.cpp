// What a barrier looks at besides the count: who has arrived, and whether a phase was lost.
#include "ticking_grid.hpp"

namespace gpusync::test {
namespace {

void a_part_must_lie_in_the_grid() {
  storage memory(8);
  std::atomic<uint32_t> ran{0};
  const auto launch_on = [&](block_range part) {
    run_blocks<part_barrier>(3, memory.barrier(part), [&](part_barrier&, uint32_t) { ++ran; });
  };
  launch_on({1, 2});
  expect(ran == 3, "a part that ends with the grid is taken");
  const std::string words = thrown_by<invalid_argument>([&] { launch_on({1, 3}); });
  expect(words == "The grid has 3 blocks, but a barrier among its arguments joins 3 blocks from block 1 on.",
         "a part that ends one block behind the grid is refused");
  expect(ran == 3, "nothing is started then");
}

void a_block_that_arrived_early_is_not_missing() {
  storage memory(3);
  std::atomic<bool> arrived{false}, gave_up{false};
  run_blocks<barrier>(3, memory.barrier(), [&](barrier& b, uint32_t block) {
    if (block == 0) {
      wait_for(arrived);
      expect(b.sync_for(soon) == wait_status::timed_out, "a phase in which a block is missing times out");
      gave_up = true;
      return;
    }
    if (block == 1) {
      [[maybe_unused]] const barrier::arrival_token token = b.arrive();
      arrived = true;
    }
    wait_for(gave_up);
  });
  expect(memory.missing() == std::vector<missing_block>{{2, 0}},
         "a block that has arrived and works on before it waits is not named");
}

/// After some phases of two blocks block 0 gives up one. Then block 1 does `rest`: for it, too, this phase is complete
/// by count.
template <class Barrier>
void after_a_loss(uint32_t phases, Barrier (*barrier_of)(storage&), const std::function<void(Barrier&)>& rest) {
  storage memory(2);
  std::atomic<bool> gave_up{false};
  run_blocks<Barrier>(2, barrier_of(memory), [&](Barrier& b, uint32_t block) {
    for (uint32_t phase = 0; phase < phases; ++phase) b.sync();
    if (block == 0) {
      expect(b.sync_for(soon) == wait_status::timed_out, "a phase in which a block is missing times out");
      gave_up = true;
    } else {
      wait_for(gave_up);
      rest(b);
    }
  });
}
barrier of_all(storage& memory) {
  return memory.barrier();
}
dropping_barrier of_those_who_stay(storage& memory) {
  return memory.dropping_barrier();
}

void a_bounded_wait_after_a_loss_ends_at_once() {
  after_a_loss<barrier>(1, of_all, [](barrier& b) {
    expect(b.sync_for(late) == wait_status::completed, "the phase that was given up is complete by count");
    looks = 0;
    expect(b.sync_for(late) == wait_status::timed_out, "no later phase is passed");
    expect(looks <= 2, "and that is clear long before the deadline");
  });
  after_a_loss<barrier>(1, of_all, [](barrier& b) {
    expect(b.sync_for(late) == wait_status::completed, "the phase that was given up is complete by count");
    looks = 0;
    expect(b.wait_for(b.arrive(), late) == wait_status::timed_out, "no later phase is passed in two halves");
    expect(looks <= 2, "and that is clear long before the deadline");
  });
}

void an_unbounded_wait_after_a_loss_ends_the_launch() {
  const std::string words = thrown_by<broken_barrier>([] {
    after_a_loss<barrier>(1, of_all, [](barrier& b) {
      b.sync();
      most_pauses = pauses + 1000;
      b.sync();
      expect(false, "no later phase is passed");
    });
  });
  expect_sentence(words, misuse::lost_phase, 1, "the launch ends and says why");
}

void a_first_bounded_call_meets_the_loss() {
  after_a_loss<barrier>(0, of_all, [](barrier& b) {
    expect(b.sync_for(late) == wait_status::timed_out, "sync_for() tells of a phase that was lost before");
    expect(b.sync_for(late) == wait_status::timed_out, "and again");
  });
  after_a_loss<barrier>(0, of_all, [](barrier& b) {
    expect(b.wait_for(b.arrive(), late) == wait_status::timed_out, "and so does wait_for()");
  });
  after_a_loss<barrier>(0, of_all,
                        [](barrier& b) { expect(b.try_enter() == wait_status::timed_out, "and so does try_enter()"); });
  after_a_loss<dropping_barrier>(0, of_those_who_stay, [](dropping_barrier& b) {
    expect(b.arrive_and_drop_for(late) == wait_status::timed_out, "and so does arrive_and_drop_for()");
  });
}

void a_first_unbounded_call_meets_the_loss() {
  const auto expect_loss = [](const char* what, void (*call)(barrier&)) {
    const std::string words = thrown_by<broken_barrier>([&] { after_a_loss<barrier>(0, of_all, call); });
    expect_sentence(words, misuse::lost_phase, 1, what);
  };
  expect_loss("sync() ends the launch after a phase was lost", [](barrier& b) { b.sync(); });
  expect_loss("and so does wait()", [](barrier& b) { b.wait(b.arrive()); });
  expect_loss("and so does enter()", [](barrier& b) { b.enter(); });
}

void a_time_out_is_not_forgotten() {
  storage memory(2);
  run_blocks<barrier>(2, memory.barrier(), [](barrier& b, uint32_t block) {
    if (block != 0) return;
    expect(b.sync_for(soon) == wait_status::timed_out, "a phase in which a block is missing times out");
    looks = 0;
    expect(b.sync_for(late) == wait_status::timed_out, "a block that has given up does not arrive again");
    expect(b.wait_for(b.arrive(), late) == wait_status::timed_out, "nor in two halves");
    expect(looks == 0, "it knows without a wait");
  });
}

void a_storage_serves_one_launch_at_a_time() {
  storage memory(1);
  const auto nothing = [](barrier&, uint32_t) {};
  std::string words;
  run_blocks<barrier>(1, memory.barrier(), [&](barrier&, uint32_t) {
    words = thrown_by<storage_in_use>([&] { run_blocks<barrier>(1, memory.barrier(), nothing); });
  });
  expect(words.find("in use by a launch that has not ended") != std::string::npos, "a second launch is refused");
  run_blocks<barrier>(1, memory.barrier(), nothing);
  (void)thrown_by<endless>(
      [&] { run_blocks<barrier>(1, memory.barrier(), [](barrier&, uint32_t) { throw endless(); }); });
  memory.reset();
  run_blocks<barrier>(1, memory.barrier(), nothing);
}

void the_missing_keep_their_names() {
  storage memory(3);
  std::atomic<bool> given_up{false};
  const std::string words = thrown_by<broken_barrier>([&] {
    run_blocks<barrier>(3, memory.barrier(), [&](barrier& b, uint32_t block) {
      if (block == 0) {
        (void)b.sync_for(soon);
        given_up = true;
      }
      if (block != 1) return;
      wait_for(given_up);
      b.sync();
    });
  });
  expect_sentence(words, misuse::lost_phase, 1, "the launch throws");
  const auto missing = memory.missing();
  expect(!missing.empty() && missing.back().block == 2, "and the missing block is still named");
}

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  using namespace gpusync::test;
  const named_check checks[] = {
      GPUSYNC_CHECK(a_part_must_lie_in_the_grid),
      GPUSYNC_CHECK(a_block_that_arrived_early_is_not_missing),
      GPUSYNC_CHECK(a_bounded_wait_after_a_loss_ends_at_once),
      GPUSYNC_CHECK(an_unbounded_wait_after_a_loss_ends_the_launch),
      GPUSYNC_CHECK(a_first_bounded_call_meets_the_loss),
      GPUSYNC_CHECK(a_first_unbounded_call_meets_the_loss),
      GPUSYNC_CHECK(a_storage_serves_one_launch_at_a_time),
      GPUSYNC_CHECK(the_missing_keep_their_names),
      GPUSYNC_CHECK(a_time_out_is_not_forgotten),
  };
  return run_checks(checks, words, word);
}
