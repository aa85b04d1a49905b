// Workload "reduction" on CUDA devices: blocks' sums, a barrier, and their sum. The barrier is the end of a kernel
// (Zhang and others, figure 14), with and without programmatic dependent launch, or one of the whole grid (figure 13).
// And kernels that do no more than to read, which no sum is faster than.
#include <cooperative_groups.h>

#include <gpusync/core/cuda_code.cuh>
#include <gpusync/gpusync.cuh>

#include "boundary/cuda_barriers.hpp"
#include "boundary/cuda_launch.hpp"
#include "workloads/reduction/sum_forms.cuh"

namespace gpusync::tool {

namespace {

using sum_form::blocks_per_sm, sum_form::threads;

/// The sum of what blocks have left, by one of them.
template <class T>
__device__ __forceinline__ void sum_up(const T* sums, uint32_t count, T* out) {
  const T share = share_of_sums<threads>(sums, count);
  __syncthreads();
  const T total = reduction::sum_of_block<threads>(share);
  if (threadIdx.x == 0) *out = total;
}

template <class T>
__global__ void __launch_bounds__(threads) sum_sums(const T* sums, uint32_t count, T* out) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  sum_up(sums, count, out);
}

template <class T>
__global__ void __launch_bounds__(threads, full_blocks<threads, blocks_per_sm>)
    sum_with_cooperative_groups(reduction::input<T> in, T* sums, T* out) {
  const T sum = sum_of_this_block(in);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0) sum_up(sums, gridDim.x, out);
}

template <class T>
__global__ void __launch_bounds__(threads, full_blocks<threads, blocks_per_sm>)
    sum_with_grid_barrier(reduction::input<T> in, T* sums, T* out, grid_barrier barrier) {
  const T sum = sum_of_this_block(in);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  barrier.sync();
  if (blockIdx.x == 0) sum_up(sums, gridDim.x, out);
}

/// Reads all, and leaves each block's sum, so that it can be checked that all was read.
template <class T, unsigned Threads, unsigned Vectors, reduction_walk Walk>
__global__ void __launch_bounds__(Threads, full_blocks<Threads, 4096 / Threads / Vectors>)
    read_all(reduction::input<T> in, uint32_t* claimed, uint32_t* left, T* sums) {
  const T sum = reduction::sum_of_block<Threads>(
      reduction::sum_of_tiles<T, Threads, Vectors, Walk, Walk != reduction_walk::one_tile>(in, claimed, blockIdx.x,
                                                                                           gridDim.x));
  if (threadIdx.x != 0) return;
  sums[blockIdx.x] = sum;
  if constexpr (Walk == reduction_walk::claimed) {
    if (atomicInc(left, gridDim.x - 1) == gridDim.x - 1) *claimed = 0;  // the last to leave
  }
}

/// What the blocks of a form leave their sums in.
template <class T>
std::shared_ptr<cuda_buffer> memory_for_sums(const cuda_target& where) {
  return std::make_shared<cuda_buffer>(where.device(), sizeof(T) * blocks_per_sm * where.device().sm_count(),
                                       where.stream());
}

template <class T>
sum_calls two_kernels(const cuda_target& where, const sum_pieces<T>& pieces, bool dependent) {
  if (dependent && code_for(where.device()) < 90) {
    throw invalid_argument("Programmatic dependent launch needs code for compute capability 9.0.");
  }
  const uint32_t blocks = blocks_for<T>(where, pieces.elements);
  const auto memory = memory_for_sums<T>(where);
  return {[=](cudaStream_t stream, uint32_t number) {
    auto* sums = static_cast<T*>(memory->address());
    reduction::input<T> in = reduction::cut(pieces.input(number), pieces.elements);
    void* first[] = {&in, &sums};
    start_kernel(stream, {blocks, threads}, kernel_start::plain, reinterpret_cast<const void*>(&sum_blocks<T>), first);
    uint32_t count = blocks;
    T* out = pieces.result(number);
    void* second[] = {&sums, &count, &out};
    start_kernel(stream, {1, threads}, dependent ? kernel_start::dependent : kernel_start::plain,
                 reinterpret_cast<const void*>(&sum_sums<T>), second);
  }};
}

template <class T>
sum_calls with_cooperative_groups(const cuda_target& where, const sum_pieces<T>& pieces) {
  const uint32_t blocks = blocks_for<T>(where, pieces.elements);
  require_co_resident(where.device(), sum_with_cooperative_groups<T>, {blocks, threads});
  const auto memory = memory_for_sums<T>(where);
  return {[=](cudaStream_t stream, uint32_t number) {
    auto* sums = static_cast<T*>(memory->address());
    reduction::input<T> in = reduction::cut(pieces.input(number), pieces.elements);
    T* out = pieces.result(number);
    void* arguments[] = {&in, &sums, &out};
    start_kernel(stream, {blocks, threads}, kernel_start::cooperative,
                 reinterpret_cast<const void*>(&sum_with_cooperative_groups<T>), arguments);
  }};
}

