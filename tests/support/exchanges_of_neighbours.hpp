// What the tests of neighbour barriers and of halos on host threads share.
#pragma once

#include <gpusync/core/missing_block.hpp>

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
