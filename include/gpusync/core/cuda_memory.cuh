// Atomic operations on global memory of a CUDA device, each one PTX instruction (PTX ISA, memory consistency model).
#pragma once

#include <gpusync/core/config.hpp>
#include <gpusync/core/ordering.hpp>

namespace gpusync {

/// Atomics on aligned 32-bit words in global memory (or mapped host memory). The scope is PTX's: block = .cta,
/// device = .gpu, system = .sys. Needs sm_70.
///
/// Inline PTX instead of libcu++'s atomic_ref: a barrier's speed hangs on which instruction it is (a relaxed poll
/// that ptxas keeps in its loop, one acquire after it), and the headers stay light enough for NVRTC.
struct cuda_memory {
  /// Returns the word at `address`. Order: relaxed or acquire.
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ uint32_t load(const uint32_t* address) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::acquire, "a load is relaxed or acquires");
    uint32_t value = 0;
    const size_t global = __cvta_generic_to_global(address);
#define GPUSYNC_LOAD(ORDER, SCOPE) \
  asm volatile("ld." ORDER "." SCOPE ".global.u32 %0, [%1];" : "=r"(value) : "l"(global) : "memory")
    if constexpr (Order == memory_order::relaxed) {
      if constexpr (Scope == scope::block) GPUSYNC_LOAD("relaxed", "cta");
      if constexpr (Scope == scope::device) GPUSYNC_LOAD("relaxed", "gpu");
      if constexpr (Scope == scope::system) GPUSYNC_LOAD("relaxed", "sys");
    } else {
      if constexpr (Scope == scope::block) GPUSYNC_LOAD("acquire", "cta");
      if constexpr (Scope == scope::device) GPUSYNC_LOAD("acquire", "gpu");
      if constexpr (Scope == scope::system) GPUSYNC_LOAD("acquire", "sys");
    }
#undef GPUSYNC_LOAD
    return value;
  }

  /// Stores `value` at `address`. Order: relaxed or release.
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ void store(uint32_t* address, uint32_t value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release, "a store is relaxed or releases");
    const size_t global = __cvta_generic_to_global(address);
#define GPUSYNC_STORE(ORDER, SCOPE) \
  asm volatile("st." ORDER "." SCOPE ".global.u32 [%0], %1;" ::"l"(global), "r"(value) : "memory")
    if constexpr (Order == memory_order::relaxed) {
      if constexpr (Scope == scope::block) GPUSYNC_STORE("relaxed", "cta");
      if constexpr (Scope == scope::device) GPUSYNC_STORE("relaxed", "gpu");
      if constexpr (Scope == scope::system) GPUSYNC_STORE("relaxed", "sys");
    } else {
      if constexpr (Scope == scope::block) GPUSYNC_STORE("release", "cta");
      if constexpr (Scope == scope::device) GPUSYNC_STORE("release", "gpu");
      if constexpr (Scope == scope::system) GPUSYNC_STORE("release", "sys");
    }
