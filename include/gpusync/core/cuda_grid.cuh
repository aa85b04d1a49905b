// The grid that a CUDA kernel sees.
#pragma once

#include <gpusync/core/concepts.hpp>
#include <gpusync/core/cuda_memory.cuh>

namespace gpusync {

namespace detail {

/// The warps of the calling thread's block, each a member as the blocks of a grid are; what they share lies in shared
/// memory. The threads of a warp call together.
struct cuda_warps_of_block {
  using memory = cuda_atomics<in_shared_memory>;
  static constexpr uint32_t polls_per_look = 32;

  __device__ __forceinline__ uint32_t blocks() const { return (block_threads() + 31) / 32; }
  __device__ __forceinline__ uint32_t block() const { return block_thread() / 32; }
  __device__ __forceinline__ uint32_t threads() const { return 32; }
  __device__ __forceinline__ uint32_t thread() const { return block_thread() % 32; }
  __device__ __forceinline__ void sync_block() const { __syncwarp(); }
  __device__ __forceinline__ uint64_t now() const { return 0; }
  __device__ __forceinline__ void pause() const {}

 private:
  static __device__ __forceinline__ uint32_t block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static __device__ __forceinline__ uint32_t block_thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
};

}  // namespace detail

/// The running kernel's grid and the calling thread's place in it, with grids and blocks of one to three dimensions
/// counted as one row (x fastest). Empty: everything is read from special registers when asked for. Fulfils @ref Grid.
struct cuda_grid {
  using memory = cuda_memory;
  /// A wait counts as long after this many polls, ten microseconds or so, and asks the clock as often, if it must.
  static constexpr uint32_t polls_per_look = 32;
  static constexpr uint32_t warp_size = 32;
  static constexpr bool whole_block = true;
  static constexpr bool may_lose_phases = true;
  /// Each thread of a kernel has its own copy of the parameters already.
  static constexpr bool handle_per_thread = false;
  /// Parts of a block can meet by themselves, at barriers of the numbers 1 to 15.
  static constexpr bool has_named_barriers = true;
  using warps_of_block = detail::cuda_warps_of_block;

  /// The grid of the calling thread.
  static __device__ __forceinline__ cuda_grid current() { return {}; }

  __device__ __forceinline__ uint32_t blocks() const { return gridDim.x * gridDim.y * gridDim.z; }
  __device__ __forceinline__ uint32_t block() const {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  __device__ __forceinline__ uint32_t threads() const { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ __forceinline__ uint32_t thread() const {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }

  __device__ __forceinline__ void sync_block() const { __syncthreads(); }
  __device__ __forceinline__ bool sync_block_or(bool value) const { return __syncthreads_or(value) != 0; }

  __device__ __forceinline__ uint32_t sync_block_count(bool value) const {
    return static_cast<uint32_t>(__syncthreads_count(value));
  }

  /// Where the block's threads share ten words, to be given to share() and shared(). All barriers of a kernel have the
  /// same.
  __device__ __forceinline__ uint32_t shared_words() const {
    __shared__ uint32_t words[10];
    return opaque(static_cast<uint32_t>(__cvta_generic_to_shared(words)));
  }
  /// Writes one of them, which others read behind a sync_block().
  __device__ __forceinline__ void share(uint32_t words, uint32_t index, uint32_t value) const {
    asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(words + index * 4), "r"(value) : "memory");
  }
  __device__ __forceinline__ uint32_t shared(uint32_t words, uint32_t index) const {
    uint32_t value;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : "r"(words + index * 4) : "memory");
    return value;
  }

  /// share() by several threads, who all write the same.
  __device__ __forceinline__ void share_alike(uint32_t words, uint32_t index, uint32_t value) const {
    share(words, index, value);
  }
  /// Adds one to such a word in each thread whose `value` is true; a sync_block() parts it from what reads the word.
  __device__ __forceinline__ void count_shared(uint32_t words, uint32_t index, bool value) const {
    if (value) asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(words + index * 4) : "memory");
  }
  /// Makes such a word 0 once all threads have read it that call: the first ones of a warp, of which `lanes` has a bit
  /// each. A sync_block() parts it from what counts next.
  __device__ __forceinline__ void clear_shared(uint32_t words, uint32_t index, uint32_t lanes) const {
    __syncwarp(lanes);
    share_alike(words, index, 0);  // to read which lane this is would take 30 cycles
  }

  /// In the first `count` threads of the block, 1, 2, 4, 8 or 16, all of which call it: the sum of their values.
  __device__ __forceinline__ uint32_t sum_of_first(uint32_t count, uint32_t value) const {
    const uint32_t lanes = (1u << count) - 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("redux.sync.add.u32 %0, %0, %1;" : "+r"(value) : "r"(lanes));
#else
    for (uint32_t apart = count / 2; apart != 0; apart /= 2) value += __shfl_xor_sync(lanes, value, apart);
#endif
    return value;
  }

  /// In the threads that take it, the first ones of the first warp, of which `lanes` has a bit each: what the block's
  /// first thread has in `value`. All threads call it.
  __device__ __forceinline__ uint32_t first_value(bool takes, uint32_t lanes, uint32_t value) const {
    return takes ? __shfl_sync(lanes, value, 0) : value;
  }

  /// Waits at named barrier `Number` for `threads` of the block, a multiple of 32. Not the aligned form of the
  /// instruction: lanes of a warp may come one by one. The number stands in the instruction: with one in a register a
  /// block would be given all sixteen barriers, of which a multiprocessor has 64, and at most four blocks would run on
  /// it at once.
  template <uint32_t Number>
  __device__ __forceinline__ void sync_named(uint32_t threads) const {
    asm volatile("barrier.cta.sync %0, %1;" ::"n"(Number), "r"(threads) : "memory");
  }

