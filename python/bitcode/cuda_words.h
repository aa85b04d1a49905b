// What gpusync's device headers need of CUDA's, for clang without a toolkit: scripts/device-bitcode includes it first.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ __attribute__((always_inline)) inline
// Triton's code generator wants one function: of those that are called it makes what its own passes do not expect.
#define __noinline__ __attribute__((always_inline))
#include <__clang_cuda_builtin_vars.h>

static __device__ __forceinline__ int __syncthreads_or(int value) {
  return __nvvm_bar0_or(value);
}
static __device__ __forceinline__ int __syncthreads_count(int value) {
  return __nvvm_bar0_popc(value);
}
static __device__ __forceinline__ void __syncwarp(unsigned mask = 0xffffffff) {
  asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
static __device__ __forceinline__ void __threadfence() {
  __nvvm_membar_gl();
}
static __device__ __forceinline__ void __threadfence_block() {
  __nvvm_membar_cta();
}
static __device__ __forceinline__ void __threadfence_system() {
  __nvvm_membar_sys();
}
static __device__ __forceinline__ void __trap() {
  asm volatile("trap;");
}
static __device__ __forceinline__ long long clock64() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
  return cycles;
}
static __device__ __forceinline__ unsigned long __cvta_generic_to_global(const void* address) {
  return (unsigned long)(__attribute__((address_space(1))) const void*)address;
}
static __device__ __forceinline__ unsigned long __cvta_generic_to_shared(const void* address) {
  return (unsigned long)(__attribute__((address_space(3))) const void*)address;
}

// Between the lanes of a warp. As asm statements: clang 14 has the functions behind them for CUDA versions that it was
// told of, and there is no CUDA here.
#define memcpy __builtin_memcpy
static __device__ __forceinline__ int __ffs(int value) {
  return __builtin_ffs(value);
}
static __device__ __forceinline__ unsigned __ballot_sync(unsigned mask, int value) {
  unsigned lanes;
  asm volatile("{\n\t.reg .pred holds;\n\tsetp.ne.s32 holds, %1, 0;\n\tvote.sync.ballot.b32 %0, holds, %2;\n\t}"
               : "=r"(lanes)
               : "r"(value), "r"(mask));
  return lanes;
}
static __device__ __forceinline__ int __any_sync(unsigned mask, int value) {
  return __ballot_sync(mask, value) != 0;
}
static __device__ __forceinline__ int __all_sync(unsigned mask, int value) {
  return __ballot_sync(mask, value == 0) == 0;
}
// A word of 64 bits goes in two halves.
#define GPUSYNC_SHUFFLE(name, form, lane_type, bounds)                                                                 \
  static __device__ __forceinline__ unsigned name(unsigned mask, unsigned value, lane_type lane) {                     \
    unsigned got;                                                                                                      \
    asm volatile("shfl.sync." form ".b32 %0, %1, %2, " bounds ", %3;" : "=r"(got) : "r"(value), "r"(lane), "r"(mask)); \
    return got;                                                                                                        \
  }                                                                                                                    \
  static __device__ __forceinline__ unsigned long long name(unsigned mask, unsigned long long value, lane_type lane) { \
    const unsigned high = name(mask, (unsigned)(value >> 32), lane), low = name(mask, (unsigned)value, lane);          \
    return (unsigned long long)high << 32 | low;                                                                       \
  }
GPUSYNC_SHUFFLE(__shfl_sync, "idx", int, "31")
GPUSYNC_SHUFFLE(__shfl_xor_sync, "bfly", int, "31")
GPUSYNC_SHUFFLE(__shfl_up_sync, "up", unsigned, "0")
#undef GPUSYNC_SHUFFLE
static __device__ __forceinline__ unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  unsigned most;
  asm volatile("redux.sync.max.u32 %0, %1, %2;" : "=r"(most) : "r"(value), "r"(mask));
  return most;
}
static __device__ __forceinline__ unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  unsigned all;
  asm volatile("redux.sync.or.b32 %0, %1, %2;" : "=r"(all) : "r"(value), "r"(mask));
  return all;
}