template <class T>
sum_calls with_grid_barrier(const cuda_target& where, const sum_pieces<T>& pieces) {
  const uint32_t blocks = blocks_for<T>(where, pieces.elements);
  require_co_resident(where.device(), sum_with_grid_barrier<T>, {blocks, threads});
  const auto memory = memory_for_sums<T>(where);
  const std::shared_ptr<cuda_barrier> barrier =
      make_cuda_barrier(method_names::default_barrier, where, blocks, std::nullopt);
  return {[=, &where](cudaStream_t, uint32_t number) {
    auto* sums = static_cast<T*>(memory->address());
    reduction::input<T> in = reduction::cut(pieces.input(number), pieces.elements);
    T* out = pieces.result(number);
    launch_with(where, {blocks, threads}, reinterpret_cast<const void*>(&sum_with_grid_barrier<T>), {&in, &sums, &out},
                barrier.get());
  }};
}

template <class T, unsigned Threads, unsigned Vectors, reduction_walk Walk>
sum_calls reads(const cuda_target& where, const sum_pieces<T>& pieces) {
  const uint64_t tile = uint64_t{Threads} * Vectors * 16;
  const uint64_t tiles = std::max<uint64_t>(1, (pieces.elements * sizeof(T) + tile - 1) / tile);
  const uint64_t resident = uint64_t{Vectors > 4 ? 1024 : 2048} / Threads * where.device().sm_count();
  const auto blocks =
      static_cast<unsigned>(Walk == reduction_walk::one_tile ? tiles : std::min<uint64_t>(tiles, resident));
  const auto words = std::make_shared<cuda_buffer>(where.device(), 512 + blocks * sizeof(T), where.stream());
  auto* const claimed = static_cast<uint32_t*>(words->address());
  auto* const sums = reinterpret_cast<T*>(claimed + 128);
  return {[=, keep = words](cudaStream_t stream, uint32_t number) {
            read_all<T, Threads, Vectors, Walk><<<blocks, Threads, 0, stream>>>(
                reduction::cut(pieces.input(number), pieces.elements), claimed, claimed + 64, sums);
            check_cuda(cudaGetLastError(), "the launch of a kernel that reads");
          },
          [=, keep = words](cudaStream_t stream, uint32_t number) {
            sum_sums<T><<<1, threads, 0, stream>>>(sums, blocks, pieces.result(number));
            check_cuda(cudaGetLastError(), "the launch of a check");
          }};
}

}  // namespace

template <class T>
std::vector<sum_method<T>> sums_with_barriers() {
  const auto form = [](const char* name, const char* title, bool rival = true) {
    step_method made{name, title, {}, method_kind::launch};
    made.rival = rival;
    return made;
  };
  const auto reader = [](const char* name, const char* title) {
    return step_method{name, title, {}, method_kind::floor};
  };
  constexpr uint64_t mib = 1 << 20;
  return {
      {form("implicit", "two kernels, the end of the first as the barrier"),
       [](const cuda_target& where, const sum_pieces<T>& pieces) { return two_kernels(where, pieces, false); }},
      {form("implicit-pdl", "two kernels, the second by programmatic dependent launch"),
       [](const cuda_target& where, const sum_pieces<T>& pieces) { return two_kernels(where, pieces, true); }},
      {form("grid-cg", "one kernel with cooperative groups' grid sync"), with_cooperative_groups<T>},
      {form("grid", "one kernel with this library's grid barrier", false), with_grid_barrier<T>},
      {reader("read-256x4", "only reading, a block of 256 threads for each 16 KiB"),
       reads<T, 256, 4, reduction_walk::one_tile>},
      {reader("read-512x8", "only reading, a block of 512 threads for each 64 KiB"),
       reads<T, 512, 8, reduction_walk::one_tile>},
      {reader("read-128x4", "only reading, a block of 128 threads for each 8 KiB"),
       reads<T, 128, 4, reduction_walk::one_tile>, 64 * mib},
      {reader("read-dealt", "only reading, tiles of 32 KiB dealt to blocks that run at once"),
       reads<T, 512, 4, reduction_walk::dealt>},
      {reader("read-claimed", "only reading, tiles of 64 KiB claimed by blocks that run at once"),
       reads<T, 512, 8, reduction_walk::claimed>},
  };
}

template std::vector<sum_method<float>> sums_with_barriers<float>();
template std::vector<sum_method<double>> sums_with_barriers<double>();

}  // namespace gpusync::tool
