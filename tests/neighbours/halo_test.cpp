// Halos on host threads, in both forms.
#include <gtest/gtest.h>

#include <gpusync/neighbours/host.hpp>

#include <atomic>
#include <chrono>

#include "support/halo_chains.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using test::all_ways;
using test::chains_of;
using test::reference;
using test::way;

template <class T, halo_form Form>
void expect_right(const neighbourhood& who, uint32_t threads, uint32_t words, const std::vector<uint32_t>& launches,
                  way how, uint32_t first_step = 0) {
  host_halo_storage<T> storage(who, words, {}, first_step);
  uint32_t steps = 0;
  for (const uint32_t one : launches) steps += one;
  EXPECT_EQ((chains_of<T, Form>(storage, who, threads, launches, how)), reference<T>(who, words, steps))
      << who.blocks() << " x " << threads << ", " << words << " words of " << sizeof(T) << " bytes, form "
      << static_cast<int>(Form) << ", way " << static_cast<int>(how);
}

template <class T>
class Halo : public ::testing::Test {
 public:
  /// In both forms.
  static void right(const neighbourhood& who, uint32_t threads, uint32_t words, const std::vector<uint32_t>& launches,
                    way how, uint32_t first_step = 0) {
    expect_right<T, halo_form::words>(who, threads, words, launches, how, first_step);
    expect_right<T, halo_form::flags>(who, threads, words, launches, how, first_step);
  }
};
using values = ::testing::Types<float, double, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Halo, values);

TYPED_TEST(Halo, BringsEachNeighbourTheWordsOfItsStep) {
  for (const way how : all_ways) {
    for (const uint32_t threads : {1u, 2u, 4u}) {
      for (const uint32_t blocks : {1u, 2u, 3u}) {
        TestFixture::right(neighbourhood::ring(blocks), threads, 3, {15}, how);
        TestFixture::right(neighbourhood::line(blocks), threads, 2, {15}, how);
      }
      TestFixture::right(neighbourhood::of({{1, 3}, {0, 2}, {1}, {0}, {}}), threads, 1, {15}, how);
    }
  }
}

TYPED_TEST(Halo, ServesManySlotsAndWords) {
  for (const way how : all_ways) {
    TestFixture::right(neighbourhood::torus({3, 3}, corners::yes), 1, 5, {6}, how);
    TestFixture::right(neighbourhood::ring(2), 3, 67, {6}, how);  // more than a line
  }
}

TYPED_TEST(Halo, ServesWordsOfSeveralPages) {
  constexpr uint32_t page = detail::halo_argument<TypeParam>::page_words;
  for (const way how : all_ways) {
    for (const uint32_t words : {page - 1, page, page + 1, 2 * page + 3}) {
      TestFixture::right(neighbourhood::ring(2), 2, words, {3, 2}, how, words == page ? 0xfffffffeu : 0);
    }
  }
}

TYPED_TEST(Halo, GoesOnFromLaunchToLaunchAndAcrossTheWrap) {
  for (const way how : {way::several, way::bounded}) {
    for (const uint32_t first : {0u, 1u, 0xfffffffau, 0xffffffffu}) {
      TestFixture::right(neighbourhood::ring(3), 2, 3, {1, 2, 0, 5, 1, 4}, how, first);
    }
  }
}

TYPED_TEST(Halo, ChangesItsFormFromLaunchToLaunch) {
  for (const uint32_t first : {0u, 0xfffffffbu}) {
    const auto who = neighbourhood::ring(3);
    host_halo_storage<TypeParam> storage(who, 3, {}, first);
    std::vector<uint64_t> chains;
    uint32_t steps = 0;
    for (const uint32_t more : {1u, 2u, 3u, 4u, 1u, 1u}) {
      chains = (steps + more) % 3 == 0
                   ? chains_of<TypeParam, halo_form::flags>(storage, who, 2, {more}, way::single, chains)
                   : chains_of<TypeParam, halo_form::words>(storage, who, 2, {more}, way::single, chains);
      steps += more;
      EXPECT_EQ(chains, (reference<TypeParam>(who, 3, steps))) << "step " << steps;
    }
  }
}

