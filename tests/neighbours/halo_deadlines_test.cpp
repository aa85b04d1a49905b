// Deadlines of halos on host threads, in both forms.
#include <gtest/gtest.h>

#include <gpusync/neighbours/host.hpp>

#include <atomic>
#include <chrono>

#include "support/halo_chains.hpp"
#include "support/halo_forms.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using test::chains_of;
using test::meeting;
using test::named;
using test::reference;
using test::way;

template <class Form>
class HaloDeadlines : public ::testing::Test {};
TYPED_TEST_SUITE(HaloDeadlines, test::forms_of_halo);

TYPED_TEST(HaloDeadlines, NameTheNeighbourAndTheStep) {
  for (const uint32_t steps : {0u, 1u, 4u}) {
    for (const uint32_t threads : {1u, 3u}) {
      for (const uint32_t first : {0u, 0xfffffffdu}) {
        typename TypeParam::storage storage(neighbourhood::ring(6), 2, {}, first);
        std::atomic<uint32_t> told{0};
        meeting all;
        launch(
            host_device{}, {6, threads},
            [&](typename TypeParam::halo halo) {
              const uint32_t own = host_grid::current().block();
              for (uint32_t step = 0; step < steps; ++step) {
                EXPECT_EQ(TypeParam::step(halo, test::patience), wait_status::completed);
              }
              all.of(6 * threads);
              if (own == 2) return;
              for (uint32_t step = 0; step < 6; ++step) {
                if (TypeParam::step(halo, own == 1 || own == 3 ? timeout(30ms) : timeout(test::patience)) ==
                    wait_status::timed_out) {
                  ++told;
                  return;
                }
              }
            },
            storage.template halo<TypeParam::halo::form_of>());
        EXPECT_EQ(storage.missing(), (named{{2, steps}})) << storage.report();
        EXPECT_EQ(told, 5 * threads);
        EXPECT_NE(storage.report().find("this halo timed out in phase " + std::to_string(steps)), std::string::npos);
      }
    }
  }
}

TYPED_TEST(HaloDeadlines, NameEachOnceInARingOfTwo) {
  typename TypeParam::storage storage(neighbourhood::ring(2), 2);
  launch(
      host_device{}, {2, 2},
      [&](typename TypeParam::halo halo) {
        EXPECT_EQ(TypeParam::step(halo, test::patience), wait_status::completed);
        if (host_grid::current().block() == 0) return;
        EXPECT_EQ(TypeParam::step(halo, 30ms), wait_status::timed_out);
      },
      storage.template halo<TypeParam::halo::form_of>());
  EXPECT_EQ(storage.missing(), (named{{0, 1}}));
}

TYPED_TEST(HaloDeadlines, AreMetAgainOnceOneWasMet) {
  typename TypeParam::storage storage(neighbourhood::line(2), 2);
  std::atomic<uint32_t> told{0};
  launch(
      host_device{}, {2, 2},
      [&](typename TypeParam::halo halo) {
        if (host_grid::current().block() == 1) return;
        EXPECT_EQ(TypeParam::step(halo, 20ms), wait_status::timed_out);
        const halo_word from[1] = {halo.word(1, 0)};
        double got[1];
        EXPECT_EQ(halo.receive_for(test::patience), wait_status::timed_out);
        EXPECT_EQ(halo.get_for(from, got, test::patience), wait_status::timed_out);
        EXPECT_EQ(halo.next_for(wait_status::completed), wait_status::timed_out);
        EXPECT_EQ(halo.try_enter(), wait_status::timed_out);
        ++told;
      },
      storage.template halo<TypeParam::halo::form_of>());
  EXPECT_EQ(told, 2u);
}

TYPED_TEST(HaloDeadlines, ALostHaloIsRefusedUntilItIsReset) {
  const auto who = neighbourhood::ring(3);
  typename TypeParam::storage storage(who, 2, {}, 0xfffffffe);
  const auto start = [&](bool all) {
    meeting begun;
    launch(
        host_device{}, {3, 1},
        [&](typename TypeParam::halo halo) {
          const wait_status found = halo.try_enter();
          EXPECT_EQ(found, wait_status::completed);
          for (uint32_t step = 0; step < 3; ++step) {
            if (step == 1) begun.of(3);
            if (!all && step == 1 && host_grid::current().block() == 0) return;
            if (TypeParam::step(halo, all || step == 0 ? timeout(test::patience) : timeout(80ms)) ==
                wait_status::timed_out)
              return;
          }
        },
        storage.template halo<TypeParam::halo::form_of>());
  };
  start(false);
  EXPECT_EQ(storage.missing(), (named{{0, 1}}));
  EXPECT_THROW(start(true), broken_barrier);
  storage.reset();
  EXPECT_TRUE(storage.missing().empty());
  EXPECT_NO_THROW(start(true));
  EXPECT_EQ((chains_of<double, TypeParam::halo::form_of>(storage, who, 2, {5}, way::single)),
            (std::vector<uint64_t>(reference<double>(who, 2, 5))));
}

TYPED_TEST(HaloDeadlines, ALateBlockIsToldWhereItEnters) {
  typename TypeParam::storage storage(neighbourhood::line(2), 2);
  std::atomic<bool> lost{false};
  launch(
      host_device{}, {2, 2},
      [&](typename TypeParam::halo halo) {
        const host_grid grid = host_grid::current();
        if (grid.block() == 0) {
          EXPECT_EQ(TypeParam::step(halo, 20ms), wait_status::timed_out);
          if (grid.thread() == 0) lost = true;
        } else {
          while (!lost) std::this_thread::yield();
          EXPECT_EQ(halo.try_enter(), wait_status::timed_out);
          EXPECT_EQ(halo.try_enter(), wait_status::timed_out);
        }
      },
      storage.template halo<TypeParam::halo::form_of>());
  EXPECT_EQ(storage.missing(), (named{{1, 0}}));
}

