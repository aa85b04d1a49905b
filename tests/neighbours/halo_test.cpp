// Halos on host threads, in both forms.
#include <gtest/gtest.h>

#include <gpusync/neighbours/host.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>

#include "support/exchanges_of_neighbours.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using test::meeting;
using test::mixed;
using test::named;
using test::patience;

/// Any bits as a value that compares equal to itself.
template <class T>
T value_from(uint64_t bits) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(static_cast<int64_t>(bits >> 12)) * T(0.37);
  return static_cast<T>(bits);
}
template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// Word `i` that a block whose chain is this puts.
template <class T>
T word_of(uint64_t chain, uint32_t i) {
  return value_from<T>(mixed(chain, i));
}

template <class T>
std::vector<uint64_t> reference(const neighbourhood& who, uint32_t words, uint32_t steps) {
  std::vector<uint64_t> chains(who.blocks());
  for (uint32_t block = 0; block < who.blocks(); ++block) chains[block] = block + 1;
  for (uint32_t step = 0; step < steps; ++step) {
    std::vector<uint64_t> next = chains;
    for (uint32_t block = 0; block < who.blocks(); ++block) {
      for (uint32_t slot = 0; slot < who.slots(); ++slot) {
        const uint32_t other = who.neighbour(block, slot);
        for (uint32_t i = 0; i < words; ++i) {
          next[block] =
              mixed(next[block], bits_of<T>(other == neighbourhood::none ? T() : word_of<T>(chains[other], i)));
        }
      }
    }
    chains = next;
  }
  return chains;
}

enum class way { single, several, pairs, bounded, bounded_pairs, asked, asked_pairs };
constexpr way all_ways[] = {way::single,        way::several, way::pairs,      way::bounded,
                            way::bounded_pairs, way::asked,   way::asked_pairs};

/// Words of a step that a thread has asked for, two by two, before it gets them.
template <class T, halo_form Form>
class asked_of {
  using halo_type = host_halo<T, Form>;

 public:
  /// All words of all neighbours; in either order.
  void ask(halo_type& halo, bool pairs_first) {
    const auto each = [&](auto use) {
      for (uint32_t slot = 0; slot < halo.slots(); ++slot) {
        for (uint32_t i = 0; i < halo.words(); i += 2) use(slot, i);
      }
    };
    const auto ask_pairs = [&] {
      if constexpr (sizeof(T) == 4) {
        each([&](uint32_t slot, uint32_t i) {
          if (i + 1 < halo.words()) pairs_.push_back(halo.ask_pairs({halo.word(slot, i)}));
        });
      }
    };
    if (pairs_first) ask_pairs();
    each([&](uint32_t slot, uint32_t i) { words_.push_back(halo.ask(two(halo, slot, i).from)); });
    if (!pairs_first) ask_pairs();
  }

  void get(halo_type& halo, uint32_t slot, uint32_t i, bool by_pairs, T (&got)[2]) {
    if constexpr (sizeof(T) == 4) {
      if (by_pairs && i + 1 < halo.words()) {
        const halo_word from[1] = {halo.word(slot, i)};
        T both[1][2];
        halo.get_pairs(from, pairs_.at(slot * (halo.words() / 2) + i / 2), both);
        got[0] = both[0][0];
        got[1] = both[0][1];
        return;
      }
    }
    (void)by_pairs;
    halo.get(two(halo, slot, i).from, words_.at(slot * ((halo.words() + 1) / 2) + i / 2), got);
  }

 private:
  struct of_two {
    halo_word from[2];
  };
  static of_two two(halo_type& halo, uint32_t slot, uint32_t i) {
    return {{halo.word(slot, i), i + 1 < halo.words() ? halo.word(slot, i + 1) : halo_word{}}};
  }
  std::vector<typename halo_type::template asked_words<2>> words_;
  std::vector<typename halo_type::template asked_pairs<1>> pairs_;
};

