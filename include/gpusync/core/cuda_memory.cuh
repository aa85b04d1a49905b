// Atomic operations on memory of a CUDA device, each one PTX instruction (PTX ISA, memory consistency model).
#pragma once

#include <gpusync/core/config.hpp>
#include <gpusync/core/ordering.hpp>

namespace gpusync {

namespace detail {

struct in_global_memory {
  static constexpr bool shared = false;
  static __device__ __forceinline__ size_t address(const void* generic) { return __cvta_generic_to_global(generic); }
};
struct in_shared_memory {
  static constexpr bool shared = true;
  static __device__ __forceinline__ size_t address(const void* generic) { return __cvta_generic_to_shared(generic); }
};

// An asm statement with PTX's words for Order, Scope and Place between the two strings: "ld" and ".u32 %0, [%1];"
// become "ld.relaxed.gpu.global.u32 %0, [%1];". All are written out, for clang has no operands that are strings.
#define GPUSYNC_PTX_PLACE(BEFORE, ORDER, SCOPE, AFTER, ...)               \
  if constexpr (Place::shared) {                                          \
    asm volatile(BEFORE "." ORDER "." SCOPE ".shared" AFTER __VA_ARGS__); \
  } else {                                                                \
    asm volatile(BEFORE "." ORDER "." SCOPE ".global" AFTER __VA_ARGS__); \
  }
#define GPUSYNC_PTX_SCOPE(BEFORE, ORDER, AFTER, ...)            \
  if constexpr (Scope == scope::block) {                        \
    GPUSYNC_PTX_PLACE(BEFORE, ORDER, "cta", AFTER, __VA_ARGS__) \
  } else if constexpr (Scope == scope::device) {                \
    GPUSYNC_PTX_PLACE(BEFORE, ORDER, "gpu", AFTER, __VA_ARGS__) \
  } else {                                                      \
    GPUSYNC_PTX_PLACE(BEFORE, ORDER, "sys", AFTER, __VA_ARGS__) \
  }
#define GPUSYNC_PTX(BEFORE, AFTER, ...)                      \
  if constexpr (Order == memory_order::relaxed) {            \
    GPUSYNC_PTX_SCOPE(BEFORE, "relaxed", AFTER, __VA_ARGS__) \
  } else if constexpr (Order == memory_order::acquire) {     \
    GPUSYNC_PTX_SCOPE(BEFORE, "acquire", AFTER, __VA_ARGS__) \
  } else if constexpr (Order == memory_order::release) {     \
    GPUSYNC_PTX_SCOPE(BEFORE, "release", AFTER, __VA_ARGS__) \
  } else {                                                   \
    GPUSYNC_PTX_SCOPE(BEFORE, "acq_rel", AFTER, __VA_ARGS__) \
  }

/// Atomic operations on words of 32, 64 and 128 bits, and on pairs of words, in global or in shared memory.
///
/// Inline PTX instead of libcu++'s atomic_ref: a barrier's speed hangs on which instruction it is (a relaxed poll
/// that ptxas keeps in its loop, one acquire after it), and the headers stay light enough for NVRTC.
template <class Place>
struct cuda_atomics {
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ uint32_t load(const uint32_t* address) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::acquire, "a load is relaxed or acquires");
    uint32_t value;
    GPUSYNC_PTX("ld", ".u32 %0, [%1];", : "=r"(value) : "l"(Place::address(address)) : "memory")
    return value;
  }
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ uint64_t load(const uint64_t* address) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::acquire, "a load is relaxed or acquires");
    uint64_t value;
    GPUSYNC_PTX("ld", ".u64 %0, [%1];", : "=l"(value) : "l"(Place::address(address)) : "memory")
    return value;
  }
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ word_pair load(const word_pair* address) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::acquire, "a load is relaxed or acquires");
    word_pair value;
    GPUSYNC_PTX("ld", ".v2.u64 {%0, %1}, [%2];",
                : "=l"(value.first), "=l"(value.second)
                : "l"(Place::address(address))
                : "memory")
    return value;
  }
  /// 128 bits: PTX 8.3.
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ wide_word load(const wide_word* address) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::acquire, "a load is relaxed or acquires");
    wide_word value;
    GPUSYNC_PTX("{ .reg .b128 all; ld", ".b128 all, [%2]; mov.b128 {%0, %1}, all; }",
                : "=l"(value.low), "=l"(value.high)
                : "l"(Place::address(address))
                : "memory")
    return value;
  }

  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ void store(uint32_t* address, uint32_t value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release, "a store is relaxed or releases");
    GPUSYNC_PTX("st", ".u32 [%0], %1;", ::"l"(Place::address(address)), "r"(value) : "memory")
  }
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ void store(uint64_t* address, uint64_t value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release, "a store is relaxed or releases");
    GPUSYNC_PTX("st", ".u64 [%0], %1;", ::"l"(Place::address(address)), "l"(value) : "memory")
  }
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ void store(word_pair* address, const word_pair& value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release, "a store is relaxed or releases");
    GPUSYNC_PTX("st", ".v2.u64 [%0], {%1, %2};", ::"l"(Place::address(address)), "l"(value.first), "l"(value.second)
                : "memory")
  }
  /// 128 bits: PTX 8.3.
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ void store(wide_word* address, const wide_word& value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release, "a store is relaxed or releases");
    GPUSYNC_PTX("{ .reg .b128 all; mov.b128 all, {%1, %2}; st", ".b128 [%0], all; }", ::"l"(Place::address(address)),
                "l"(value.low), "l"(value.high)
                : "memory")
  }

  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ uint32_t fetch_add(uint32_t* address, uint32_t value) {
    uint32_t before;
    GPUSYNC_PTX("atom", ".add.u32 %0, [%1], %2;", : "=r"(before) : "l"(Place::address(address)), "r"(value) : "memory")
    return before;
  }
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ uint64_t fetch_add(uint64_t* address, uint64_t value) {
    uint64_t before;
    GPUSYNC_PTX("atom", ".add.u64 %0, [%1], %2;", : "=l"(before) : "l"(Place::address(address)), "l"(value) : "memory")
    return before;
  }

  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ void add(uint32_t* address, uint32_t value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release,
                  "a reduction is relaxed or releases");
    GPUSYNC_PTX("red", ".add.u32 [%0], %1;", ::"l"(Place::address(address)), "r"(value) : "memory")
  }
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ void add(uint64_t* address, uint64_t value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release,
                  "a reduction is relaxed or releases");
    GPUSYNC_PTX("red", ".add.u64 [%0], %1;", ::"l"(Place::address(address)), "l"(value) : "memory")
  }

  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ uint32_t compare_exchange(uint32_t* address, uint32_t expected, uint32_t desired) {
    uint32_t before;
    GPUSYNC_PTX("atom", ".cas.b32 %0, [%1], %2, %3;",
                : "=r"(before)
                : "l"(Place::address(address)), "r"(expected), "r"(desired)
                : "memory")
    return before;
  }
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ uint64_t compare_exchange(uint64_t* address, uint64_t expected, uint64_t desired) {
    uint64_t before;
    GPUSYNC_PTX("atom", ".cas.b64 %0, [%1], %2, %3;",
                : "=l"(before)
                : "l"(Place::address(address)), "l"(expected), "l"(desired)
                : "memory")
    return before;
  }
  /// sm_90; older GPUs have no such instruction and trap. The host refuses rmw::cas128 for them
  /// (rmw::require_evidence), so that is for programs that never asked.
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ wide_word compare_exchange(wide_word* address, wide_word expected,
                                                               wide_word desired) {
    wide_word before = expected;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    GPUSYNC_PTX("{ .reg .b128 from, to, was; mov.b128 from, {%3, %4}; mov.b128 to, {%5, %6}; atom",
                ".cas.b128 was, [%2], from, to; mov.b128 {%0, %1}, was; }",
                : "=l"(before.low), "=l"(before.high)
                : "l"(Place::address(address)), "l"(expected.low), "l"(expected.high), "l"(desired.low),
                  "l"(desired.high)
                : "memory")
#else
    (void)address, (void)desired;
    __trap();
#endif
    return before;
  }
};

