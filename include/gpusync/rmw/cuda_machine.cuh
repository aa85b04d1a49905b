// A participant of a wait-free object on a GPU: a warp, or a thread.
#pragma once

#include <gpusync/core/cuda_memory.cuh>
#include <gpusync/rmw/machine.hpp>
#include <gpusync/rmw/operations.hpp>

namespace gpusync::rmw {

namespace detail {

/// The same pointer, which came from another lane as far as the compiler can tell. So it keeps it in registers, where
/// it would read one that stands in a kernel's parameters anew, access after access; and for an atomic operation of a
/// single thread it spends no instructions on finding out which threads do the same.
__device__ __forceinline__ uint64_t* in_registers(uint64_t* words, unsigned lanes) {
  const auto bits = reinterpret_cast<unsigned long long>(words);
  return reinterpret_cast<uint64_t*>(__shfl_xor_sync(lanes, bits, 0));
}

/// Of objects in this memory.
template <space Where>
struct place_of : gpusync::detail::in_global_memory {};
template <>
struct place_of<space::shared> : gpusync::detail::in_shared_memory {};

}  // namespace detail

/// How threads reach the words of an object: the device's global memory as its grids share it, a block's shared memory
/// as its threads do. Word: of 32, 64 or 128 bits. Orders and costs: see cuda_memory.
template <space Where>
struct cuda_atomics {
  /// The scope of all accesses.
  static constexpr scope shared_by = Where == space::global ? scope::device : scope::block;

  /// Relaxed or acquire.
  template <memory_order Order, class Word>
  static __device__ __forceinline__ Word load(const Word* address) {
    return atomics::template load<Order, shared_by>(address);
  }
  /// Relaxed or release.
  template <memory_order Order, class Word>
  static __device__ __forceinline__ void store(Word* address, Word word) {
    atomics::template store<Order, shared_by>(address, word);
  }
  /// Returns what the word held before. Not for 128 bits.
  template <memory_order Order, class Word>
  static __device__ __forceinline__ Word fetch_add(Word* address, Word amount) {
    return atomics::template fetch_add<Order, shared_by>(address, amount);
  }
  /// The same; stores `desired` if that was `expected`.
  template <memory_order Order, class Word>
  static __device__ __forceinline__ Word compare_exchange(Word* address, Word expected, Word desired) {
    return atomics::template compare_exchange<Order, shared_by>(address, expected, desired);
  }
  /// Sequentially consistent.
  static __device__ __forceinline__ void fence() { gpusync::detail::sequential_fence<shared_by>(); }

 private:
  using atomics = gpusync::detail::cuda_atomics<detail::place_of<Where>>;
};

namespace detail {

/// What threads and warps as participants have in common.
template <space Where>
struct cuda_participant {
  using access = cuda_atomics<Where>;
  static constexpr bool imitates_masked_store = false;
  static constexpr space where = Where;

  template <memory_order Order, class Word>
  __device__ __forceinline__ Word load(const Word* address) const {
    return access::template load<Order>(address);
  }
  template <memory_order Order>
  __device__ __forceinline__ void store(uint64_t* address, uint64_t word) const {
    access::template store<Order>(address, word);
  }
  /// Of every lane, for each has stores to put before its loads.
  __device__ __forceinline__ void fence() const { access::fence(); }
  __device__ __forceinline__ void refuse(uint32_t, uint32_t) const { __trap(); }
  __device__ __forceinline__ void rounds_exhausted(uint64_t) const { __trap(); }
};

}  // namespace detail

/// One thread as a participant: what a program does that has other work for the rest of the warp, and for few
/// participants. Not for rmw::coalesced_store. A thread keeps its part in registers only for the smallest objects.
/// Fulfils @ref Machine but for the masked store.
template <space Where>
struct cuda_thread : single_lane, detail::cuda_participant<Where> {
  /// Through which it reaches memory.
  using access = cuda_atomics<Where>;

  __device__ __forceinline__ uint64_t* hold(uint64_t* words) const {
    // The calling thread alone: who else of its warp is here, it need not know.
    uint32_t own;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(own));
    return detail::in_registers(words, own);
  }
  template <memory_order Order, class Word>
  __device__ __forceinline__ Word load_one(const Word* address) const {
    return access::template load<Order>(address);
  }
  template <memory_order Order, class Word>
  __device__ __forceinline__ Word compare_exchange(Word* address, Word expected, Word desired) const {
    return access::template compare_exchange<Order>(address, expected, desired);
  }
  template <memory_order Order>
  __device__ __forceinline__ wide load_wide(const wide* address) const {
    return access::template load<Order>(address);
  }
  template <memory_order Order>
  __device__ __forceinline__ wide compare_exchange_wide(wide* address, wide expected, wide desired) const {
    return access::template compare_exchange<Order>(address, expected, desired);
  }
};

/// A whole warp as a participant; its 32 lanes call each function together, converged. Fulfils @ref Machine.
template <space Where>
class cuda_warp : public detail::cuda_participant<Where> {
 public:
  /// Through which it reaches memory.
  using access = cuda_atomics<Where>;
  static constexpr uint32_t lanes = 32;

  /// The calling thread's warp.
  __device__ __forceinline__ cuda_warp() { asm("mov.u32 %0, %%laneid;" : "=r"(lane_)); }