/// Blocks whose threads put words in turn and each get them all. What was not as it should be is counted.
template <class T, halo_form Form>
std::vector<uint64_t> chains_of(host_halo_storage<T>& storage, const neighbourhood& who, uint32_t threads,
                                const std::vector<uint32_t>& launches, way how, std::vector<uint64_t> chains = {},
                                halo_form expected = Form) {
  if (chains.empty()) {
    for (uint32_t block = 0; block < who.blocks(); ++block) chains.push_back(block + 1);
  }
  const bool bounded = how == way::bounded || how == way::bounded_pairs;
  const bool asks = how == way::asked || how == way::asked_pairs;
  const bool by_pairs = how == way::pairs || how == way::bounded_pairs || how == way::asked_pairs;
  std::atomic<uint32_t> other_form{0}, late{0};
  for (const uint32_t steps : launches) {
    std::vector<uint64_t> last = chains;
    launch(
        host_device{}, {who.blocks(), threads},
        [&](host_halo<T, Form> halo) {
          const host_grid grid = host_grid::current();
          const uint32_t own = grid.block(), words = halo.words();
          std::minstd_rand random(own * 37 + grid.thread() + 1);
          uint64_t chain = chains[own];
          if (expected != halo_form::automatic) other_form += halo.form() != expected;
          if ((own + steps) % 2 == 0) halo.enter();
          for (uint32_t step = 0; step < steps; ++step) {
            if (random() % 8 == 0) std::this_thread::yield();
            for (uint32_t i = 0; i < words; i += 2) {
              if ((i / 2 + step) % threads != grid.thread()) continue;
              if (asks && by_pairs && i + 1 < words) {
                halo.put_pair(halo.own_pair(i), word_of<T>(chain, i), word_of<T>(chain, i + 1));
              } else if (asks) {
                halo.put(halo.own(i), word_of<T>(chain, i));
                if (i + 1 < words) halo.put(halo.own(i + 1), word_of<T>(chain, i + 1));
              } else if (by_pairs && i + 1 < words) {
                halo.put_pair(i, word_of<T>(chain, i), word_of<T>(chain, i + 1));
              } else {
                halo.put(i, word_of<T>(chain, i));
                if (i + 1 < words) halo.put(i + 1, word_of<T>(chain, i + 1));
              }
            }
            halo.send();
            asked_of<T, Form> asked;
            if (asks) asked.ask(halo, random() % 2 == 0);
            wait_status status = wait_status::completed;
            if (bounded) {
              status = halo.receive_for(patience);
            } else {
              halo.receive();
            }
            for (uint32_t slot = 0; slot < halo.slots() && status == wait_status::completed; ++slot) {
              for (uint32_t i = 0; i < words; i += 2) {
                const bool two = i + 1 < words;
                T got[2] = {};
                const halo_word from[2] = {halo.word(slot, i), two ? halo.word(slot, i + 1) : halo_word{}};
                if (asks) {
                  asked.get(halo, slot, i, by_pairs, got);
                } else if (how == way::single) {
                  got[0] = halo.get(from[0]);
                  if (two) got[1] = halo.get(from[1]);
                } else if (how == way::several) {
                  halo.get(from, got);
                } else if (how == way::bounded || (bounded && !two)) {
                  status = halo.get_for(from, got, patience);
                  if (status != wait_status::completed) break;
                } else if (two) {
                  const halo_word pairs[1] = {from[0]};
                  T both[1][2];
                  if (bounded) {
                    status = halo.get_pairs_for(pairs, both, patience);
                    if (status != wait_status::completed) break;
                  } else {
                    halo.get_pairs(pairs, both);
                  }
                  got[0] = both[0][0];
                  got[1] = both[0][1];
                } else {
                  got[0] = halo.get(from[0]);
                }
                chain = mixed(chain, bits_of(got[0]));
                if (two) chain = mixed(chain, bits_of(got[1]));
              }
            }
            if (bounded) {
              if (halo.next_for(status) != wait_status::completed) {
                ++late;
                return;
              }
            } else {
              halo.next();
            }
          }
          if (grid.thread() == 0) last[own] = chain;
        },
        storage.template halo<Form>());
    chains = last;
  }
  EXPECT_EQ(other_form, 0u) << "threads that travelled in another form";
  EXPECT_EQ(late, 0u);
  EXPECT_EQ(storage.report(), "");
  return chains;
}

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

// ---- Deadlines ----

template <halo_form Form>
struct of_form {
  using halo = host_halo<double, Form>;
  using storage = host_halo_storage<double>;

  /// A step with deadlines; `words` are put.
  static wait_status step(halo& given, timeout span, uint32_t words = 2) {
    if (host_grid::current().thread() == 0) {
      for (uint32_t i = 0; i < words; ++i) given.put(i, 1.0 + i);
    }
    given.send();
    wait_status status = given.receive_for(span);
    if (status == wait_status::timed_out) return status;
    for (uint32_t slot = 0; slot < given.slots(); ++slot) {
      const halo_word from[2] = {given.word(slot, 0), given.word(slot, 1)};
      double got[2];
      if (status == wait_status::completed) status = given.get_for(from, got, span);
    }
    return given.next_for(status);
  }
};
template <class Form>
class HaloDeadlines : public ::testing::Test {};
using forms = ::testing::Types<of_form<halo_form::words>, of_form<halo_form::flags>>;
TYPED_TEST_SUITE(HaloDeadlines, forms);

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
                EXPECT_EQ(TypeParam::step(halo, patience), wait_status::completed);
              }
              all.of(6 * threads);
              if (own == 2) return;
              for (uint32_t step = 0; step < 6; ++step) {
                if (TypeParam::step(halo, own == 1 || own == 3 ? timeout(30ms) : timeout(patience)) ==
                    wait_status::timed_out) {
                  ++told;
                  return;
                }
              }
            },
            storage.template halo<TypeParam::halo::form_of>());
        EXPECT_EQ(storage.missing(), (named{{2, steps}})) << storage.report();
        EXPECT_EQ(told, 5 * threads);
        EXPECT_NE(storage.report().find("timed out in phase " + std::to_string(steps)), std::string::npos);
      }
    }
  }
}

