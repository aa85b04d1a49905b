// Dependency counters: what they refuse, what they remember, and what they say when nobody comes. What they order is
// the explorer's to find out.
#include <gpusync/neighbours/dependency_counters_host.hpp>

#include <functional>
#include <string>
#include <typeinfo>
#include <vector>

#include "check.hpp"

namespace gpusync::test {
namespace {

using counters = host_dependency_counters;
using storage = host_dependency_counter_storage;
/// One whose report can be got at.
struct open_storage : storage {
  using storage::log;
  using storage::storage;
};
using kernel_type = std::function<void(counters&, uint32_t block)>;

constexpr timeout soon{2'000'000}, late{60'000'000'000};

void run(storage& on, uint32_t blocks, const kernel_type& kernel, uint32_t threads = 1) {
  launch(
      host_device{}, {blocks, threads}, [&](counters c) { kernel(c, host_grid::current().block()); }, on.counters());
}
/// The words of what a launch throws, if it is an Error and nothing derived from it.
template <class Error>
std::string thrown(storage& on, uint32_t blocks, const kernel_type& kernel) {
  try {
    run(on, blocks, kernel);
  } catch (const std::exception& failure) {
    return typeid(failure) == typeid(Error) ? failure.what() : "another error";
  }
  return "nothing";
}

void a_surplus_publish_is_named() {
  storage on(1, {1});
  expect(thrown<invalid_argument>(on, 1,
                                  [](counters& c, uint32_t) {
                                    c.publish(0);
                                    c.publish(0);
                                    c.next_epoch();
                                  }) == misuse_in_words(misuse::surplus_publish, 0, 0),
         "a publish too many ends the launch");
}

void a_publish_behind_an_incomplete_epoch_is_named() {
  storage on(1, {2});
  const kernel_type once = [](counters& c, uint32_t) {
    c.publish(0);
    c.next_epoch();
  };
  run(on, 1, once);
  expect(thrown<invalid_argument>(on, 1, once) == misuse_in_words(misuse::incomplete_epoch, 0, 0),
         "an epoch that was left incomplete ends the next launch");
}

void a_counter_that_does_not_exist_is_named() {
  storage on(1, {1, 1});
  const std::string words = misuse_in_words(misuse::unknown_counter, 0, 2);
  expect(thrown<invalid_argument>(on, 1, [](counters& c, uint32_t) { c.publish(2); }) == words, "by publish()");
  on.reset();
  expect(thrown<invalid_argument>(on, 1, [](counters& c, uint32_t) { (void)c.await_for(2, soon); }) == words,
         "by await()");
}

void lists_may_be_longer_than_a_block() {
  storage on(1, {1, 1, 1});
  const uint32_t all[] = {0, 1, 2};
  run(
      on, 1,
      [&](counters& c, uint32_t) {
        c.publish(all, 3);
        for (const uint32_t each : all) {
          expect(c.await_for(each, soon) == wait_status::completed, "all of a list are published to");
        }
      },
      2);
  storage incomplete(1, {0, 0, 1});
  run(
      incomplete, 1,
      [&](counters& c, uint32_t) {
        expect(c.await_for(all, 3, soon) == wait_status::timed_out, "all of a list are awaited");
      },
      2);
}

void a_launch_goes_on_where_the_last_one_ended() {
  storage on(1, {1});
  for (uint32_t launch = 0; launch < 3; ++launch) {
    run(on, 1, [launch](counters& c, uint32_t) {
      expect(c.epoch() == 2 * launch, "a launch begins an epoch");
      c.publish(0);
      c.next_epoch();
      expect(c.epoch() == 2 * launch + 1, "and next_epoch() another");
      c.publish(0);
    });
  }
}

void a_loss_stays_a_loss() {
  storage on(2, {1, 0});
  run(on, 2, [](counters& c, uint32_t block) {
    if (block == 1) return;
    expect(c.await_for(0, soon) == wait_status::timed_out, "nobody comes");
    expect(c.await_for(1, soon) == wait_status::timed_out, "what was given up stays so");
    expect(c.publish_for(0, soon) == wait_status::timed_out, "also for publishes");
  });
  expect(thrown<broken_barrier>(on, 2, [](counters&, uint32_t) {}) == on.report(), "no launch follows it");
}

/// As a launch that was queued before the loss: the host does not see it.
void a_first_call_meets_the_loss() {
  open_storage on(1, {0, 1});
  run(on, 1, [](counters& c, uint32_t) { (void)c.await_for(1, soon); });
  std::memset(static_cast<void*>(on.log().report), 0, sizeof(timeout_report));
  run(on, 1, [](counters& c, uint32_t) {
    expect(c.await_for(0, soon) == wait_status::timed_out, "a loss is met by the first call of a later launch");
  });
}

void a_report_counts_epochs_of_its_launch() {
  storage on(2, {2}, {{0, 1}}, counter_spacing::automatic, 77);
  run(on, 2, [](counters& c, uint32_t block) {
    c.publish(0);
    c.next_epoch();
    if (block == 1) return;
    c.publish(0);
    expect(c.await_for(0, soon) == wait_status::timed_out, "one publish is missing");
  });
  const auto missed = on.missed();
  expect(missed && missed->epoch == 1 && missed->published == 1 && missed->expected == 2, "1 of 2 in epoch 1");
}

void who_has_gone_on_is_not_missing() {
  storage on(3, {3}, {{0, 1, 2}});
  std::atomic<bool> gone_on{false};
  run(on, 3, [&](counters& c, uint32_t block) {
    if (block == 1) {
      c.publish(0);
      c.next_epoch();
      gone_on = true;
    } else if (block == 0) {
      while (!gone_on) sched_yield();
      c.publish(0);
      expect(c.await_for(0, soon) == wait_status::timed_out, "block 2 never publishes");
    }
  });
  expect(on.missing() == std::vector<missing_block>({{0, 0}, {2, 0}}), "block 1 is in a later epoch");
  expect(on.missing().size() == 2 && on.missing()[0].started && !on.missing()[1].started, "block 2 was never seen");
}

void a_grid_has_as_many_blocks_as_its_counters() {
  storage on(2, {1});
  for (const uint32_t blocks : {1u, 3u}) {
    expect(thrown<invalid_argument>(on, blocks, [](counters&, uint32_t) {}).find("2") != std::string::npos,
           "another number of blocks is refused");
  }
}

void a_reset_storage_is_as_new() {
  storage on(1, {2, 1}, {{0}, {0}}, counter_spacing::packed, 5);
  for (uint32_t i = 0; i < 2; ++i) {
    run(on, 1, [](counters& c, uint32_t) {
      expect(c.epoch() == 5, "epochs begin anew");
      c.publish(0);
      c.publish(1);
      expect(c.await_for(1, late) == wait_status::completed, "a counter is where its epoch begins");
      expect(c.await_for(0, soon) == wait_status::timed_out, "so is another");
    });
    on.reset();
  }
}

constexpr named_check checks[] = {
    GPUSYNC_CHECK(a_surplus_publish_is_named),
    GPUSYNC_CHECK(a_publish_behind_an_incomplete_epoch_is_named),
    GPUSYNC_CHECK(a_counter_that_does_not_exist_is_named),
    GPUSYNC_CHECK(lists_may_be_longer_than_a_block),
    GPUSYNC_CHECK(a_launch_goes_on_where_the_last_one_ended),
    GPUSYNC_CHECK(a_loss_stays_a_loss),
    GPUSYNC_CHECK(a_first_call_meets_the_loss),
    GPUSYNC_CHECK(a_report_counts_epochs_of_its_launch),
    GPUSYNC_CHECK(who_has_gone_on_is_not_missing),
    GPUSYNC_CHECK(a_grid_has_as_many_blocks_as_its_counters),
    GPUSYNC_CHECK(a_reset_storage_is_as_new),
};

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  return gpusync::test::run_checks(gpusync::test::checks, words, word);
}