TYPED_TEST(Halo, TakesTheFormThatTheRuleSays) {
  const auto who = neighbourhood::ring(3);
  constexpr uint64_t polled = 3 * 2 * 5 * 2 * sizeof(TypeParam);
  for (const bool by_bytes : {false, true}) {
    for (const bool words : {false, true}) {
      halo_rule rule;
      rule.most_polled_bytes = by_bytes && !words ? polled - 1 : polled;
      rule.most_words_a_thread = !by_bytes && !words ? 2 : 3;  // 5 words of 2 threads
      host_halo_storage<TypeParam> storage(who, 5, rule);
      const halo_form expected = words ? halo_form::words : halo_form::flags;
      EXPECT_EQ(storage.form_for(2), expected);
      const auto chains =
          chains_of<TypeParam, halo_form::automatic>(storage, who, 2, {4, 3}, way::several, {}, expected);
      EXPECT_EQ(chains, (reference<TypeParam>(who, 5, 7)));
      if (by_bytes) continue;
      // The same storage, blocks of more threads.
      EXPECT_EQ(storage.form_for(3), halo_form::words);
      const auto more =
          chains_of<TypeParam, halo_form::automatic>(storage, who, 3, {4}, way::several, chains, halo_form::words);
      EXPECT_EQ(more, (reference<TypeParam>(who, 5, 11)));
    }
  }
}

/// What a kernel does that is compiled for each form.
template <class Halo>
void add_up(Halo& halo, uint32_t own, std::atomic<uint32_t>& wrong) {
  for (uint32_t step = 0; step < 10; ++step) {
    halo.put(0, static_cast<typename Halo::value_type>(10 * step + own));
    halo.send();
    halo.receive();
    wrong += halo.get(halo.word(0, 0)) != static_cast<typename Halo::value_type>(10 * step + (own + 2) % 3);
    wrong += halo.get(halo.word(1, 0)) != static_cast<typename Halo::value_type>(10 * step + (own + 1) % 3);
    halo.next();
  }
}

TYPED_TEST(Halo, IsHandedOnInTheFormOfTheLaunch) {
  for (const uint32_t most : {0u, 1u}) {
    halo_rule rule;
    rule.most_words_a_thread = most;
    host_halo_storage<TypeParam> storage(neighbourhood::ring(3), 1, rule);
    const halo_form expected = most == 0 ? halo_form::flags : halo_form::words;
    std::atomic<uint32_t> wrong{0};
    for (int launches = 0; launches < 2; ++launches) {
      launch(
          host_device{}, {3, 1},
          [&](host_halo<TypeParam> halo) {
            halo.in_form([&](auto& fixed) {
              wrong += std::decay_t<decltype(fixed)>::form_of != expected;
              add_up(fixed, host_grid::current().block(), wrong);
            });
          },
          storage.halo());
    }
    EXPECT_EQ(wrong, 0u) << static_cast<int>(expected);
  }
}

TYPED_TEST(Halo, IsNotUsedBesideTheOneThatItWasHandedOnAs) {
  for (const int way : {0, 1, 2, 3, 4}) {
    host_halo_storage<TypeParam> storage(neighbourhood::ring(1), 1);
    EXPECT_THROW(launch(
                     host_device{}, {1, 1},
                     [&](host_halo<TypeParam> halo) {
                       if (way == 4) halo.send();
                       halo.in_form([](auto&) {});
                       if (way == 0) halo.send();
                       if (way == 1) halo.enter();
                       if (way == 2) (void)halo.try_enter();
                       if (way == 3) halo.in_form([](auto&) {});
                     },
                     storage.halo()),
                 invalid_argument)
        << way;
  }
}

TYPED_TEST(Halo, ItsStorageMayBeMoved) {
  const auto who = neighbourhood::ring(3);
  halo_rule rule;
  rule.most_words_a_thread = 1;
  auto first = std::make_unique<host_halo_storage<TypeParam>>(who, 2, rule, 7);
  auto chains = chains_of<TypeParam, halo_form::automatic>(*first, who, 2, {3}, way::single, {}, halo_form::words);
  host_halo_storage<TypeParam> second(std::move(*first));
  first.reset();
  chains = chains_of<TypeParam, halo_form::automatic>(second, who, 1, {3}, way::single, chains, halo_form::flags);
  EXPECT_EQ(chains, (reference<TypeParam>(who, 2, 6)));
  second.reset();
  EXPECT_EQ((chains_of<TypeParam, halo_form::words>(second, who, 2, {5}, way::pairs)),
            (reference<TypeParam>(who, 2, 5)));
}

TEST(HaloValues, MayBeStructsAndPayNoHeedToBits) {
  struct both {
    float x;
    int32_t y;
  };
  host_halo_storage<both> storage(neighbourhood::line(2), 1);
  const auto check = [&](auto form) {
    launch(
        host_device{}, {2, 1},
        [](host_halo<both, decltype(form)::value> halo) {
          const auto own = static_cast<int32_t>(host_grid::current().block());
          for (int32_t step = 0; step < 5; ++step) {
            halo.put(0, {0.5f * static_cast<float>(own), -step});
            halo.send();
            halo.receive();
            const both got = halo.get(halo.word(own == 0 ? 1 : 0, 0)),
                       nobody = halo.get(halo.word(own == 0 ? 0 : 1, 0));
            EXPECT_EQ(got.x, 0.5f * static_cast<float>(1 - own));
            EXPECT_EQ(got.y, -step);
            EXPECT_EQ(nobody.x, 0.0f);
            EXPECT_EQ(nobody.y, 0);
            EXPECT_FALSE(halo.word(own == 0 ? 0 : 1, 0).exists());
            halo.next();
          }
        },
        storage.template halo<decltype(form)::value>());
  };
  check(std::integral_constant<halo_form, halo_form::words>());
  check(std::integral_constant<halo_form, halo_form::flags>());
}