  /// Once, before the first sync_block_any() of a barrier; returns what to give it. Not 0.
  __device__ __forceinline__ uint32_t prepare_timeout_flag() const {
    __shared__ uint32_t raised;
    __syncthreads();  // others may still be reading what another barrier's wait has left there
    if (thread() == 0) raised = 0;
    __syncthreads();
    // As a number, so that the address need not be found anew behind every barrier.
    return opaque(static_cast<uint32_t>(__cvta_generic_to_shared(&raised)) + 1);
  }

  /// Before a wait that may call raise_timeout_flag(), if no block barrier stands between it and an earlier wait: all
  /// threads have read what that one left in the word.
  __device__ __forceinline__ void separate_timeout_flags() const {
    __syncthreads();
  }

  /// A thread that gives up calls it; then the block's next sync_block_any() returns true.
  __device__ __forceinline__ void raise_timeout_flag(uint32_t place) const {
    asm volatile("st.volatile.shared.u32 [%0], 1;" ::"r"(place - 1) : "memory");
  }

  /// sync_block() that returns whether a thread of the block has called raise_timeout_flag(). A read of shared memory
  /// instead of a voting barrier: half the time on H200. All barriers of a kernel share the word: whoever finds it
  /// raised clears it.
  __device__ __forceinline__ bool sync_block_any(bool, uint32_t place) const {
    __syncthreads();
    uint32_t raised;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(raised) : "r"(place - 1) : "memory");
    if (raised == 0) return false;
    clear_timeout_flag(place);
    return true;
  }

  /// The number of the multiprocessor that runs this block, and how many there can be.
  __device__ __forceinline__ uint32_t sm_id() const {
    uint32_t number;
    asm("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
  }

  /// `pointer`, in a way that keeps what is computed from it out of registers until it is needed.
  __device__ __forceinline__ uint32_t* opaque(uint32_t* pointer) const {
    asm volatile("" : "+l"(pointer));
    return pointer;
  }

  /// `value`, computed here and not anew wherever it is used.
  __device__ __forceinline__ uint32_t opaque(uint32_t value) const {
    asm volatile("" : "+r"(value));
    return value;
  }

  /// Lets `cycles` of the multiprocessor's clock pass.
  __device__ __forceinline__ void delay(uint32_t cycles) const {
    if (cycles == 0) return;
    const uint64_t begin = this->cycles();
    while (this->cycles() - begin < cycles) {
    }
  }
  /// Until the multiprocessor's clock has come so far.
  __device__ __forceinline__ void delay_until(uint64_t cycles) const {
    while (this->cycles() < cycles) {
    }
  }

  /// The multiprocessor's clock: that of 64 bits, for the one of 32 goes through the uniform datapath, 50 cycles a
  /// read.
  __device__ __forceinline__ uint64_t cycles() const {
    return static_cast<uint64_t>(clock64());
  }

  /// The multiprocessor's clock, read once `value` is there; `value` is added to it, so it should be 0.
  __device__ __forceinline__ uint32_t cycles_after(uint32_t value) const {
    uint32_t cycles;
    asm volatile("{\n\t.reg .u32 copy;\n\tadd.u32 copy, %1, 0;\n\tmov.u32 %0, %%clock;\n\tadd.u32 %0, %0, copy;\n\t}"
                 : "=r"(cycles)
                 : "r"(value)
                 : "memory");
    return cycles;
  }

  /// For a call that breaks a barrier's contract: leaves the reason where the host finds it, and ends the launch. The
  /// CUDA context is lost with it. `report`: of the barrier's storage; may be null. Out of line: a kernel has many such
  /// calls.
  [[noreturn]] __device__ __noinline__ void fail(timeout_report* report, misuse reason, uint32_t detail) const {
    if (report != nullptr) {
      volatile timeout_report* const words = report;
      words->culprit = block();
      words->detail = detail;
      __threadfence_system();
      words->reason = reason;
      __threadfence_system();
    }
    __trap();
    __builtin_unreachable();
  }

  /// `values[index]`, for arrays among a kernel's parameters: an index that is known at run time only would put the
  /// array into local memory.
  template <uint32_t Count>
  __device__ __forceinline__ uint32_t pick(const uint32_t (&values)[Count], uint32_t index) const {
    if constexpr (Count == 4) {  // the values are read at the same time
      const uint32_t even = (index & 2) != 0 ? values[2] : values[0], odd = (index & 2) != 0 ? values[3] : values[1];
      return (index & 1) != 0 ? odd : even;
    } else {
      uint32_t value = values[0];
#pragma unroll
      for (uint32_t i = 1; i < Count; ++i) value = index == i ? values[i] : value;
      return value;
    }
  }

  /// Nanoseconds of the device's global timer (32 ns ticks on H200, 1 us on some others).
  __device__ __forceinline__ uint64_t now() const {
    uint64_t nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  }

  /// Between two polls. A poll of a GPU is a round trip to L2 in which other warps run: nothing to add.
  __device__ __forceinline__ void pause() const {}

 private:
  /// Called by all threads of a block in which it was raised.
  __device__ __noinline__ void clear_timeout_flag(uint32_t place) const {
    __syncthreads();  // others may still be reading
    if (thread() == 0) asm volatile("st.volatile.shared.u32 [%0], 0;" ::"r"(place - 1) : "memory");
    __syncthreads();
  }
};

static_assert(is_memory<cuda_memory> && is_grid<cuda_grid>, "see core/concepts.hpp");

}  // namespace gpusync
