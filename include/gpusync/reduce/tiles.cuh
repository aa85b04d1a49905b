// A block's share of a sum over a whole device: what gpusync::reduce() is made of, for kernels that sum among other
// things. Inputs are read once, 16 bytes at a time.
#pragma once

#include <gpusync/core/cuda_memory.cuh>
#include <gpusync/reduce/plan.hpp>

namespace gpusync::reduction {

/// What is summed: whole vectors of 16 bytes, and up to three elements before and behind them. T: float or double.
template <class T>
struct input {
  const void* body;      ///< the first whole vector
  uint64_t vectors;      ///< of 16 bytes, from there on
  uint16_t front_count;  ///< elements before it
  uint16_t edge_count;   ///< these, and those behind the last vector
};

/// `count` elements from `from` on, cut at the boundaries of 16 bytes. Precondition: `from` is aligned for T.
template <class T>
__host__ __device__ inline input<T> cut(const T* from, size_t count) {
  constexpr size_t per_vector = 16 / sizeof(T);
  const size_t misaligned = reinterpret_cast<uintptr_t>(from) % 16 / sizeof(T);
  const size_t to_boundary = misaligned == 0 ? 0 : per_vector - misaligned;
  const size_t front = to_boundary < count ? to_boundary : count;
  const size_t vectors = (count - front) / per_vector;
  const size_t behind = count - front - vectors * per_vector;
  return {from + front, vectors, static_cast<uint16_t>(front), static_cast<uint16_t>(front + behind)};
}

/// The sum of the lanes of a warp, in each of them; those beyond the first `Lanes`, a power of two, hold 0.
template <unsigned Lanes = 32, class T>
__device__ __forceinline__ T sum_of_warp(T value) {
  static_assert(Lanes != 0 && (Lanes & (Lanes - 1)) == 0 && Lanes <= 32, "lanes are halved until one is left");
#pragma unroll
  for (unsigned step = Lanes / 2; step != 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

/// The sum over a block of so many threads, in lane 0 of its first warp. Before it is called again, all must have
/// passed a barrier of the block.
template <unsigned Threads, class T>
__device__ __forceinline__ T sum_of_block(T value) {
  static_assert(Threads % 32 == 0 && Threads != 0 && Threads <= 1024, "a block of whole warps");
  constexpr unsigned warps = Threads / 32;
  constexpr unsigned lanes = warps > 16 ? 32 : warps > 8 ? 16 : warps > 4 ? 8 : warps > 2 ? 4 : warps;
  value = sum_of_warp(value);
  if constexpr (warps > 1) {
    __shared__ T parts[warps];
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) value = sum_of_warp<lanes>(threadIdx.x < warps ? parts[threadIdx.x] : T(0));
  }
  return value;
}

}  // namespace gpusync::reduction

namespace gpusync::detail {

/// Four floats or two doubles: what one load brings.
template <class T>
struct reduction_vector;
template <>
struct reduction_vector<float> {
  using type = float4;
  static __device__ __forceinline__ float4 zero() { return make_float4(0, 0, 0, 0); }
  static __device__ __forceinline__ void add(float4& to, const float4& value) {
    to.x += value.x, to.y += value.y, to.z += value.z, to.w += value.w;
  }
  static __device__ __forceinline__ float total(const float4& of) { return (of.x + of.y) + (of.z + of.w); }
  static __device__ __forceinline__ float4 streamed(const float4* from) {
    float4 value;
    asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
        : "l"(from));
    return value;
  }
};
template <>
struct reduction_vector<double> {
  using type = double2;
  static __device__ __forceinline__ double2 zero() { return make_double2(0, 0); }
  static __device__ __forceinline__ void add(double2& to, const double2& value) { to.x += value.x, to.y += value.y; }
  static __device__ __forceinline__ double total(const double2& of) { return of.x + of.y; }
  static __device__ __forceinline__ double2 streamed(const double2* from) {
    double2 value;
    asm("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(value.x), "=d"(value.y) : "l"(from));
    return value;
  }
};

/// What a thread has summed of its block's tiles.
template <class T, unsigned Threads, unsigned Vectors, bool Streamed>
class tile_sum {
 public:
  explicit __device__ __forceinline__ tile_sum(const reduction::input<T>& in)
      : vectors_(static_cast<const vector*>(in.body)), count_(in.vectors) {}

  /// Tiles of which all is there.
  __device__ __forceinline__ uint32_t whole_tiles() const { return static_cast<uint32_t>(count_ / tile); }

  /// Adds a whole tile. Two running sums: additions of one follow each other. Calls `meanwhile()` when its vectors are
  /// on their way.
  template <class Meanwhile>
  __device__ __forceinline__ void add_whole(uint32_t number, const Meanwhile& meanwhile) {
    const vector* const from = vectors_ + uint64_t{number} * tile + threadIdx.x;
    vector loaded[Vectors];
#pragma unroll
    for (unsigned v = 0; v < Vectors; ++v) loaded[v] = load(from + v * Threads);
    meanwhile();
#pragma unroll
    for (unsigned v = 0; v < Vectors; ++v) arithmetic::add(sums_[v % 2], loaded[v]);
  }

  /// Adds what there is of a tile, in the same way; nothing if it begins behind the input.
  template <class Meanwhile>
  __device__ __forceinline__ void add_some(uint32_t number, const Meanwhile& meanwhile) {
    const uint64_t before = uint64_t{number} * tile;
    const vector* const from = vectors_ + before + threadIdx.x;
    vector loaded[Vectors];
    if (before + tile <= count_) {
      // Nearly always: so that little stands before the first load.
#pragma unroll
      for (unsigned v = 0; v < Vectors; ++v) loaded[v] = load(from + v * Threads);
    } else {
      const uint64_t behind = before < count_ ? count_ - before : 0;
#pragma unroll
      for (unsigned v = 0; v < Vectors; ++v) {
        loaded[v] = arithmetic::zero();
        if (threadIdx.x + v * Threads < behind) loaded[v] = load(from + v * Threads);
      }
    }
    meanwhile();
#pragma unroll
    for (unsigned v = 0; v < Vectors; ++v) arithmetic::add(sums_[v % 2], loaded[v]);
  }

