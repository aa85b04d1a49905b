// C functions over the barrier of one address, for front ends whose kernels call functions and hold no C++ objects:
// numba, Triton. Definitions: include it in one source of a program.
//
// What a block knows of its barrier lies in some 2 KB of static shared memory, so one barrier serves a kernel. Every
// thread of a block calls each function, gpusync_enter() first.
#pragma once

#include <gpusync/grid/device.cuh>

namespace gpusync::detail {

/// A barrier's block between two calls: each thread that adds or polls has a slot, thread 0 what concerns the whole
/// block.
class kept_block {
  using algorithm = barrier_image::algorithm;
  using state = algorithm::state;
  using votes = basic_grid_barrier<algorithm, cuda_grid>::votes;

  static constexpr uint32_t slots = 64;  ///< threads that may have a part: two warps
  static constexpr uint32_t slot_bytes = 32;
  static constexpr uint32_t of_block = slots * slot_bytes;  ///< then the phase, whether a phase was lost; the report
  static constexpr uint32_t of_votes = of_block + 16;       ///< how many there were, how many words the block polls
  static constexpr uint32_t vote_slots = of_votes + 16;     ///< of the threads that may poll
  static constexpr uint32_t most_polls = grid::counter_places::most_lines;
  static constexpr uint32_t vote_slot_bytes = 16;
  static constexpr uint32_t drains_at = 8;  ///< the bit of state::part, not used there, that state::drains is kept in
  static constexpr uint32_t bytes = vote_slots + most_polls * vote_slot_bytes;

 public:
  explicit __device__ __forceinline__ kept_block(int64_t address) : image_(reinterpret_cast<barrier_image*>(address)) {
    __shared__ __attribute__((aligned(16))) unsigned char kept[bytes];
    at_ = static_cast<uint32_t>(__cvta_generic_to_shared(kept));
  }

  __device__ __forceinline__ void enter() const {
    if (image_->tag != barrier_image::tag_of_images) grid_.fail(nullptr, misuse::none, 0);
    if (grid_.blocks() > image_->capacity) grid_.fail(image_->report, misuse::outsider, grid_.blocks());
    state own =
        algorithm::find<false>(grid_, image_->places_for(grid_.blocks(), grid_.threads()), whole_grid().of(grid_));
    algorithm::settle(own);
    if (grid_.thread() < slots) write(own);
    const arrival_log log = full_log();
    if (grid_.thread() == 0) {
      write_of_block(0, 0);
      asm volatile("st.shared.u64 [%0], %1;" ::"r"(at_ + of_block + 8), "l"(image_->report) : "memory");
      write_of_votes(0, 0);
      log.mark_entry(grid_, grid_.block(), algorithm::stamp(algorithm::upcoming(own)));
    }
    if (grid_.sync_block_or(log.lost(grid_) != 0)) grid_.fail(image_->report, misuse::lost_phase, 0);
  }

  /// Without a deadline. Counted: a call of the kernel's own.
  template <bool Counted = true>
  __device__ __forceinline__ void sync() const {
    state own = read();
    const algorithm::token arrived = algorithm::arrive_fused(grid_, nullptr, own);
    write_goal(own);
    if (Counted) count_phase();
    wait_context<no_deadline> context({}, log_of_waits(), grid_.block(), algorithm::stamp(arrived));
    (void)algorithm::wait_fused(grid_, nullptr, own, arrived, context);
  }

  __device__ __forceinline__ void arrive() const {
    state own = read();
    const algorithm::token arrived = algorithm::arrive(grid_, nullptr, own);
    write_goal(own);
    if (grid_.thread() == 0) log_of_waits().mark(grid_, grid_.block(), algorithm::stamp(arrived));
  }

  __device__ __forceinline__ void wait() const {
    const state own = read();
    const algorithm::token arrived = last(own);
    count_phase();
    wait_context<no_deadline> context({}, log_of_waits(), grid_.block(), algorithm::stamp(arrived));
    (void)algorithm::wait(grid_, nullptr, own, arrived, context);
  }

  /// 0 when all have come, 1 when a phase is lost.
  __device__ __noinline__ int sync_for(uint64_t nanoseconds) const {
    if (of_block_word(1) != 0) return 1;
    state own = read();
    const algorithm::token arrived = algorithm::arrive_fused(grid_, nullptr, own);
    write_goal(own);
    const uint32_t flag = grid_.prepare_timeout_flag();
    const arrival_log log = full_log();
    wait_context<deadline> context(deadline(timeout(nanoseconds)), log, grid_.block(), algorithm::stamp(arrived), flag);
    const wait_status status = algorithm::wait_fused(grid_, nullptr, own, arrived, context);
    const uint32_t phase = of_block_word(0);
    __syncthreads();
    if (grid_.thread() == 0) {
      const bool late = status == wait_status::timed_out;
      write_of_block(phase + (late ? 0 : 1), late ? 1 : 0);
      if (late)
        log.report_missing(grid_, whole_grid(), algorithm::stamp(arrived), algorithm::next_stamp(arrived), phase);
    }
    __syncthreads();
    return status == wait_status::timed_out ? 1 : 0;
  }

