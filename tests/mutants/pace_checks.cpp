// Windows: what is counted, who is waited for, and what a storage leaves for the next launch.
#include <gpusync/pace/host.hpp>

#include "check.hpp"

namespace gpusync::test {
namespace {

using places = gpusync::detail::window_places;
using member = gpusync::detail::window_member<scope::device>;

/// A thread whose clock goes on by a microsecond with each look.
struct solo_grid {
  using memory = host_memory;
  static constexpr uint32_t polls_per_look = 2;
  uint64_t* clock;
  uint64_t now() const { return *clock += 1000; }
  void pause() const {}
};

/// One thread's view of a window of two members.
struct seen_alone {
  explicit seen_alone(uint32_t lead_of_it) : lead(lead_of_it) {}
  places at() { return {words, lead, places::slots_for(lead), 1}; }
  wait_status end(member& one) { return one.end_epoch(solo_grid{&clock}, at(), 2, deadline(timeout(5000))); }
  uint32_t lead;
  uint32_t words[16] = {};
  uint64_t clock = 0;
};

void others_may_be_further_than_is_waited_for() {
  seen_alone window(1);
  window.words[0] = 3;  // the other has ended epochs 0 and 2 too, with somebody's help
  member one;
  expect(window.end(one) == wait_status::completed, "a counter that is past its goal ends the wait");
}

void nobody_leads_by_more_than_allowed() {
  for (const uint32_t lead : {1u, 2u, 4u}) {
    seen_alone window(lead);
    member one;
    for (uint32_t epoch = 0; epoch + 1 < lead; ++epoch) {
      expect(window.end(one) == wait_status::completed, "a lead is allowed");
    }
    expect(window.end(one) == wait_status::timed_out, "one that is as far ahead as allowed waits");
  }
}

void who_leaves_takes_back_all_that_it_has_counted() {
  for (uint32_t epochs = 0; epochs < 9; ++epochs) {
    seen_alone window(4);
    member one;
    for (uint32_t epoch = 0; epoch < epochs; ++epoch) one.count_epoch<solo_grid>(window.at());
    one.leave<solo_grid>(window.at());
    for (uint32_t slot = 0; slot < 4; ++slot) expect(window.words[slot] == 0, "a counter is as it was");
    expect(window.words[4] == 1, "it has said that it has left");
  }
}

void who_waits_finds_out_who_has_left() {
  seen_alone window(1);
  member one, other;
  other.leave<solo_grid>(window.at());
  expect(window.end(one) == wait_status::completed, "nobody waits for one that has left");
}

void a_launch_begins_with_counters_of_zero() {
  host_window_storage<pace::strict> storage(1);
  for (int twice = 0; twice < 2; ++twice) {
    launch(
        host_device{}, {1, 1},
        [&](host_grid_window<pace::strict> window) {
          expect(storage.state()[0] == 0, "counters begin at zero");
          window.end_epoch();
        },
        storage.window());
  }
}

void who_has_given_up_waits_no_more() {
  host_window_storage<> storage(1, timeout(1000000));
  launch(
      host_device{}, {2, 1},
      [](host_grid_window<> window) {
        if (host_grid::current().block() == 1) return;
        for (int epoch = 0; epoch < 5; ++epoch) window.end_epoch();
      },
      storage.window());
  expect(storage.given_up() == 1, "a block gives up once");
}

void one_that_has_given_up_is_enough() {
  seen_alone window(1);
  *window.at().given_up() = 1;
  member one;
  expect(window.end(one) == wait_status::timed_out, "there is nobody to keep pace with");
  expect(window.clock < 5000, "its own limit is not waited for");
}

void only_windows_of_best_effort_go_without_residency() {
  using gpusync::detail::handle_header;
  using gpusync::detail::handle_kind;
  handle_header window{handle_header::magic, 1, handle_kind::best_effort_window, 0, 0};
  handle_header barrier{handle_header::magic, 2, handle_kind::whole_grid, 0, 0};
  handle_header strict{handle_header::magic, 3, handle_kind::strict_window, 0, 0};
  gpusync::detail::handle_list none, alone, with_barrier, with_strict;
  alone.add(window);
  with_barrier.add(window);
  with_barrier.add(barrier);
  with_strict.add(strict);
  expect(alone.best_effort(), "a window of best effort goes anywhere");
  expect(!none.best_effort(), "a launch without handles runs as a whole");
  expect(!with_barrier.best_effort(), "a barrier beside it needs all blocks");
  expect(!with_strict.best_effort(), "a strict window needs all blocks");
}

constexpr named_check checks[] = {
    GPUSYNC_CHECK(others_may_be_further_than_is_waited_for),
    GPUSYNC_CHECK(nobody_leads_by_more_than_allowed),
    GPUSYNC_CHECK(who_leaves_takes_back_all_that_it_has_counted),
    GPUSYNC_CHECK(who_waits_finds_out_who_has_left),
    GPUSYNC_CHECK(a_launch_begins_with_counters_of_zero),
    GPUSYNC_CHECK(who_has_given_up_waits_no_more),
    GPUSYNC_CHECK(one_that_has_given_up_is_enough),
    GPUSYNC_CHECK(only_windows_of_best_effort_go_without_residency),
};

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  return gpusync::test::run_checks(gpusync::test::checks, words, word);
}
