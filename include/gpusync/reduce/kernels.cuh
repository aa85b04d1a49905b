// The kernels that sum over a whole device: what differs is how many blocks share the input, and how their sums come
// together (reduce/plan.hpp).
#pragma once

#include <type_traits>

#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/phase.hpp>
#include <gpusync/reduce/tiles.cuh>

namespace gpusync::detail {

/// The device memory that the blocks of a call share. Words that are polled, counted in or read by all blocks lie on
/// lines of their own.
struct reduction_words {
  uint32_t* number;     ///< of the call that is under way, or comes next
  uint32_t* under_way;  ///< 1 while a launch is; if another one finds that, two streams use one storage
  uint32_t* claimed;    ///< tiles that were claimed in this call; 0 between calls
  uint32_t* ticket;     ///< blocks that have finished in this call; 0 between calls
  void* messages;       ///< for each block a reduction_message: its sum, and the number of the call
  void* sums;           ///< for each block its sum, where a ticket orders who reads it
  uint32_t capacity;    ///< blocks that there are messages for
  timeout_report* report;
};

/// A block's sum and the number of the call, in one word that is written and read as a whole: who sees the number sees
/// the sum, without a fence (PTX ISA, memory consistency model: accesses of up to 128 bits are single).
template <class T>
struct reduction_message;
template <>
struct reduction_message<float> {
  using word = uint64_t;
  static __device__ __forceinline__ word of(float sum, uint32_t call) {
    return uint64_t{call} << 32 | __float_as_uint(sum);
  }
  static __device__ __forceinline__ uint32_t call(word message) { return static_cast<uint32_t>(message >> 32); }
  static __device__ __forceinline__ float sum(word message) { return __uint_as_float(static_cast<uint32_t>(message)); }
};
template <>
struct reduction_message<double> {
  using word = wide_word;
  static __device__ __forceinline__ word of(double sum, uint32_t call) {
    return {static_cast<uint64_t>(__double_as_longlong(sum)), call};
  }
  static __device__ __forceinline__ uint32_t call(const word& message) { return static_cast<uint32_t>(message.high); }
  static __device__ __forceinline__ double sum(const word& message) {
    return __longlong_as_double(static_cast<long long>(message.low));
  }
};

/// Loads a word, or 0 if not `wanted`. Straight code, as load_if() of a value.
__device__ __forceinline__ uint32_t load_if(bool wanted, const uint32_t* word) {
  uint32_t value;
  asm volatile(
      "{ .reg .pred wanted; setp.ne.u32 wanted, %2, 0; mov.u32 %0, 0; @wanted ld.relaxed.gpu.global.u32 %0, [%1]; }"
      : "=&r"(value)
      : "l"(__cvta_generic_to_global(word)), "r"(static_cast<uint32_t>(wanted))
      : "memory");
  return value;
}
/// Sets a word and returns what it was, or 0 and does nothing if not `wanted`. Straight code, too. An exchange: of
/// additions compilers make one for all threads of a warp, and wait for its answer at once.
__device__ __forceinline__ uint32_t exchange_if(bool wanted, uint32_t* word, uint32_t value) {
  uint32_t before;
  asm volatile(
      "{ .reg .pred wanted; setp.ne.u32 wanted, %3, 0; mov.u32 %0, 0; "
      "@wanted atom.relaxed.gpu.global.exch.b32 %0, [%1], %2; }"
      : "=&r"(before)
      : "l"(__cvta_generic_to_global(word)), "r"(value), "r"(static_cast<uint32_t>(wanted))
      : "memory");
  return before;
}

/// A launch's place among those on one storage.
struct reduction_call {
  /// Notes that a launch has begun, by the thread that is its `first`. Not 0 if another one was under way; nothing
  /// should wait for that before the block has its sum. But the thread looks at it before it says that its block is
  /// done, and an exchange that has been answered has been performed: so end() finds the launch noted.
  static __device__ __forceinline__ uint32_t begin(const reduction_words& words, bool first) {
    return exchange_if(first, words.under_way, 1);
  }
  /// Ends it, by one thread when all blocks have given their sums.
  static __device__ __forceinline__ void end(const reduction_words& words, uint32_t number) {
    cuda_memory::store<memory_order::relaxed, scope::device>(words.number, number + 1);
    cuda_memory::store<memory_order::relaxed, scope::device>(words.under_way, 0u);
  }
  [[noreturn]] static __device__ __noinline__ void fail(const reduction_words& words) {
    cuda_grid().fail(words.report, misuse::concurrent_calls, 0);
  }
};

/// Numbers of calls come again. So that no old one is taken for a new one, none gets older than a quarter of them: all
/// messages get this call's number once in so many calls. By all threads of a block, when nobody polls any more.
template <class T, unsigned Threads>
__device__ __forceinline__ void renew_messages(uint32_t call, const reduction_words& words) {
  using message = reduction_message<T>;
  if (call % (1u << 30) != 0) return;
  for (uint32_t block = threadIdx.x; block < words.capacity; block += Threads) {
    cuda_memory::store<memory_order::relaxed, scope::device>(
        static_cast<typename message::word*>(words.messages) + block, message::of(T(0), call));
  }
}

/// The grid's last block adds up the messages of all others. It has started last, as far as devices start blocks in
/// order; if they do not, the others find room beside it.
template <class T, unsigned Threads, bool Claimed>
__device__ __forceinline__ void collect_messages(T sum, uint32_t call, const reduction_words& words, T* out) {
  using message = reduction_message<T>;
  const auto slots = static_cast<typename message::word*>(words.messages);
  const uint32_t last = gridDim.x - 1;
  if (blockIdx.x != last) {
    if (threadIdx.x == 0) {
      cuda_memory::store<memory_order::relaxed, scope::device>(slots + blockIdx.x, message::of(sum, call));
    }
    return;
  }
  // Some at once: one after the other each would take a round trip, though it has long been there.
  constexpr unsigned at_once = 2;
  T total = threadIdx.x == 0 ? sum : T(0);
  for (uint32_t block = threadIdx.x; block < last; block += at_once * Threads) {
    typename message::word received[at_once];
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) {
      const uint32_t sender = block + i * Threads;
      if (sender < last) received[i] = cuda_memory::load<memory_order::relaxed, scope::device>(slots + sender);
    }
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) {
      const uint32_t sender = block + i * Threads;
      if (sender >= last) break;
      while (!phase_reached(message::call(received[i]), call)) {
        received[i] = cuda_memory::load<memory_order::relaxed, scope::device>(slots + sender);
      }
      if (message::call(received[i]) != call) reduction_call::fail(words);
      total += message::sum(received[i]);
    }
  }
  __syncthreads();  // sum_of_block() has been used before
  total = reduction::sum_of_block<Threads>(total);
  renew_messages<T, Threads>(call, words);
  if (threadIdx.x != 0) return;
  *out = total;
  if constexpr (Claimed) cuda_memory::store<memory_order::relaxed, scope::device>(words.claimed, 0u);
  reduction_call::end(words, call);
}