TYPED_TEST(HaloDeadlines, NameEachOnceInARingOfTwo) {
  typename TypeParam::storage storage(neighbourhood::ring(2), 2);
  launch(
      host_device{}, {2, 2},
      [&](typename TypeParam::halo halo) {
        EXPECT_EQ(TypeParam::step(halo, patience), wait_status::completed);
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
        EXPECT_EQ(halo.receive_for(patience), wait_status::timed_out);
        EXPECT_EQ(halo.get_for(from, got, patience), wait_status::timed_out);
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
            if (TypeParam::step(halo, all || step == 0 ? timeout(patience) : timeout(80ms)) == wait_status::timed_out)
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
        const wait_status status = h.get_for(from, value, grid.thread() == 0 ? timeout(patience) : timeout(30ms));
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

// ---- What is refused ----

template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const invalid_argument& refused) {
    return refused.what();
  }
  return "nothing was refused";
}

template <class Form>
class HaloRefusals : public ::testing::Test {};
TYPED_TEST_SUITE(HaloRefusals, forms);

TYPED_TEST(HaloRefusals, CallsOutOfTurn) {
  using halo = typename TypeParam::halo;
  const auto alone = [](void (*wrong)(halo&)) {
    typename TypeParam::storage storage(neighbourhood::ring(1), 2);
    return refusal([&] {
      launch(
          host_device{}, {1, 1}, [wrong](halo h) { wrong(h); }, storage.template halo<halo::form_of>());
    });
  };
  const std::string words =
      "Block 0 used a halo out of turn. In each step: put() its words, send() once, receive() once, get() the "
      "neighbours' words, next() once.";
  EXPECT_EQ(alone([](halo& h) { h.receive(); }), words);
  EXPECT_EQ(alone([](halo& h) { h.next(); }), words);
  EXPECT_EQ(alone([](halo& h) { (void)h.get(h.word(0, 0)); }), words);
  EXPECT_EQ(alone([](halo& h) { (void)h.next_for(wait_status::completed); }), words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.send();
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.put(0, 1.0);
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.put_pair(0, 1.0, 2.0);
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              (void)h.get(h.word(0, 0));
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.next();
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.receive();
              h.receive();
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.receive();
              h.put(0, 1.0);
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.put(0, 1.0);
              h.put(1, 1.0);
              h.send();
              h.receive();
              (void)h.get(h.word(0, 1));
              h.next();
            }),
            "nothing was refused");
}

TYPED_TEST(HaloRefusals, AGridOfAnotherSizeAndStoragesThatAreGoneOrShared) {
  using halo = typename TypeParam::halo;
  auto storage = std::make_unique<typename TypeParam::storage>(neighbourhood::ring(3), 2);
  for (const uint32_t blocks : {1u, 2u, 4u}) {
    EXPECT_EQ(refusal([&] {
                launch(
                    host_device{}, {blocks, 1}, [](halo) {}, storage->template halo<halo::form_of>());
              }),
              "The grid has " + std::to_string(blocks) +
                  " blocks, but a handle among its arguments says who waits for whom in a grid of 3. Make its storage "
                  "for this grid.");
  }
  EXPECT_NE(refusal([&] {
              launch(
                  host_device{}, {3, 1}, [](halo, halo) {}, storage->template halo<halo::form_of>(),
                  storage->template halo<halo::form_of>());
            }).find("share one storage"),
            std::string::npos);
  auto shared = storage->template halo<halo::form_of>();
  EXPECT_NE(refusal([&] {
              launch(
                  host_device{}, {3, 1}, [&](halo) { shared.put(0, 1.0); }, storage->template halo<halo::form_of>());
            }).find("all threads share"),
            std::string::npos);
  storage.reset();
  EXPECT_NE(refusal([&] {
              launch(
                  host_device{}, {3, 1}, [](halo) {}, shared);
            }).find("has been destroyed"),
            std::string::npos);
}