  __device__ __forceinline__ T total() {
    arithmetic::add(sums_[0], sums_[1]);
    return arithmetic::total(sums_[0]);
  }

 private:
  using arithmetic = reduction_vector<T>;
  using vector = typename arithmetic::type;
  static constexpr unsigned tile = Threads * Vectors;

  static __device__ __forceinline__ vector load(const vector* from) {
    if constexpr (Streamed) return arithmetic::streamed(from);
    return __ldg(from);
  }

  const vector* const vectors_;
  const uint64_t count_;
  vector sums_[2] = {arithmetic::zero(), arithmetic::zero()};
};

/// Loads a value that nobody writes meanwhile, or 0 if not `wanted`. Straight code: behind a branch compilers would
/// load it when the tile's vectors have come, one round trip later.
__device__ __forceinline__ float load_if(bool wanted, const float* from) {
  float value;
  asm volatile(
      "{ .reg .pred wanted; setp.ne.u32 wanted, %2, 0; mov.f32 %0, 0f00000000; @wanted ld.global.nc.f32 %0, [%1]; }"
      : "=&f"(value)
      : "l"(__cvta_generic_to_global(from)), "r"(static_cast<uint32_t>(wanted)));
  return value;
}
__device__ __forceinline__ double load_if(bool wanted, const double* from) {
  double value;
  asm volatile(
      "{ .reg .pred wanted; setp.ne.u32 wanted, %2, 0; mov.f64 %0, 0d0000000000000000; @wanted ld.global.nc.f64 %0, "
      "[%1]; }"
      : "=&d"(value)
      : "l"(__cvta_generic_to_global(from)), "r"(static_cast<uint32_t>(wanted)));
  return value;
}

/// The elements before and behind the whole vectors, one for each of the first threads of a block that is `in_charge`.
template <class T>
__device__ __forceinline__ T edge_of(const reduction::input<T>& in, bool in_charge) {
  constexpr unsigned per_vector = 16 / sizeof(T);
  // From the first one on: behind the last vector those that are not before the first.
  const T* const front = static_cast<const T*>(in.body) - in.front_count;
  const uint64_t place = threadIdx.x < in.front_count ? threadIdx.x : threadIdx.x + in.vectors * per_vector;
  return load_if(in_charge && threadIdx.x < in.edge_count, front + place);
}

/// See reduction::sum_of_tiles(). Calls `meanwhile()` once, when the first tile is on its way: for what else is to be
/// loaded.
template <class T, unsigned Threads, unsigned Vectors, reduction_walk Walk, bool Streamed, class Meanwhile>
__device__ __forceinline__ T sum_of_tiles_and(const reduction::input<T>& in, [[maybe_unused]] uint32_t* claimed,
                                              uint32_t block, [[maybe_unused]] uint32_t blocks,
                                              const Meanwhile& meanwhile) {
  tile_sum<T, Threads, Vectors, Streamed> sum(in);
  T edge = 0;
  const auto load_others = [&] {
    meanwhile();
    edge = edge_of(in, block == 0);
  };
  if constexpr (Walk == reduction_walk::one_tile) {
    sum.add_some(block, load_others);
  } else {
    const auto nothing_else = [] {};
    const uint32_t whole = sum.whole_tiles();
    const auto add_first = [&] {
      if (block < whole) {
        sum.add_whole(block, load_others);
      } else {
        load_others();
      }
    };
    if constexpr (Walk == reduction_walk::dealt) {
      add_first();
      for (uint32_t tile = block + blocks; tile < whole; tile += blocks) sum.add_whole(tile, nothing_else);
    } else {
      // The next claim is under way while a tile is loaded. Two words: one is read while the other is written.
      __shared__ uint32_t next[2];
      const auto claim = [&] {
        return blocks + cuda_memory::fetch_add<memory_order::relaxed, scope::device>(claimed, 1u);
      };
      __syncthreads();  // this may be the kernel's second sum
      if (threadIdx.x == 0) next[0] = claim();
      add_first();
      __syncthreads();
      uint32_t tile = next[0];
      for (unsigned turn = 1; tile < whole; turn ^= 1) {
        if (threadIdx.x == 0) next[turn] = claim();
        sum.add_whole(tile, nothing_else);
        __syncthreads();
        tile = next[turn];
      }
    }
    if (block == whole % blocks) sum.add_some(whole, nothing_else);
  }
  return sum.total() + edge;
}

}  // namespace gpusync::detail

namespace gpusync::reduction {

/// The calling thread's part of the tiles of block `block` of `blocks`; all threads' parts together are the whole sum.
/// By all threads of blocks of so many threads. Each loads so many vectors at once, past the L1 cache if Streamed.
/// `claimed`: for reduction_walk::claimed a word of device memory that is 0 when the kernel starts; else not used.
/// What is summed is not written while the kernel runs.
template <class T, unsigned Threads, unsigned Vectors, reduction_walk Walk, bool Streamed>
__device__ __forceinline__ T sum_of_tiles(const input<T>& in, uint32_t* claimed, uint32_t block, uint32_t blocks) {
  return detail::sum_of_tiles_and<T, Threads, Vectors, Walk, Streamed>(in, claimed, block, blocks, [] {});
}

}  // namespace gpusync::reduction