/// The block that takes the last ticket adds up what all have left behind. The first thread knows the `call`.
template <class T, unsigned Threads, bool Claimed>
__device__ __forceinline__ void collect_by_ticket(T sum, uint32_t call, const reduction_words& words, T* out) {
  T* const sums = static_cast<T*>(words.sums);
  __shared__ bool is_last;
  __shared__ uint32_t number;
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    is_last = cuda_memory::fetch_add<memory_order::acq_rel, scope::device>(words.ticket, 1u) == gridDim.x - 1;
    number = call;
  }
  __syncthreads();
  if (!is_last) return;
  T total = 0;
  for (uint32_t block = threadIdx.x; block < gridDim.x; block += Threads) total += __ldcg(sums + block);
  total = reduction::sum_of_block<Threads>(total);
  renew_messages<T, Threads>(number, words);
  if (threadIdx.x != 0) return;
  *out = total;
  if constexpr (Claimed) cuda_memory::store<memory_order::relaxed, scope::device>(words.claimed, 0u);
  *words.ticket = 0;
  reduction_call::end(words, number);
}

/// Blocks that are to fit on a multiprocessor: 1024 threads, which every GPU has room for and which leaves each thread
/// the registers for its vectors.
constexpr unsigned resident_tiles(unsigned threads) {
  return threads < 64 ? 16 : 1024 / threads;
}

