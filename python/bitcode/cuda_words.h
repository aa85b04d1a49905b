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
  __nvvm_bar_warp_sync(mask);
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