  __device__ __forceinline__ uint64_t* hold(uint64_t* words) const {
    return Where == space::global ? detail::in_registers(words, all_lanes) : words;
  }
  __device__ __forceinline__ uint32_t lane() const { return lane_; }
  __device__ __forceinline__ void sync_lanes() const { __syncwarp(); }
  __device__ __forceinline__ bool any(bool value) const { return __any_sync(all_lanes, value) != 0; }
  __device__ __forceinline__ bool all(bool value) const { return __all_sync(all_lanes, value) != 0; }
  __device__ __forceinline__ uint32_t ballot(bool value) const { return __ballot_sync(all_lanes, value); }
  __device__ __forceinline__ uint32_t broadcast(uint32_t word, uint32_t from) const {
    return __shfl_sync(all_lanes, word, static_cast<int>(from));
  }
  __device__ __forceinline__ uint32_t merge(uint32_t bits) const {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(all_lanes, bits);
#else
    for (int distance = 16; distance != 0; distance /= 2) bits |= __shfl_xor_sync(all_lanes, bits, distance);
    return bits;
#endif
  }
  __device__ __forceinline__ uint32_t most(uint32_t word) const {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(all_lanes, word);
#else
    return static_cast<uint32_t>(most(uint64_t{word}));
#endif
  }
  __device__ __forceinline__ uint64_t most(uint64_t word) const {
#if __CUDA_ARCH__ >= 800
    const auto high = static_cast<uint32_t>(word >> 32);
    const uint32_t highest = __reduce_max_sync(all_lanes, high);
    const uint32_t lowest = __reduce_max_sync(all_lanes, high == highest ? static_cast<uint32_t>(word) : 0u);
    return uint64_t{highest} << 32 | lowest;
#else
    for (int distance = 16; distance != 0; distance /= 2) {
      const uint64_t other = __shfl_xor_sync(all_lanes, static_cast<unsigned long long>(word), distance);
      word = other > word ? other : word;
    }
    return word;
#endif
  }
  /// T: an unsigned integer of 32 or 64 bits.
  template <uint32_t Used, class T>
  __device__ __forceinline__ T sum_before(T amount, T& total) const {
    T sum = amount;
    GPUSYNC_UNROLL()
    for (uint32_t distance = 1; distance < Used; distance *= 2) {
      const T other = from_before(sum, distance);
      if (lane_ >= distance) sum += other;
    }
    total = from_lane(sum, Used - 1);
    return sum - amount;
  }

  template <memory_order Order, class Word>
  __device__ __forceinline__ Word load_one(const Word* address) const {
    return from_lane(access::template load<Order>(address), 0);
  }
  template <memory_order Order, class Word>
  __device__ __forceinline__ Word compare_exchange(Word* address, Word expected, Word desired) const {
    meet_for<Order>();
    Word before{};
    if (lane_ == 0) before = access::template compare_exchange<Order>(address, expected, desired);
    before = from_lane(before, 0);
    meet_for<Order>();
    return before;
  }
  template <memory_order Order>
  __device__ __forceinline__ wide load_wide(const wide* address) const {
    const wide value = access::template load<Order>(address);
    return {from_lane(value.low, 0), from_lane(value.high, 0)};
  }
  template <memory_order Order>
  __device__ __forceinline__ wide compare_exchange_wide(wide* address, wide expected, wide desired) const {
    meet_for<Order>();
    wide before{};
    if (lane_ == 0) before = access::template compare_exchange<Order>(address, expected, desired);
    before = {from_lane(before.low, 0), from_lane(before.high, 0)};
    meet_for<Order>();
    return before;
  }
  /// One instruction, of `count` lanes: to one line of 128 bytes, or to words in different banks, it takes effect as
  /// one as far as that has been tested (rmw/litmus.hpp). The warp must be converged there.
  template <class AddressOf, class WordOf>
  __device__ __forceinline__ void assign(uint32_t count, AddressOf&& address_of, WordOf&& word_of) const {
    const bool stores = lane_ < count;
    auto* const address = address_of(stores ? lane_ : 0);
    const auto word = word_of(stores ? lane_ : 0);
    __syncwarp();
    if (stores) access::template store<memory_order::relaxed>(address, word);
    __syncwarp();
  }
  template <memory_order Order, class Cell>
  __device__ __forceinline__ Cell load_cell(const Cell* address) const {
    return access::template load<Order>(address);
  }
  /// The grid and the multiprocessor.
  __device__ __forceinline__ uint64_t place() const {
    uint64_t grid;
    uint32_t multiprocessor;
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    return grid << 16 | (multiprocessor + 1);
  }
  __device__ __forceinline__ void refuse_place() const {
    __trap();
  }
  template <class Participant>
  __device__ __forceinline__ void milestone(uint32_t, const Participant&) const {}

 private:
  static constexpr unsigned all_lanes = 0xffffffffu;

  /// What orders the other lanes' accesses with those of lane 0. Tagged words need no order.
  template <memory_order Order>
  __device__ __forceinline__ void meet_for() const {
    if constexpr (Order != memory_order::relaxed) __syncwarp();
  }
  static __device__ __forceinline__ uint32_t from_lane(uint32_t word, int lane) {
    return __shfl_sync(all_lanes, word, lane);
  }
  static __device__ __forceinline__ uint64_t from_lane(uint64_t word, int lane) {
    return __shfl_sync(all_lanes, static_cast<unsigned long long>(word), lane);
  }
  static __device__ __forceinline__ uint32_t from_before(uint32_t word, uint32_t distance) {
    return __shfl_up_sync(all_lanes, word, distance);
  }
  static __device__ __forceinline__ uint64_t from_before(uint64_t word, uint32_t distance) {
    return __shfl_up_sync(all_lanes, static_cast<unsigned long long>(word), distance);
  }

  uint32_t lane_;
};

}  // namespace gpusync::rmw