#undef GPUSYNC_STORE
  }

  /// Adds `value` to the word at `address` and returns what it held before. Order: relaxed, acquire, release, acq_rel.
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ uint32_t fetch_add(uint32_t* address, uint32_t value) {
    static_assert(Order != memory_order::seq_cst, "PTX has no sequentially consistent atomic: add a fence");
    uint32_t before = 0;
    const size_t global = __cvta_generic_to_global(address);
#define GPUSYNC_ADD(ORDER, SCOPE)                                      \
  asm volatile("atom." ORDER "." SCOPE ".global.add.u32 %0, [%1], %2;" \
               : "=r"(before)                                          \
               : "l"(global), "r"(value)                               \
               : "memory")
#define GPUSYNC_ADD_IN_SCOPE(ORDER)                                \
  if constexpr (Scope == scope::block) GPUSYNC_ADD(ORDER, "cta");  \
  if constexpr (Scope == scope::device) GPUSYNC_ADD(ORDER, "gpu"); \
  if constexpr (Scope == scope::system) GPUSYNC_ADD(ORDER, "sys")
    if constexpr (Order == memory_order::relaxed) {
      GPUSYNC_ADD_IN_SCOPE("relaxed");
    } else if constexpr (Order == memory_order::acquire) {
      GPUSYNC_ADD_IN_SCOPE("acquire");
    } else if constexpr (Order == memory_order::release) {
      GPUSYNC_ADD_IN_SCOPE("release");
    } else {
      GPUSYNC_ADD_IN_SCOPE("acq_rel");
    }
#undef GPUSYNC_ADD_IN_SCOPE
#undef GPUSYNC_ADD
    return before;
  }

  /// fetch_add() on two words, on which nothing may rely as to which is first. Order: relaxed or release, by one fence
  /// for both: a second one would wait for the first add to come back. Scope: device.
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ two_words fetch_add_both(uint32_t* first, uint32_t* second, uint32_t value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release, "two adds are relaxed or release");
    static_assert(Scope == scope::device, "the fence is the device's");
    if constexpr (Order == memory_order::release) release_fence();
    const uint32_t before = fetch_add<memory_order::relaxed, Scope>(first, value);
    return {before, fetch_add<memory_order::relaxed, Scope>(second, value)};
  }

  /// Adds `value` to the word at `address` and does not wait for what it held. Order: relaxed or release.
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ void add(uint32_t* address, uint32_t value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release,
                  "a reduction is relaxed or releases");
    const size_t global = __cvta_generic_to_global(address);
#define GPUSYNC_RED(ORDER, SCOPE) \
  asm volatile("red." ORDER "." SCOPE ".global.add.u32 [%0], %1;" ::"l"(global), "r"(value) : "memory")
    if constexpr (Order == memory_order::relaxed) {
      if constexpr (Scope == scope::block) GPUSYNC_RED("relaxed", "cta");
      if constexpr (Scope == scope::device) GPUSYNC_RED("relaxed", "gpu");
      if constexpr (Scope == scope::system) GPUSYNC_RED("relaxed", "sys");
    } else {
      if constexpr (Scope == scope::block) GPUSYNC_RED("release", "cta");
      if constexpr (Scope == scope::device) GPUSYNC_RED("release", "gpu");
      if constexpr (Scope == scope::system) GPUSYNC_RED("release", "sys");
    }
#undef GPUSYNC_RED
  }

  /// Waits until the calling thread's writes are performed at device scope, without ordering anything: a release fence
  /// for its time, not for its meaning. On H200 the cost of the next release depends on what the multiprocessor has
  /// touched since its last one; this takes that cost at a moment when it delays nobody. `times`: 0 or 1.
  ///
  /// A loop that the compiler cannot see through, and not a condition: of a condition it makes predicated fences, and
  /// on H200 even one that is predicated off waits until the operation before it has been performed.
  static __device__ __forceinline__ void drain(uint32_t times) {
    asm volatile("" : "+r"(times));
    GPUSYNC_UNROLL(1)
    for (; times != 0; --times) release_fence();
  }

  /// Makes visible what was released before the value last read from `address` was written. An acquiring load whose
  /// value nobody uses: on sm_90 it leaves one L1 invalidation (CCTL.IVALL), where a fence would be a round trip.
  template <scope Scope>
  static __device__ __forceinline__ void acquire(const uint32_t* address) {
    (void)load<memory_order::acquire, Scope>(address);
  }

  /// A fence of all the calling thread's accesses, as __threadfence() is for scope::device.
  template <scope Scope>
  static __device__ __forceinline__ void fence() {
    if constexpr (Scope == scope::block) __threadfence_block();
    if constexpr (Scope == scope::device) __threadfence();
    if constexpr (Scope == scope::system) __threadfence_system();
  }

 private:
  static __device__ __forceinline__ void release_fence() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.release.gpu;" ::: "memory");
#else
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
  }
};

}  // namespace gpusync
