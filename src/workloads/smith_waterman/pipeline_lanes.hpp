// The lanes of a warp of the pipeline (pipeline.hpp), which do the same at the same time: on a GPU the threads of a
// warp, on the host one thread that goes through them. C++17: CUDA sources include it.
#pragma once

#include <gpusync/core/concepts.hpp>
#if defined(__CUDACC__)
#include <gpusync/core/cuda_warps_grid.cuh>
#endif

namespace gpusync::tool {

/// On the host: one thread is a warp of `Count` lanes.
template <class Grid, uint32_t Count>
struct lanes_of_thread {
  static constexpr uint32_t count = Count;  ///< lanes of a warp
  static constexpr uint32_t here = Count;   ///< lanes whose state this thread has
  static constexpr uint32_t threads_of_warp = 1;

  /// The warp as a Grid, for the library.
  struct view : Grid {
    static constexpr bool whole_block = false;
    explicit view(Grid grid) : Grid(grid) {}
    bool valid() const { return true; }
    uint32_t threads() const { return 1; }
    uint32_t thread() const { return 0; }
    void sync_block() const {}
    bool sync_block_or(bool value) const { return value; }
    bool sync_block_any(bool value, uint32_t) const { return value; }
  };
  static view warp_of(const Grid& grid, uint32_t) { return view(grid); }

  /// Calls `use(lane, place)` for each lane that this thread has; `place` is its number among those.
  template <class Use>
  static void each(Use&& use) {
    for (uint32_t lane = 0; lane < Count; ++lane) use(lane, lane);
  }
  static void meet() {}
  /// Between two polls of a warp that has nothing else to do.
  static void rest() {}
  /// Whether the calling thread is the one that speaks for the warp.
  static bool speaks() { return true; }
  /// Gives each lane but the first the value of the lane before it; `value(place)` is a lane's.
  template <class Value>
  static void shift(Value&& value) {
    for (uint32_t lane = Count; lane-- > 1;) value(lane) = value(lane - 1);
  }
};

#if defined(__CUDACC__)
/// On a GPU: the threads of a warp are its lanes.
struct lanes_of_warp {
  static constexpr uint32_t count = 32, here = 1, threads_of_warp = 32;

  using view = cuda_warps_grid<>;
  template <class Grid>
  static __device__ __forceinline__ view warp_of(const Grid&, uint32_t warp) {
    return view(warp * 32, 32);
  }
  template <class Use>
  static __device__ __forceinline__ void each(Use&& use) {
    use(threadIdx.x % 32, 0u);
  }
  static __device__ __forceinline__ void meet() { __syncwarp(); }
  /// A poll of shared memory is soon back, and takes turns from warps that compute.
  static __device__ __forceinline__ void rest() { __nanosleep(20); }
  static __device__ __forceinline__ bool speaks() { return threadIdx.x % 32 == 31; }
  template <class Value>
  static __device__ __forceinline__ void shift(Value&& value) {
    value(0u) = __shfl_up_sync(~0u, value(0u), 1);
  }
};
#endif

// The few instructions that the recurrence is made of. On sm_90 each is one instruction.

/// The greatest of two numbers and 0.
GPUSYNC_HD inline int32_t greatest_or_0(int32_t a, int32_t b) {
#if defined(__CUDA_ARCH__)
  return __vimax_s32_relu(a, b);
#else
  const int32_t most = a > b ? a : b;
  return most > 0 ? most : 0;
#endif
}

/// The greatest of three numbers.
GPUSYNC_HD inline int32_t greatest(int32_t a, int32_t b, int32_t c) {
#if defined(__CUDA_ARCH__)
  return __vimax3_s32(a, b, c);
#else
  return a > b ? (a > c ? a : c) : (b > c ? b : c);
#endif
}

/// a + b, or c if that is greater.
GPUSYNC_HD inline int32_t sum_or(int32_t a, int32_t b, int32_t c) {
#if defined(__CUDA_ARCH__)
  return __viaddmax_s32(a, b, c);
#else
  return a + b > c ? a + b : c;
#endif
}

/// `to` and the sum of the products of the bytes of both words, with their signs.
GPUSYNC_HD inline int32_t add_products(uint32_t one, uint32_t other, int32_t to) {
#if defined(__CUDA_ARCH__)
  return __dp4a(static_cast<int>(one), static_cast<int>(other), to);
#else
  for (uint32_t k = 0; k < 4; ++k) {
    to += static_cast<int8_t>(one >> (8 * k)) * static_cast<int8_t>(other >> (8 * k));
  }
  return to;
#endif
}

/// a * b + c by the multiplier, where the compiler would rather take the busier unit that adds and shifts.
GPUSYNC_HD inline int32_t multiplied(int32_t a, int32_t b, int32_t c) {
#if defined(__CUDA_ARCH__)
  int32_t sum;
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
#else
  return a * b + c;
#endif
}

}  // namespace gpusync::tool