TYPED_TEST(HaloDeadlines, WaitsWithoutOneEndTheLaunchAfterALoss) {
  for (const bool enters : {false, true}) {
    typename TypeParam::storage storage(neighbourhood::line(4), 2);
    std::atomic<bool> lost{false};
    EXPECT_THROW(launch(
                     host_device{}, {4, 1},
                     [&](typename TypeParam::halo halo) {
                       const uint32_t own = host_grid::current().block();
                       if (own == 0) return;
                       if (own == 1) {
                         (void)TypeParam::step(halo, 20ms);
                         lost = true;
                         return;
                       }
                       if (enters) {
                         while (!lost) std::this_thread::yield();
                         return halo.enter();
                       }
                       for (int step = 0; step < 4; ++step) {
                         halo.put(0, 1.0);
                         halo.send();
                         halo.receive();
                         (void)halo.get(halo.word(0, 0));
                         (void)halo.get(halo.word(1, 0));
                         halo.next();
                       }
                     },
                     storage.template halo<TypeParam::halo::form_of>()),
                 broken_barrier);
    ASSERT_FALSE(storage.missing().empty());
    EXPECT_EQ(storage.missing()[0], (missing_block{0, 0}));
  }
}

/// Of what one thread wants, one word has come and the other has not.
TEST(HaloDeadlinesOfWords, NameANeighbourOfWhichOneWordHasCome) {
  using halo = host_halo<double, halo_form::words>;
  host_halo_storage<double> storage(neighbourhood::of({{1, 2}, {0}, {0}}), 2);
  std::atomic<uint32_t> ready{0};
  launch(
      host_device{}, {3, 1},
      [&](halo h) {
        const uint32_t own = host_grid::current().block();
        if (own != 0) {
          h.put(0, 1.0);
          if (own == 2) h.put(1, 2.0);
          ++ready;
          return;
        }
        while (ready < 2) std::this_thread::yield();
        h.send();
        h.receive();
        const halo_word from[4] = {h.word(0, 0), h.word(0, 1), h.word(1, 0), h.word(1, 1)};
        double got[4];
        const wait_status status = h.get_for(from, got, 20ms);
        EXPECT_EQ(status, wait_status::timed_out);
        EXPECT_EQ(h.next_for(status), wait_status::timed_out);
      },
      storage.halo<halo_form::words>());
  EXPECT_EQ(storage.missing(), (named{{1, 0}}));
}

/// One thread of a block gives up, and all leave.
TEST(HaloDeadlinesOfWords, AreOfAThreadAndEndTheStepOfItsBlock) {
  using halo = host_halo<uint32_t, halo_form::words>;
  host_halo_storage<uint32_t> storage(neighbourhood::line(2), 2);
  std::atomic<uint32_t> left{0}, got{0};
  launch(
      host_device{}, {2, 2},
      [&](halo h) {
        const host_grid grid = host_grid::current();
        if (grid.block() == 0) {
          if (grid.thread() == 0) h.put(0, 7);
          return;
        }
        h.send();
        EXPECT_EQ(h.receive_for(20ms), wait_status::completed);
        const halo_word from[1] = {h.word(0, grid.thread())};
        uint32_t value[1] = {0};
        const wait_status status = h.get_for(from, value, grid.thread() == 0 ? timeout(test::patience) : timeout(30ms));
        EXPECT_EQ(status, grid.thread() == 0 ? wait_status::completed : wait_status::timed_out);
        got += value[0];
        left += h.next_for(status) == wait_status::timed_out;
      },
      storage.halo<halo_form::words>());
  EXPECT_EQ(left, 2u);
  EXPECT_EQ(got, 7u);
  EXPECT_EQ(storage.missing(), (named{{0, 0}}));
}

/// Each thread that gives up claims the report, and a grid has more of them than 16 bits can count.
TEST(HaloDeadlinesOfWords, AreReportedByTheFirstOfAnyNumberOfThreads) {
  using halo = host_halo<uint32_t, halo_form::words>;
  host_halo_storage<uint32_t> storage(neighbourhood::line(3), 1);
  std::atomic<bool> given_up{false}, entered{false};  // who enters behind the loss ends the launch
  launch(
      host_device{}, {3, 1},
      [&](halo h) {
        const uint32_t block = host_grid::current().block();
        if (block == 0) return;
        h.put(0, 7);
        h.send();
        h.receive();
        const halo_word from[2] = {h.word(0, 0), h.word(1, 0)};
        uint32_t both[2];
        if (block == 2) entered.store(true);
        if (block == 1) {
          while (!entered.load()) host_grid::current().pause();
          for (uint32_t i = 0; i < 1u << 16; ++i) EXPECT_EQ(h.get_for(from, both, timeout(0)), wait_status::timed_out);
          given_up.store(true);
          return;
        }
        while (!given_up.load()) host_grid::current().pause();
        (void)h.get(h.word(0, 0));
        h.next();
        h.put(0, 8);
        h.send();
        h.receive();
        EXPECT_EQ(h.get_for(from, both, timeout(0)), wait_status::timed_out);
      },
      storage.halo<halo_form::words>());
  EXPECT_EQ(storage.missing(), (named{{0, 0}}));
}

}  // namespace
}  // namespace gpusync