  /// A phase that brings an answer along: see grid_votes. The first one passes a phase more.
  template <class Kind>
  __device__ __forceinline__ uint32_t vote(uint32_t mine) const {
    const state own = read();
    vote_state known = read_votes();
    if (known.open == 0) {
      votes::look(grid_, image_->words, own, known);
      // Votes are numbered anew in each launch: nothing of earlier ones may be left in the log.
      if (grid_.thread() == 0) log_of_waits().mark(grid_, grid_.block(), 0);
      sync<false>();
    }
    votes::template bring<Kind, true, true>(grid_, image_->words, own, known, mine);
    if (grid_.thread() == 0) write_of_votes(known.count + 1, known.polled);  // all have read it, and will meet again
    count_phase();
    const struct {
      uint32_t* words;
      arrival_log log;
    } given{image_->words, log_of_waits()};
    uint32_t no_flag = 0, sum = 0;
    (void)votes::template poll<true, true, false>(grid_, given, whole_grid(), own, known, no_flag, 0, no_deadline{},
                                                  sum);
    write_vote_slot(known);
    return sum;
  }

 private:
  /// What a wait that turns out long may need.
  __device__ __forceinline__ arrival_log log_of_waits() const {
    constexpr barrier_layout layout = barrier_image::layout_of(1);  // these two do not depend on the blocks
    uint32_t* const words = reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(image_) + barrier_image::bytes_of_head);
    timeout_report* report;
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(report) : "r"(at_ + of_block + 8) : "memory");
    return {words + layout.claimed, words + layout.arrived, nullptr, report};
  }
  __device__ __forceinline__ arrival_log full_log() const {
    return barrier_image::layout_of(image_->capacity).log(image_->words, image_->report);
  }
  __device__ __forceinline__ uint32_t slot() const { return at_ + grid_.thread() * slot_bytes; }

  static __device__ __forceinline__ algorithm::token last(const state& own) {
    algorithm::token arrived = algorithm::upcoming(own);
    arrived.goal -= phase_word::one_phase;
    return arrived;
  }

  __device__ __forceinline__ void write(const state& own) const {
    asm volatile("st.shared.v2.u64 [%0], {%1, %2};" ::"r"(slot()), "l"(own.add_to), "l"(own.poll_at) : "memory");
    asm volatile("st.shared.v4.u32 [%0 + 16], {%1, %2, %3, %4};" ::"r"(slot()), "r"(own.goal), "r"(own.step),
                 "r"(own.part | own.drains << drains_at), "r"(own.poll_backoff)
                 : "memory");
  }
  __device__ __forceinline__ void write_goal(const state& own) const {
    if (grid_.thread() < slots) asm volatile("st.shared.u32 [%0 + 16], %1;" ::"r"(slot()), "r"(own.goal) : "memory");
  }
  /// Threads without a slot do nothing but meet the others.
  __device__ __forceinline__ state read() const {
    state own{};
    if (grid_.thread() >= slots) return own;
    uint32_t part;
    asm volatile("ld.shared.v2.u64 {%0, %1}, [%2];" : "=l"(own.add_to), "=l"(own.poll_at) : "r"(slot()) : "memory");
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4 + 16];"
                 : "=r"(own.goal), "=r"(own.step), "=r"(part), "=r"(own.poll_backoff)
                 : "r"(slot())
                 : "memory");
    own.part = part & ~(1u << drains_at);
    own.drains = part >> drains_at & 1;
    return own;
  }
  __device__ __forceinline__ void write_of_block(uint32_t phase, uint32_t lost) const {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at_ + of_block), "r"(phase), "r"(lost) : "memory");
  }
  __device__ __forceinline__ uint32_t of_block_word(uint32_t index) const {
    uint32_t value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at_ + of_block + 4 * index) : "memory");
    return value;
  }
  __device__ __forceinline__ void count_phase() const {
    if (grid_.thread() == 0) {
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(at_ + of_block), "r"(of_block_word(0) + 1) : "memory");
    }
  }

  __device__ __forceinline__ uint32_t vote_slot() const { return at_ + vote_slots + grid_.thread() * vote_slot_bytes; }
  __device__ __forceinline__ void write_of_votes(uint32_t count, uint32_t polled) const {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at_ + of_votes), "r"(count), "r"(polled) : "memory");
  }
  __device__ __forceinline__ void write_vote_slot(const vote_state& known) const {
    if (grid_.thread() >= most_polls) return;
    asm volatile("st.shared.v2.u64 [%0], {%1, %2};" ::"r"(vote_slot()), "l"(known.before), "l"(known.other) : "memory");
  }
  __device__ __forceinline__ vote_state read_votes() const {
    vote_state known;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(known.count), "=r"(known.polled)
                 : "r"(at_ + of_votes)
                 : "memory");
    known.open = known.polled;  // a block polls one word at least
    known.shared = grid_.shared_words();
    if (grid_.thread() < most_polls) {
      asm volatile("ld.shared.v2.u64 {%0, %1}, [%2];"
                   : "=l"(known.before), "=l"(known.other)
                   : "r"(vote_slot())
                   : "memory");
    }
    return known;
  }

  barrier_image* image_;
  uint32_t at_;
  cuda_grid grid_;
};

}  // namespace gpusync::detail

