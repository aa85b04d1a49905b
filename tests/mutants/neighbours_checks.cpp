// Neighbours: who is waited for, who is named, which form a halo takes, and what a launch leaves to the next.
#include <gpusync/neighbours/host.hpp>

#include <chrono>
#include <string>
#include <thread>

#include "check.hpp"

namespace gpusync::test {
namespace {

using namespace std::chrono_literals;
using barrier = host_neighbour_barrier;
using named = std::vector<missing_block>;
constexpr auto patience = 10s;

void neighbours_are_mutual() {
  bool refused = false;
  try {
    (void)neighbourhood::of({{1}, {0, 2}, {3}, {2}});
  } catch (const invalid_argument&) {
    refused = true;
  }
  expect(refused, "a list that is not mutual is refused");
}

void one_thread_waits_for_all_its_neighbours() {
  host_neighbour_storage storage(neighbourhood::of({{1, 2, 3}, {0}, {0}, {0}}));
  std::atomic<bool> arrived[4] = {};
  launch(
      host_device{}, {4, 1},
      [&](barrier b) {
        const uint32_t own = host_grid::current().block();
        if (own == 3) std::this_thread::sleep_for(30ms);
        arrived[own] = true;
        b.sync();
        if (own != 0) return;
        for (const auto& one : arrived) expect(one, "a phase ends when all neighbours have arrived");
      },
      storage.barrier());
}

/// Of two blocks the first waits, and the second does not come: what the report names.
named who_is_missing(const neighbourhood& who, uint32_t first_phase = 0) {
  host_neighbour_storage storage(who, first_phase);
  launch(
      host_device{}, {2, 1},
      [](barrier b) {
        if (host_grid::current().block() == 0) (void)b.sync_for(10ms);
      },
      storage.barrier());
  return storage.missing();
}

void the_missing_are_named_once() {
  expect(who_is_missing(neighbourhood::ring(2)) == (named{{1, 0}}), "a neighbour in two slots is named once");
}

void one_that_has_gone_on_is_not_missing() {
  host_neighbour_storage storage(neighbourhood::of({{1, 2}, {0}, {0}}));
  std::atomic<bool> over{false}, on{false};
  launch(
      host_device{}, {3, 1},
      [&](barrier b) {
        const uint32_t own = host_grid::current().block();
        if (own == 2) return;
        if (own == 1) {
          (void)b.sync_for(patience);  // block 0 has arrived
          auto token = b.arrive();
          on = true;
          while (!over) std::this_thread::yield();
          (void)b.wait_for(std::move(token), patience);
          return;
        }
        auto token = b.arrive();
        while (!on) std::this_thread::yield();
        (void)b.wait_for(std::move(token), 10ms);
        over = true;
      },
      storage.barrier());
  expect(storage.missing() == (named{{2, 0}}), "who is in the next phase is not missing in this one");
}

void who_never_came_has_not_started_at_the_wrap() {
  for (const uint32_t first : {0xfffffffeu, 0xffffffffu}) {
    const named missing = who_is_missing(neighbourhood::line(2), first);
    expect(missing.size() == 1 && missing.front().block == 1 && !missing.front().started,
           "who has never been seen has not started");
  }
}

void a_grid_of_another_size_is_refused() {
  host_neighbour_storage storage(neighbourhood::ring(3));
  for (const uint32_t blocks : {2u, 4u}) {
    bool refused = false;
    try {
      launch(
          host_device{}, {blocks, 1}, [](barrier) {}, storage.barrier());
    } catch (const invalid_argument&) {
      refused = true;
    }
    expect(refused, "who waits for whom is said for grids of one size");
  }
}

void the_rule_chooses_the_form() {
  for (const halo_form wanted : {halo_form::words, halo_form::flags}) {
    halo_rule rule;
    rule.most_words_a_thread = wanted == halo_form::words ? 2 : 1;
    host_halo_storage<float> storage(neighbourhood::ring(1), 2, rule);
    launch(
        host_device{}, {1, 1},
        [wanted](host_halo<float> halo) { expect(halo.form() == wanted, "a launch takes the form of the rule"); },
        storage.halo());
  }
}

void a_launch_begins_where_the_last_one_ended() {
  host_halo_storage<uint32_t> storage(neighbourhood::ring(2), 1);
  for (uint32_t round = 0; round < 4; ++round) {
    launch(
        host_device{}, {2, 1},
        [round](host_halo<uint32_t, halo_form::words> halo) {
          const uint32_t own = host_grid::current().block();
          if (own == 1) std::this_thread::sleep_for(10ms);
          halo.put(0, 10 * round + own);
          halo.send();
          halo.receive();
          expect(halo.get(halo.word(0, 0)) == 10 * round + 1 - own, "a word is of its own launch");
          halo.next();
        },
        storage.halo<halo_form::words>());
  }
}

void words_of_a_second_page_are_as_others() {
  constexpr uint32_t page = detail::halo_argument<uint32_t>::page_words, count = page + 1;
  host_halo_storage<uint32_t> storage(neighbourhood::ring(2), count);
  launch(
      host_device{}, {2, 1},
      [](host_halo<uint32_t, halo_form::words> halo) {
        const uint32_t own = host_grid::current().block();
        for (uint32_t step = 0; step < 4; ++step) {
          for (uint32_t i = 0; i < count; ++i) halo.put(i, 1000 * step + 2 * i + own);
          halo.send();
          halo.receive();
          for (uint32_t i = 0; i < count; ++i) {
            const halo_word from[1] = {halo.word(0, i)};
            uint32_t got[1];
            const wait_status status = halo.get_for(from, got, 1s);
            expect(status == wait_status::completed, "every word comes");
            expect(got[0] == 1000 * step + 2 * i + 1 - own, "every word is the one that was put there");
          }
          halo.next();
        }
      },
      storage.halo<halo_form::words>());
}

/// What block 0 of a line of two gets in its first step, if block 1 puts so many of its two words and leaves.
wait_status first_step(host_halo_storage<double>& storage, uint32_t words) {
  wait_status found{};
  std::atomic<bool> put{false};
  launch(
      host_device{}, {2, 1},
      [&](host_halo<double, halo_form::words> halo) {
        if (host_grid::current().block() == 1) {
          for (uint32_t i = 0; i < words; ++i) halo.put(i, 1.0);
          put = true;
          return;
        }
        while (!put) std::this_thread::yield();
        halo.send();
        halo.receive();
        const halo_word from[2] = {halo.word(1, 0), halo.word(1, 1)};
        double got[2];
        found = halo.get_for(from, got, 10ms);
        (void)halo.next_for(found);
      },
      storage.halo<halo_form::words>());
  return found;
}

void the_first_word_behind_the_wrap_is_waited_for() {
  host_halo_storage<double> storage(neighbourhood::line(2), 2, {}, ~0u);
  expect(first_step(storage, 0) == wait_status::timed_out, "what nobody has put is not there");
}

void a_neighbour_of_which_one_word_has_come_is_missing() {
  host_halo_storage<double> storage(neighbourhood::line(2), 2);
  expect(first_step(storage, 1) == wait_status::timed_out, "one word of two is not enough");
  expect(storage.missing() == (named{{1, 0}}), "whose word is missing is named");
}

void a_late_block_is_told_where_it_enters() {
  host_halo_storage<double> storage(neighbourhood::line(2), 2);
  std::atomic<bool> lost{false};
  launch(
      host_device{}, {2, 1},
      [&](host_halo<double> halo) {
        if (host_grid::current().block() == 0) {
          halo.send();
          const halo_word from[1] = {halo.word(1, 0)};
          double got[1];
          wait_status status = halo.receive_for(10ms);
          if (status == wait_status::completed) status = halo.next_for(halo.get_for(from, got, 10ms));
          expect(status == wait_status::timed_out, "nobody has come");
          lost = true;
          return;
        }
        while (!lost) std::this_thread::yield();
        expect(halo.try_enter() == wait_status::timed_out, "a step has been given up");
      },
      storage.halo());
}

void a_word_that_was_overwritten_ends_the_launch() {
  host_halo_storage<uint64_t> storage(neighbourhood::line(2), 1);
  std::atomic<bool> gone{false};
  std::string words;
  try {
    launch(
        host_device{}, {2, 1},
        [&](host_halo<uint64_t, halo_form::words> halo) {
          const uint32_t own = host_grid::current().block();
          for (uint64_t step = 0; step < 3; ++step) {
            halo.put(0, step);
            halo.send();
            halo.receive();
            if (own == 1) {
              while (!gone) std::this_thread::yield();
              (void)halo.get(halo.word(0, 0));
            }
            halo.next();
          }
          gone = true;
        },
        storage.halo<halo_form::words>());
  } catch (const invalid_argument& refused) {
    words = refused.what();
  }
  expect(words.find("overwritten") != std::string::npos, "who does not look at a neighbour is found out");
}

void a_word_that_is_not_there_is_not_put() {
  host_halo_storage<uint32_t> storage(neighbourhood::line(2), 3);
  for (const bool as_pair : {false, true}) {
    storage.reset();
    std::string words;
    try {
      launch(
          host_device{}, {2, 1},
          [&](host_halo<uint32_t> halo) {
            if (host_grid::current().block() == 1) return;
            if (as_pair) {
              halo.put_pair(2, 1, 2);
            } else {
              halo.put(3, 1);
            }
          },
          storage.halo());
    } catch (const invalid_argument& refused) {
      words = refused.what();
    }
    expect(words.find("which it does not have") != std::string::npos, "a put behind a block's words is refused");
  }
}

void what_was_asked_for_too_early_is_waited_for() {
  host_halo_storage<uint32_t> storage(neighbourhood::line(2), 2);
  std::atomic<bool> asked{false};
  launch(
      host_device{}, {2, 1},
      [&](host_halo<uint32_t, halo_form::words> halo) {
        const uint32_t own = host_grid::current().block();
        const halo_word from[1] = {halo.word(1 - own, 0)};
        halo.enter();
        if (own == 1) {
          while (!asked) std::this_thread::yield();
          std::this_thread::sleep_for(10ms);
        }
        halo.put_pair(halo.own_pair(0), 7 + own, 9 + own);
        halo.send();
        auto early = halo.ask_pairs(from);
        asked = true;
        halo.receive();
        uint32_t got[1][2];
        halo.get_pairs(from, early, got);
        expect(got[0][0] == 8 - own && got[0][1] == 10 - own, "what had not come when it was asked for is waited for");
        halo.next();
      },
      storage.halo<halo_form::words>());
}

void a_place_that_is_not_there_is_not_told() {
  host_halo_storage<uint32_t> storage(neighbourhood::line(1), 3);
  for (const bool as_pair : {false, true}) {
    storage.reset();
    std::string words;
    try {
      launch(
          host_device{}, {1, 1},
          [&](host_halo<uint32_t> halo) {
            if (as_pair) {
              (void)halo.own_pair(1);
            } else {
              (void)halo.own(3);
            }
          },
          storage.halo());
    } catch (const invalid_argument& refused) {
      words = refused.what();
    }
    expect(words.find("which it does not have") != std::string::npos, "an own word behind a block's words is refused");
  }
}

constexpr named_check checks[] = {
    GPUSYNC_CHECK(neighbours_are_mutual),
    GPUSYNC_CHECK(one_thread_waits_for_all_its_neighbours),
    GPUSYNC_CHECK(the_missing_are_named_once),
    GPUSYNC_CHECK(one_that_has_gone_on_is_not_missing),
    GPUSYNC_CHECK(who_never_came_has_not_started_at_the_wrap),
    GPUSYNC_CHECK(a_grid_of_another_size_is_refused),
    GPUSYNC_CHECK(the_rule_chooses_the_form),
    GPUSYNC_CHECK(a_launch_begins_where_the_last_one_ended),
    GPUSYNC_CHECK(the_first_word_behind_the_wrap_is_waited_for),
    GPUSYNC_CHECK(a_neighbour_of_which_one_word_has_come_is_missing),
    GPUSYNC_CHECK(a_late_block_is_told_where_it_enters),
    GPUSYNC_CHECK(words_of_a_second_page_are_as_others),
    GPUSYNC_CHECK(a_word_that_was_overwritten_ends_the_launch),
    GPUSYNC_CHECK(a_word_that_is_not_there_is_not_put),
    GPUSYNC_CHECK(what_was_asked_for_too_early_is_waited_for),
    GPUSYNC_CHECK(a_place_that_is_not_there_is_not_told),
};

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  return gpusync::test::run_checks(gpusync::test::checks, words, word);
}
