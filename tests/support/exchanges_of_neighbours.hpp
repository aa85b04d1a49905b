// What the tests of neighbour barriers and of halos on host threads share.
#pragma once

#include <gpusync/core/missing_block.hpp>
#include <gpusync/neighbours/neighbourhood.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace gpusync::test {

/// Longer than any test takes: a wait that would hang fails instead.
constexpr auto patience = std::chrono::seconds(20);

/// A block's chain, once it has taken in a word of a neighbour.
inline uint64_t mixed(uint64_t chain, uint64_t with) {
  return (chain ^ with) * 0x9e3779b97f4a7c15u + 0x7f4a7c15u;
}

/// What each block's chain is after so many steps, in each of which it takes in what its neighbours' were after the one
/// before: `taken_in(chain, other)` is the chain then, `other` null for a slot without a neighbour.
template <class TakenIn>
std::vector<uint64_t> chains_after(const neighbourhood& who, uint32_t steps, const TakenIn& taken_in) {
  std::vector<uint64_t> chains(who.blocks());
  for (uint32_t block = 0; block < who.blocks(); ++block) chains[block] = block + 1;
  for (uint32_t step = 0; step < steps; ++step) {
    std::vector<uint64_t> next = chains;
    for (uint32_t block = 0; block < who.blocks(); ++block) {
      for (uint32_t slot = 0; slot < who.slots(); ++slot) {
        const uint32_t other = who.neighbour(block, slot);
        next[block] = taken_in(next[block], other == neighbourhood::none ? nullptr : &chains[other]);
      }
    }
    chains = next;
  }
  return chains;
}

using named = std::vector<missing_block>;

/// All threads of a launch meet, beside what is tested: on a machine with much else to do, some begin late.
struct meeting {
  std::atomic<uint32_t> there{0};
  void of(uint32_t threads) {
    ++there;
    while (there < threads) std::this_thread::yield();
  }
};

}  // namespace gpusync::test