#if defined(__clang__) && !defined(__NVCC__)  // not for clang as nvcc's host compiler
#define GPUSYNC_FUNCTION extern "C" __device__ __attribute__((used, always_inline))
#else
#define GPUSYNC_FUNCTION extern "C" __device__
#endif

/// Finds the block's part in the barrier at `address`. Returns 0.
GPUSYNC_FUNCTION int gpusync_enter(long long address) {
  gpusync::detail::kept_block(address).enter();
  return 0;
}
/// basic_grid_barrier::sync(). Returns 0.
GPUSYNC_FUNCTION int gpusync_sync(long long address) {
  gpusync::detail::kept_block(address).sync();
  return 0;
}
/// basic_grid_barrier::arrive(), whose token stays here. Returns 0.
GPUSYNC_FUNCTION int gpusync_arrive(long long address) {
  gpusync::detail::kept_block(address).arrive();
  return 0;
}
/// basic_grid_barrier::wait() for the last arrival. Returns 0.
GPUSYNC_FUNCTION int gpusync_wait(long long address) {
  gpusync::detail::kept_block(address).wait();
  return 0;
}
/// basic_grid_barrier::sync_for(): 0 when all have come; 1 when a phase is lost: leave the kernel. Negative spans count
/// as 0.
GPUSYNC_FUNCTION int gpusync_sync_for(long long address, long long nanoseconds) {
  const gpusync::uint64_t span = nanoseconds > 0 ? static_cast<gpusync::uint64_t>(nanoseconds) : 0;
  return gpusync::detail::kept_block(address).sync_for(span);
}
/// basic_grid_barrier::sync_or(): 1 if `mine` is not 0 in any thread of any block.
GPUSYNC_FUNCTION int gpusync_sync_or(long long address, int mine) {
  return gpusync::detail::kept_block(address).vote<gpusync::detail::vote_or>(mine != 0 ? 1 : 0) != 0 ? 1 : 0;
}
/// basic_grid_barrier::sync_count(): in how many threads of all blocks `mine` is not 0.
GPUSYNC_FUNCTION int gpusync_sync_count(long long address, int mine) {
  return static_cast<int>(gpusync::detail::kept_block(address).vote<gpusync::detail::vote_count>(mine != 0 ? 1 : 0));
}
/// basic_grid_barrier::sync_add(): the sum of the blocks' values, modulo 2^32: of each, that of its first thread.
GPUSYNC_FUNCTION int gpusync_sync_add(long long address, int value) {
  return static_cast<int>(
      gpusync::detail::kept_block(address).vote<gpusync::detail::vote_add>(static_cast<gpusync::uint32_t>(value)));
}

// The same as numba calls them: the result goes through the first argument.
GPUSYNC_FUNCTION int gpusync_numba_enter(int* result, long long address) {
  return *result = gpusync_enter(address);
}
GPUSYNC_FUNCTION int gpusync_numba_sync(int* result, long long address) {
  return *result = gpusync_sync(address);
}
GPUSYNC_FUNCTION int gpusync_numba_arrive(int* result, long long address) {
  return *result = gpusync_arrive(address);
}
GPUSYNC_FUNCTION int gpusync_numba_wait(int* result, long long address) {
  return *result = gpusync_wait(address);
}
/// Numba takes what it returns for an error: that is always 0.
GPUSYNC_FUNCTION int gpusync_numba_sync_for(int* result, long long address, long long nanoseconds) {
  *result = gpusync_sync_for(address, nanoseconds);
  return 0;
}
GPUSYNC_FUNCTION int gpusync_numba_sync_or(int* result, long long address, int mine) {
  *result = gpusync_sync_or(address, mine);
  return 0;
}
GPUSYNC_FUNCTION int gpusync_numba_sync_count(int* result, long long address, int mine) {
  *result = gpusync_sync_count(address, mine);
  return 0;
}
GPUSYNC_FUNCTION int gpusync_numba_sync_add(int* result, long long address, int value) {
  *result = gpusync_sync_add(address, value);
  return 0;
}
