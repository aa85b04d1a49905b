// Kernels that show whether a grid barrier keeps what it promises.
#pragma once

#include <gpusync/gpusync.cuh>

namespace gpusync::test {

template <class Algorithm>
using barrier_of = basic_grid_barrier<Algorithm, cuda_grid>;
template <class Algorithm>
using part_of = basic_grid_barrier<Algorithm, cuda_grid, block_range>;
template <class Algorithm>
using dropping_of = basic_grid_barrier<Algorithm, cuda_grid, dropping_blocks>;

__device__ inline uint32_t random_next(uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 16;
}

/// Sometimes, makes a block or a warp late by up to about two microseconds.
__device__ inline void dawdle(uint32_t& state) {
  if (random_next(state) % 8 != 0) return;
  const long long until = clock64() + random_next(state) % 4096;
  while (clock64() < until) {
  }
}

/// Whether a block's announcement `slot` is older than `phase`.
__device__ inline bool before_phase(const uint32_t* slot, uint32_t phase) {
  return static_cast<int32_t>(cuda_memory::load<memory_order::relaxed, scope::device>(slot) - phase) < 0;
}

/// What is written in word `index` in a phase.
__device__ inline uint32_t word_of(uint32_t phase, uint32_t index) {
  return phase * 31 + index;
}

/// Every block announces its phase, and after the barrier one thread per block looks at all announcements. They are
/// atomic and relaxed, so that also a barrier that orders no data must pass: what is tested is the waiting.
template <class Algorithm>
__global__ void waits(barrier_of<Algorithm> barrier, uint32_t* slots, uint32_t* early, uint32_t first,
                      uint32_t phases) {
  const cuda_grid grid;
  uint32_t random = grid.block() * 747796405u + 1;
  for (uint32_t phase = first + 1; phase <= first + phases; ++phase) {
    if (grid.thread() == grid.threads() - 1) {
      dawdle(random);
      cuda_memory::store<memory_order::relaxed, scope::device>(slots + grid.block(), phase);
      // Relaxed stores may still be on their way when an unordered barrier opens: only the test needs this fence.
      if (!orders_data(Algorithm::order)) cuda_memory::fence<scope::device>();
    }
    barrier.sync();
    for (uint32_t b = grid.thread(); b < grid.blocks(); b += grid.threads()) {
      if (before_phase(slots + b, phase)) atomicAdd(early, 1u);
    }
  }
}

/// Plain data: every thread writes three words, and reads those of the same thread in two other blocks after the
/// barrier.
template <class Algorithm>
__global__ void publishes(barrier_of<Algorithm> barrier, uint32_t* halves, uint32_t* wrong, uint32_t phases,
                          bool split) {
  const cuda_grid grid;
  const uint32_t words = 3;
  const uint32_t all = grid.blocks() * grid.threads() * words;
  uint32_t random = grid.block() * 2891336453u + 1;
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    uint32_t* half = halves + (phase % 2) * all;
    const uint32_t own = (grid.block() * grid.threads() + grid.thread()) * words;
    dawdle(random);
    for (uint32_t w = 0; w < words; ++w) half[own + w] = word_of(phase, own + w);
    if (split) {
      auto token = barrier.arrive();
      dawdle(random);
      barrier.wait(static_cast<decltype(token)&&>(token));
    } else {
      barrier.sync();
    }
    for (uint32_t offset : {1u, grid.blocks() / 2}) {
      const uint32_t block = (grid.block() + offset) % grid.blocks();
      const uint32_t theirs = (block * grid.threads() + grid.thread()) * words;
      for (uint32_t w = 0; w < words; ++w) {
        if (half[theirs + w] != word_of(phase, theirs + w)) atomicAdd(wrong, 1u);
      }
    }
  }
}

/// One block never comes to its barrier call number `phase`, counted from 0.
template <class Algorithm>
__global__ void misses(barrier_of<Algorithm> barrier, uint32_t absent, uint32_t phase, uint64_t span,
                       uint32_t* timed_out, unsigned long long* longest) {
  const cuda_grid grid;
  for (uint32_t i = 0; i < phase; ++i) barrier.sync();
  if (grid.block() == absent) return;
  const uint64_t begin = grid.now();
  if (barrier.sync_for(timeout(span)) == wait_status::timed_out) atomicAdd(timed_out, 1u);
  atomicMax(longest, static_cast<unsigned long long>(grid.now() - begin));
}

/// As waits(), in the parts of a grid that three barriers join, each block in one.
template <class Algorithm>
__global__ void waits_in_parts(part_of<Algorithm> first, part_of<Algorithm> second, part_of<Algorithm> third,
                               uint32_t* slots, uint32_t* early, uint32_t phases) {
  const cuda_grid grid;
  const uint32_t block = grid.block();
  const auto holds = [block](const block_range& range) { return block - range.first < range.count; };
  part_of<Algorithm>& own = holds(first.who()) ? first : holds(second.who()) ? second : third;
  const block_range range = own.who();
  uint32_t random = block * 747796405u + 1;
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    if (grid.thread() == 0) {
      dawdle(random);
      cuda_memory::store<memory_order::relaxed, scope::device>(slots + block, phase);
      if (!orders_data(Algorithm::order)) cuda_memory::fence<scope::device>();
    }
    own.sync();
    for (uint32_t b = grid.thread(); b < range.count; b += grid.threads()) {
      if (before_phase(slots + range.first + b, phase)) atomicAdd(early, 1u);
    }
  }
}

/// Block b leaves after phase `leaves[b]` (0: it stays). Who stays looks at all blocks' announcements, and at the plain
/// words of the same thread in two other blocks.
template <class Algorithm>
__global__ void shrinks(dropping_of<Algorithm> barrier, const uint32_t* leaves, uint32_t* slots, uint32_t* halves,
                        uint32_t* early, uint32_t* wrong, uint32_t phases) {
  const cuda_grid grid;
  const uint32_t block = grid.block();
  const uint32_t all = grid.blocks() * grid.threads();
  uint32_t random = block * 747796405u + 1;
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    uint32_t* half = halves + (phase % 2) * all;
    const uint32_t own = block * grid.threads() + grid.thread();
    dawdle(random);
    half[own] = word_of(phase, own);
    if (grid.thread() == 0) cuda_memory::store<memory_order::relaxed, scope::device>(slots + block, phase);
    if (leaves[block] == phase) {
      barrier.arrive_and_drop();
      return;
    }
    barrier.sync();
    const auto last_phase_of = [&](uint32_t b) { return leaves[b] != 0 && leaves[b] < phase ? leaves[b] : phase; };
    for (uint32_t b = grid.thread(); b < grid.blocks(); b += grid.threads()) {
      if (before_phase(slots + b, last_phase_of(b))) atomicAdd(early, 1u);
    }
    for (uint32_t offset : {1u, grid.blocks() / 2}) {
      const uint32_t other = (block + offset) % grid.blocks();
      // Who has left may have written in this half one phase before its last.
      const uint32_t last = last_phase_of(other);
      const uint32_t written = last - (phase - last) % 2;
      const uint32_t theirs = other * grid.threads() + grid.thread();
      if (written != 0 && half[theirs] != word_of(written, theirs)) atomicAdd(wrong, 1u);
    }
  }
}

}  // namespace gpusync::test