/// A neighbour may be one step ahead, and is not waited for in what needs no word of it.
TEST(HaloSteps, SendingDoesNotWait) {
  const auto check = [&](auto form) {
    host_halo_storage<uint32_t> storage(neighbourhood::ring(2), 1);
    std::atomic<uint32_t> sent{0};
    launch(
        host_device{}, {2, 1},
        [&](host_halo<uint32_t, decltype(form)::value> halo) {
          const uint32_t own = host_grid::current().block();
          for (uint32_t step = 0; step < 10; ++step) {
            // One block at a time goes first, and has sent before the other puts.
            while (sent < 2 * step + (own != step % 2 ? 1 : 0)) std::this_thread::yield();
            halo.put(0, step * 2 + own);
            halo.send();
            ++sent;
            halo.receive();
            EXPECT_EQ(halo.get(halo.word(0, 0)), step * 2 + 1 - own);
            halo.next();
          }
        },
        storage.template halo<decltype(form)::value>());
  };
  check(std::integral_constant<halo_form, halo_form::words>());
  check(std::integral_constant<halo_form, halo_form::flags>());
}

/// A kernel that returns as soon as it has what it wants.
template <halo_form Form>
void leave_out_the_last_next() {
  using halo = host_halo<uint32_t, Form>;
  host_halo_storage<uint32_t> storage(neighbourhood::line(2), 1);
  for (uint32_t launched = 0; launched < 4; ++launched) {
    uint32_t got[2] = {};
    launch(
        host_device{}, {2, 2},
        [&](halo h) {
          const uint32_t own = host_grid::current().block();
          if (host_grid::current().thread() == 0) h.put(0, 10 * launched + own);
          h.send();
          h.receive();
          const uint32_t one = h.get(h.word(own == 0 ? 1 : 0, 0));
          if (host_grid::current().thread() == 0) got[own] = one;
        },
        storage.template halo<Form>());
    EXPECT_EQ(got[0], 10 * launched + 1);
    EXPECT_EQ(got[1], 10 * launched);
  }
}

TEST(HaloSteps, TheLastNextMayBeLeftOut) {
  leave_out_the_last_next<halo_form::words>();
  leave_out_the_last_next<halo_form::flags>();
  leave_out_the_last_next<halo_form::automatic>();
}

TEST(HaloRule, CountsWhatTheGridPolls) {
  halo_rule rule;
  EXPECT_EQ(rule.choose(132, 2, 256, 4, 256), halo_form::words);
  EXPECT_EQ(rule.choose(132, 2, 1025, 4, 256), halo_form::flags) << "five words a thread";
  EXPECT_EQ(rule.choose(132, 2, 1024, 4, 256), halo_form::words) << "four";
  EXPECT_EQ(rule.choose(1056, 8, 256, 4, 256), halo_form::flags) << "17 MB";
  EXPECT_EQ(rule.choose(1056, 2, 256, 4, 256), halo_form::words) << "4.3 MB";
  EXPECT_EQ(rule.choose(1056, 2, 256, 8, 256), halo_form::flags) << "8.7 MB";
  EXPECT_EQ(rule.choose(915, 2, 256, 8, 256), halo_form::words) << "7.496 MB";
  EXPECT_EQ(rule.choose(916, 2, 256, 8, 256), halo_form::flags) << "7.504 MB";
  EXPECT_EQ(rule.choose(528, 8, 64, 4, 512), halo_form::flags) << "eight words a thread in a large grid";
  EXPECT_EQ(rule.choose(528, 4, 64, 8, 512), halo_form::flags) << "four of 8 bytes";
  EXPECT_EQ(rule.choose(528, 4, 64, 4, 512), halo_form::words) << "four";
  EXPECT_EQ(rule.choose(400, 8, 256, 4, 256), halo_form::words) << "not a large one";
  EXPECT_EQ(rule.choose(600, 8, 16, 4, 250), halo_form::flags) << "150,000 threads";
  EXPECT_EQ(rule.choose(599, 8, 16, 4, 250), halo_form::words) << "149,750";
  EXPECT_EQ(rule.choose(600, 7, 16, 4, 250), halo_form::words) << "28 bytes a thread";
}

}  // namespace
}  // namespace gpusync