#undef GPUSYNC_PTX
#undef GPUSYNC_PTX_SCOPE
#undef GPUSYNC_PTX_PLACE

/// A release fence at device scope.
__device__ __forceinline__ void release_fence() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.release.gpu;" ::: "memory");
#else
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

/// A sequentially consistent fence.
template <scope Scope>
__device__ __forceinline__ void sequential_fence() {
  if constexpr (Scope == scope::block) asm volatile("fence.sc.cta;" ::: "memory");
  if constexpr (Scope == scope::device) asm volatile("fence.sc.gpu;" ::: "memory");
  if constexpr (Scope == scope::system) asm volatile("fence.sc.sys;" ::: "memory");
}

}  // namespace detail

/// Atomics on aligned words of 32 and 64 bits in global memory (or mapped host memory). The scope is PTX's: block =
/// .cta, device = .gpu, system = .sys. Needs sm_70. Fulfils @ref Memory, and has compare_exchange() besides.
struct cuda_memory : detail::cuda_atomics<detail::in_global_memory> {
  /// fetch_add() on two words, on which nothing may rely as to which is first. Order: relaxed or release, by one fence
  /// for both: a second one would wait for the first add to come back. Scope: device.
  template <memory_order Order, scope Scope>
  static __device__ __forceinline__ two_words fetch_add_both(uint32_t* first, uint32_t* second, uint32_t value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release, "two adds are relaxed or release");
    static_assert(Scope == scope::device, "the fence is the device's");
    if constexpr (Order == memory_order::release) detail::release_fence();
    const uint32_t before = fetch_add<memory_order::relaxed, Scope>(first, value);
    return {before, fetch_add<memory_order::relaxed, Scope>(second, value)};
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
    for (; times != 0; --times) detail::release_fence();
  }

  /// Makes visible what was released before the value last read from `address` was written. An acquiring load whose
  /// value nobody uses: on sm_90 it leaves one L1 invalidation (CCTL.IVALL), where a fence would be a round trip.
  template <scope Scope>
  static __device__ __forceinline__ void acquire(const uint32_t* address) {
    (void)load<memory_order::acquire, Scope>(address);
  }
  /// The same for a word of 64 bits.
  template <scope Scope>
  static __device__ __forceinline__ void acquire(const uint64_t* address) {
    (void)load<memory_order::acquire, Scope>(address);
  }

  /// A fence of all the calling thread's accesses, as __threadfence() is for scope::device.
  template <scope Scope>
  static __device__ __forceinline__ void fence() {
    if constexpr (Scope == scope::block) __threadfence_block();
    if constexpr (Scope == scope::device) __threadfence();
    if constexpr (Scope == scope::system) __threadfence_system();
  }
};

}  // namespace gpusync