TEST(HaloStorageRefusals, NoWordsOrTooMany) {
  const auto of = [](uint32_t blocks, uint64_t words) {
    return refusal([=] { host_halo_storage<float> storage(neighbourhood::line(blocks), words); });
  };
  EXPECT_EQ(of(3, 0), "A halo of 3 blocks has 1 to 1431655744 words a block, not 0.");
  EXPECT_EQ(of(3, 1431655745), "A halo of 3 blocks has 1 to 1431655744 words a block, not 1431655745.");
  EXPECT_EQ(of(1 << 20, 4081), "A halo of 1048576 blocks has 1 to 4080 words a block, not 4081.");
  EXPECT_EQ(of(3, ~uint64_t{0}), "A halo of 3 blocks has 1 to 1431655744 words a block, not 18446744073709551615.");
}

/// Who gets no word of a neighbour does not wait for it and overwrites what it has not got: named, and no hang.
TEST(HaloStorageRefusals, AWordThatWasOverwritten) {
  using halo = host_halo<uint64_t, halo_form::words>;
  host_halo_storage<uint64_t> storage(neighbourhood::line(2), 1);
  std::atomic<bool> gone{false};
  EXPECT_EQ(refusal([&] {
              launch(
                  host_device{}, {2, 1},
                  [&](halo h) {
                    const uint32_t own = host_grid::current().block();
                    for (uint64_t step = 0; step < 5; ++step) {
                      h.put(0, step);
                      h.send();
                      h.receive();
                      if (own == 1) {
                        while (!gone) std::this_thread::yield();
                        (void)h.get(h.word(0, 0));
                      }
                      h.next();
                    }
                    gone = true;
                  },
                  storage.halo<halo_form::words>());
            }),
            "Block 1 came too late for a word of a neighbour, which had gone on and overwritten it. In each step of a "
            "halo a block must get() at least one word of each of its neighbours.");
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

TEST(HaloStorageRefusals, AWordThatIsNotThere) {
  using halo = host_halo<uint32_t>;
  host_halo_storage<uint32_t> storage(neighbourhood::line(1), 3);
  for (const auto& [slot, word] : {std::pair{2u, 0u}, {0u, 3u}}) {
    storage.reset();
    EXPECT_NE(refusal([&, slot = slot, word = word] {
                launch(
                    host_device{}, {1, 1}, [&](halo h) { (void)h.word(slot, word); }, storage.halo());
              }).find("asked a halo for slot or word " + std::to_string(slot + word)),
              std::string::npos);
  }
}

TEST(HaloStorageRefusals, AWordThatIsNotThereToBePut) {
  using halo = host_halo<uint32_t>;
  host_halo_storage<uint32_t> storage(neighbourhood::line(2), 3);
  const auto says = [&](auto put, uint32_t word) {
    storage.reset();
    EXPECT_NE(refusal([&] {
                launch(
                    host_device{}, {2, 1},
                    [&](halo h) {
                      if (host_grid::current().block() == 1) put(h, word);
                    },
                    storage.halo());
              }).find("Block 1 asked a halo for slot or word " + std::to_string(word)),
              std::string::npos);
  };
  for (const uint32_t word : {3u, 4u, 6'000'000u, ~0u}) {
    says([](halo& h, uint32_t i) { (void)h.own(i); }, word);
    says([](halo& h, uint32_t i) { (void)h.own_pair(i); }, word);
    says([](halo& h, uint32_t i) { h.put(i, 1); }, word);
    says([](halo& h, uint32_t i) { h.put_pair(i, 1, 2); }, word);
  }
  says([](halo& h, uint32_t i) { (void)h.own_pair(i); }, 1);
  says([](halo& h, uint32_t i) { (void)h.own_pair(i); }, 2);
  says([](halo& h, uint32_t i) { h.put_pair(i, 1, 2); }, 1);  // odd
  says([](halo& h, uint32_t i) { h.put_pair(i, 1, 2); }, 2);  // there is no word 3
}

TEST(HaloRule, CountsWhatTheGridPolls) {
  halo_rule rule;
  EXPECT_EQ(rule.choose(132, 2, 256, 4, 256), halo_form::words);
  EXPECT_EQ(rule.choose(132, 2, 1025, 4, 256), halo_form::flags) << "five words a thread";
  EXPECT_EQ(rule.choose(132, 2, 1024, 4, 256), halo_form::words) << "four";
  EXPECT_EQ(rule.choose(1056, 8, 256, 4, 256), halo_form::flags) << "17 MB";
  EXPECT_EQ(rule.choose(1056, 2, 256, 4, 256), halo_form::words) << "4.3 MB";
  EXPECT_EQ(rule.choose(1056, 2, 256, 8, 256), halo_form::words) << "8.7 MB";
}

}  // namespace
}  // namespace gpusync
