// What tests of barriers across GPUs on host threads share: each GPU is a launch of its own, started by a thread of its
// own.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gpusync/launch/host.hpp>
#include <gpusync/multi_gpu/host.hpp>

#include "support/host_barriers.hpp"

namespace gpusync::test {

using namespace std::chrono_literals;

/// Runs `work(gpu)` for each GPU, each in a thread of its own. What each has thrown, in words; "" if nothing.
inline std::vector<std::string> on_each(uint32_t gpus, const std::function<void(uint32_t)>& work) {
  std::vector<std::string> thrown(gpus);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < gpus; ++i) {
    threads.emplace_back([&, i] {
      try {
        work(i);
      } catch (const std::exception& error) {
        thrown[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

/// What every block writes before a phase and reads of all others behind it.
class board {
 public:
  explicit board(std::vector<uint32_t> blocks) : blocks_(std::move(blocks)) {
    for (const uint32_t count : blocks_) first_.push_back(all_), all_ += count;
    for (auto& half : slots_) half.assign(size_t{all_} * stride, 0);
  }
  void write(uint32_t gpu, uint32_t block, uint32_t phase) { slot(phase, first_[gpu] + block) = phase + 1; }
  uint32_t wrong(uint32_t phase) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < all_; ++i) count += slot(phase, i) == phase + 1 ? 0 : 1;
    return count;
  }

 private:
  static constexpr size_t stride = 16;
  uint32_t& slot(uint32_t phase, uint32_t i) { return slots_[phase % 2][i * stride]; }
  std::vector<uint32_t> blocks_, first_;
  uint32_t all_ = 0;
  std::vector<uint32_t> slots_[2];
};

/// Starts the launch of each GPU: `kernel(barrier, gpu, block)` in each thread of `blocks[gpu]` blocks. GPUs of which
/// there are 0 blocks are not launched. What each has thrown.
template <class Storage>
using gpus_kernel = std::function<void(typename Storage::barrier_type&, uint32_t gpu, uint32_t block)>;
template <class Storage>
std::vector<std::string> launch_on_each(Storage& storage, const std::vector<uint32_t>& blocks, uint32_t threads,
                                        const gpus_kernel<Storage>& kernel) {
  return on_each(static_cast<uint32_t>(blocks.size()), [&](uint32_t gpu) {
    if (blocks[gpu] == 0) return;
    launch(
        host_device{}, {blocks[gpu], threads},
        [&](typename Storage::barrier_type barrier) { kernel(barrier, gpu, host_grid::current().block()); },
        storage.barrier(gpu));
  });
}

/// Phases of one launch on each GPU: the number of slots that a block found old.
template <class Storage>
uint32_t mismatches(Storage& storage, const std::vector<uint32_t>& blocks, uint32_t threads, uint32_t phases,
                    bool split = false) {
  board shared(blocks);
  std::atomic<uint32_t> wrong{0};
  const auto thrown =
      launch_on_each<Storage>(storage, blocks, threads, [&](auto& barrier, uint32_t gpu, uint32_t block) {
        const host_grid grid = host_grid::current();
        for (uint32_t phase = 0; phase < phases; ++phase) {
          if (grid.thread() == grid.threads() - 1) shared.write(gpu, block, phase);
          if (split && (phase + block) % 3 == 0) {
            auto token = barrier.arrive();
            barrier.wait(std::move(token));
          } else {
            barrier.sync();
          }
          if (grid.thread() == 0) wrong += shared.wrong(phase);
        }
      });
  for (const std::string& words : thrown) EXPECT_EQ(words, "");
  return wrong;
}

/// The list of all as a typed suite's, and its names.
using multi_gpu_types = as_gtest_types<multi_gpu::algorithms>::type;

}  // namespace gpusync::test
