// What the contract tests of grid barriers on host threads share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "support/host_barriers.hpp"

namespace gpusync::test {

using namespace std::chrono_literals;

template <class Algorithm>
class HostBarrierTest : public ::testing::Test {
 public:
  using barrier = basic_grid_barrier<Algorithm, host_grid>;
  using storage = host_barrier_storage<Algorithm>;

  using dropping_barrier = basic_grid_barrier<Algorithm, host_grid, dropping_blocks>;
  using part_barrier = basic_grid_barrier<Algorithm, host_grid, block_range>;

  static constexpr uint32_t never_leaves = ~0u;
  /// Longer than any test takes: a wait that would hang fails instead.
  static constexpr auto patience = 20s;

  struct outcome {
    uint32_t early = 0;      ///< times that a thread was released before another had arrived
    uint32_t timed_out = 0;  ///< threads that lost patience
    bool operator==(const outcome& other) const { return early == other.early && timed_out == other.timed_out; }
  };

  /// Every thread writes its own word, then reads every other thread's word, in each of `phases` phases. The words are
  /// atomic and relaxed here, so that also a barrier that orders no data must pass: what is tested is the waiting.
  static uint64_t early_releases(storage& memory, launch_shape shape, uint32_t phases) {
    const auto threads = static_cast<uint32_t>(shape.threads.count());
    std::vector<uint32_t> slots(shape.blocks.count() * threads, 0);
    uint64_t early = 0;
    launch(
        host_device{}, shape,
        [&](barrier b) {
          const auto grid = host_grid::current();
          const uint32_t own = grid.block() * threads + grid.thread();
          std::minstd_rand random(own + 1);
          for (uint32_t phase = 1; phase <= phases; ++phase) {
            if (random() % 8 == 0) std::this_thread::yield();
            __atomic_store_n(&slots[own], phase, __ATOMIC_RELAXED);
            b.sync();
            for (const uint32_t& slot : slots) {
              if (__atomic_load_n(&slot, __ATOMIC_RELAXED) < phase) __atomic_fetch_add(&early, 1, __ATOMIC_RELAXED);
            }
          }
        },
        memory.barrier());
    return early;
  }

  /// The same with blocks that drop out: block i takes part in the phases 1 to last[i], and drops in that, or in all
  /// `phases`. Every third phase is split into arriving and waiting.
  static outcome with_drops(storage& memory, const std::vector<uint32_t>& last, uint32_t threads, uint32_t phases) {
    const auto blocks = static_cast<uint32_t>(last.size());
    std::vector<uint32_t> slots(size_t{blocks} * threads, 0);
    outcome seen;
    launch(
        host_device{}, {blocks, threads},
        [&](dropping_barrier b) {
          const auto grid = host_grid::current();
          const uint32_t own = grid.block() * threads + grid.thread();
          std::minstd_rand random(own + 1);
          for (uint32_t phase = 1; phase <= phases; ++phase) {
            if (random() % 8 == 0) std::this_thread::yield();
            __atomic_store_n(&slots[own], phase, __ATOMIC_RELAXED);
            if constexpr (Algorithm::order != ordering::none) {  // without ordering nobody can drop: all stay
              if (phase == last[grid.block()]) return b.arrive_and_drop();
            }
            wait_status status = wait_status::completed;
            if (phase % 3 == 0) {
              auto token = b.arrive();
              status = b.wait_for(std::move(token), patience);
            } else {
              status = b.sync_for(patience);
            }
            if (status == wait_status::timed_out) {
              __atomic_fetch_add(&seen.timed_out, 1, __ATOMIC_RELAXED);
              return;
            }
            for (uint32_t i = 0; i < slots.size(); ++i) {
              const uint32_t expected = std::min(phase, last[i / threads]);
              if (__atomic_load_n(&slots[i], __ATOMIC_RELAXED) < expected) {
                __atomic_fetch_add(&seen.early, 1, __ATOMIC_RELAXED);
              }
            }
          }
        },
        memory.dropping_barrier());
    return seen;
  }
};

template <class Outcome>
void expect_clean(const Outcome& seen) {
  EXPECT_EQ(seen.early, 0u);
  EXPECT_EQ(seen.timed_out, 0u);
}

}  // namespace gpusync::test
