// Chains of what blocks put into a halo and get, on host threads: each step's words hang on all of the step before.
#pragma once

#include <gtest/gtest.h>

#include <gpusync/neighbours/host.hpp>

#include <atomic>
#include <cstring>
#include <random>
#include <vector>

#include "support/exchanges_of_neighbours.hpp"

namespace gpusync::test {

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
  return chains_after(who, steps, [words](uint64_t chain, const uint64_t* other) {
    for (uint32_t i = 0; i < words; ++i)
      chain = mixed(chain, bits_of<T>(other == nullptr ? T() : word_of<T>(*other, i)));
    return chain;
  });
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

}  // namespace gpusync::test
