// Grids of host threads that exchange values as the threads of a GPU's warp do: what computations in registers are
// tested on where there is no GPU. For their results only: a shuffle is some microseconds here.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <gpusync/core/host_memory.hpp>

#include "boundary/four_words.hpp"

namespace gpusync::test {

/// What the threads of one block share.
class exchanging_block {
 public:
  explicit exchanging_block(uint32_t threads) : all_(threads), passed_(2 * threads) {
    for (uint32_t warp = 0; warp < threads / 32; ++warp) warps_.push_back(std::make_unique<std::barrier<>>(32));
  }

  void sync() { all_.arrive_and_wait(); }
  /// Whether one of the threads says so.
  bool sync_or(bool value) {
    if (value) any_ = true;
    sync();
    const bool any = any_;
    sync();
    any_ = false;
    sync();
    return any;
  }

  /// Every thread of the warp leaves a value and takes that of thread `from` of the warp. `turn` counts the thread's
  /// exchanges: two sets of places are used in turn, so that one barrier is enough.
  template <class Value>
  Value exchange(uint32_t thread, uint32_t turn, Value value, uint32_t from) {
    uint64_t* const places = passed_.data() + (turn % 2) * (passed_.size() / 2) + thread / 32 * 32;
    std::memcpy(places + thread % 32, &value, sizeof(value));
    warps_[thread / 32]->arrive_and_wait();
    std::memcpy(&value, places + from, sizeof(value));
    return value;
  }

  /// As much as tests need.
  void* dynamic_shared() { return dynamic_; }

  template <uint32_t Count>
  tool::four_words* words() {
    std::call_once(made_, [this] { words_.resize(Count); });
    return words_.data();
  }

 private:
  std::barrier<> all_;
  std::atomic<bool> any_ = false;
  std::vector<std::unique_ptr<std::barrier<>>> warps_;
  std::vector<uint64_t> passed_;
  std::once_flag made_;
  std::vector<tool::four_words> words_;
  tool::four_words dynamic_[4096] = {};
};

/// A thread's view; the counterpart of cuda_exchange_grid.
class exchanging_grid {
 public:
  using memory = host_memory;
  static constexpr uint32_t warp_size = 32;

  exchanging_grid(uint32_t blocks, uint32_t block, uint32_t threads, uint32_t thread, exchanging_block& shared)
      : blocks_(blocks), block_(block), threads_(threads), thread_(thread), shared_(shared) {}

  uint32_t blocks() const { return blocks_; }
  uint32_t block() const { return block_; }
  uint32_t threads() const { return threads_; }
  uint32_t thread() const { return thread_; }
  void sync_block() const { shared_.sync(); }
  bool sync_block_or(bool value) const { return shared_.sync_or(value); }
  void* dynamic_shared() const { return shared_.dynamic_shared(); }
  uint32_t opaque(uint32_t value) const { return value; }

  template <class Value>
  Value before(Value value) const {
    const uint32_t lane = thread_ % warp_size;
    return shared_.exchange(thread_, turn_++, value, lane == 0 ? 0 : lane - 1);
  }
  template <class Value>
  Value behind(Value value) const {
    const uint32_t lane = thread_ % warp_size;
    return shared_.exchange(thread_, turn_++, value, lane + 1 == warp_size ? lane : lane + 1);
  }
  template <class Value>
  Value from_other_thread(Value value, uint32_t mask) const {
    return shared_.exchange(thread_, turn_++, value, thread_ % warp_size ^ mask);
  }
  template <uint32_t Count>
  tool::four_words* shared_by_block() const {
    return shared_.words<Count>();
  }

 private:
  uint32_t blocks_, block_, threads_, thread_;
  exchanging_block& shared_;
  mutable uint32_t turn_ = 0;
};

/// Calls `body(grid, barrier)` in every thread of `blocks` blocks of `threads` threads (a multiple of 32), which all
/// pass the barrier.
template <class Body>
void on_exchanging_threads(uint32_t blocks, uint32_t threads, const Body& body) {
  std::barrier<> grid_barrier(blocks * threads);
  std::vector<std::unique_ptr<exchanging_block>> shared;
  for (uint32_t block = 0; block < blocks; ++block) shared.push_back(std::make_unique<exchanging_block>(threads));
  std::vector<std::jthread> started;
  for (uint32_t i = 0; i < blocks * threads; ++i) {
    started.emplace_back([&, i] {
      body(exchanging_grid(blocks, i / threads, threads, i % threads, *shared[i / threads]), grid_barrier);
    });
  }
}

/// Whether a computation's steps are a kernel each, or all in one.
enum class kernels { one_for_each_step, one_for_all };

/// Runs all steps of a computation on such threads.
template <class Work>
void run_exchanging(const Work& work, uint32_t blocks, uint32_t threads, kernels how) {
  on_exchanging_threads(blocks, threads, [&](const exchanging_grid& grid, std::barrier<>& grid_barrier) {
    if (how == kernels::one_for_all) {
      typename Work::kept kept = work.load(grid, 0);
      for (uint32_t step = 0; step < work.steps(); ++step) {
        work.step(grid, step, kept);
        grid_barrier.arrive_and_wait();
      }
      work.save(grid, kept);
      return;
    }
    for (uint32_t step = 0; step < work.steps(); ++step) {
      typename Work::kept kept = work.load(grid, step);
      work.step(grid, step, kept);
      work.save(grid, kept);
      grid_barrier.arrive_and_wait();
    }
  });
}

/// The same of one whose steps are split, all in one kernel: blocks arrive behind a step's first half.
template <class Work>
void run_exchanging_split(const Work& work, uint32_t blocks, uint32_t threads) {
  on_exchanging_threads(blocks, threads, [&](const exchanging_grid& grid, std::barrier<>& grid_barrier) {
    typename Work::kept kept = work.load(grid, 0);
    for (uint32_t step = 0; step < work.steps(); ++step) {
      work.first(grid, step, kept);
      grid.sync_block();  // as every barrier's arrive() begins
      auto token = grid_barrier.arrive();
      work.rest(grid, step, kept);
      grid_barrier.wait(std::move(token));
      grid.sync_block();  // and as every wait() ends
    }
    work.save(grid, kept);
  });
}

}  // namespace gpusync::test