/// A sum by one block.
template <class T, unsigned Threads, unsigned Vectors>
__global__ void __launch_bounds__(Threads, resident_tiles(Threads)) reduce_in_block(reduction::input<T> in, T* out) {
  const T sum = reduction::sum_of_tiles<T, Threads, Vectors, reduction_walk::one_tile, false>(in, nullptr, 0, 1);
  const T total = reduction::sum_of_block<Threads>(sum);
  if (threadIdx.x == 0) *out = total;
}

/// A sum by all blocks of a grid, to `out` of the block that brings it together: of the last one, if by messages. By
/// all threads; returns the number of the call, in those of that block if by messages. Precondition: gridDim.x <=
/// words.capacity.
template <class T, unsigned Threads, unsigned Vectors, reduction_finish Finish, reduction_walk Walk, bool Streamed>
__device__ __forceinline__ uint32_t sum_of_grid(const reduction::input<T>& in, T* out, const reduction_words& words) {
  constexpr bool claimed = Walk == reduction_walk::claimed;
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  uint32_t number = 0, others = 0;
  const auto begin = [&] {
    // Not by every thread: so many loads of one line would come back late.
    const bool collects = Finish == reduction_finish::messages && blockIdx.x == gridDim.x - 1;
    number = load_if(threadIdx.x == 0 || collects, words.number);
    others = reduction_call::begin(words, first);
  };
  T sum = sum_of_tiles_and<T, Threads, Vectors, Walk, Streamed>(in, words.claimed, blockIdx.x, gridDim.x, begin);
  sum = reduction::sum_of_block<Threads>(sum);
  if (others != 0) reduction_call::fail(words);
  if constexpr (Finish == reduction_finish::messages) {
    collect_messages<T, Threads, claimed>(sum, number, words, out);
  } else {
    collect_by_ticket<T, Threads, claimed>(sum, number, words, out);
  }
  return number;
}

/// A sum by many blocks. Precondition: gridDim.x <= words.capacity.
template <class T, unsigned Threads, unsigned Vectors, reduction_finish Finish, reduction_walk Walk, bool Streamed>
__global__ void __launch_bounds__(Threads, resident_tiles(Threads))
    reduce_tiles(reduction::input<T> in, T* out, reduction_words words) {
  (void)sum_of_grid<T, Threads, Vectors, Finish, Walk, Streamed>(in, out, words);
}

/// A sum by one cluster, which is the grid: each block sends its sum to the first one's shared memory, where an
/// mbarrier counts the bytes. On older devices the host takes another plan.
template <class T, unsigned Threads, unsigned Vectors>
__global__ void __launch_bounds__(Threads)
    reduce_in_cluster([[maybe_unused]] reduction::input<T> in, [[maybe_unused]] T* out) {
#if __CUDA_ARCH__ >= 900
  constexpr unsigned most = 16;  // blocks of a cluster
  __shared__ alignas(16) T received[most];
  __shared__ alignas(8) uint64_t bytes_received;
  const uint32_t rank = blockIdx.x, blocks = gridDim.x;
  const auto counter = static_cast<uint32_t>(__cvta_generic_to_shared(&bytes_received));
  if (rank == 0 && threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(counter) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(counter),
                 "r"(static_cast<uint32_t>(blocks * sizeof(T)))
                 : "memory");
  }
  // Relaxed: only that the mbarrier is there must be known, and the fence above says that.
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  T sum = reduction::sum_of_tiles<T, Threads, Vectors, reduction_walk::one_tile, false>(in, nullptr, rank, blocks);
  sum = reduction::sum_of_block<Threads>(sum);
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (threadIdx.x == 0) {
    const auto own = static_cast<uint32_t>(__cvta_generic_to_shared(received + rank));
    uint32_t there, counter_there;
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(own));
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(counter_there) : "r"(counter));
    if constexpr (std::is_same_v<T, float>) {
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(there), "f"(sum),
                   "r"(counter_there)
                   : "memory");
    } else {
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(there), "d"(sum),
                   "r"(counter_there)
                   : "memory");
    }
  }
  if (rank != 0 || threadIdx.x >= 32) return;
  uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred all; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 all, [%1], 0; selp.u32 %0, 1, 0, "
        "all; }"
        : "=r"(done)
        : "r"(counter)
        : "memory");
  }
  const T total = reduction::sum_of_warp<most>(threadIdx.x < blocks ? received[threadIdx.x] : T(0));
  if (threadIdx.x == 0) *out = total;
#endif
}

}  // namespace gpusync::detail
