// What the library calls of NVSHMEM, with nothing behind it: so that its header is compiled for every GPU where NVSHMEM
// is not installed. The types are NVSHMEM's own.
#pragma once

#include <cstddef>
#include <cstdint>

using nvshmem_team_t = int32_t;
enum { NVSHMEM_TEAM_WORLD = 0, NVSHMEM_CMP_NE = 1, NVSHMEM_SIGNAL_SET = 9, NVSHMEM_STATUS_IS_INITIALIZED = 2 };

inline void nvshmem_init() {}
inline int nvshmemx_init_status() {
  return NVSHMEM_STATUS_IS_INITIALIZED;
}
inline int nvshmem_my_pe() {
  return 0;
}
inline int nvshmem_n_pes() {
  return 1;
}
inline int nvshmem_team_my_pe(nvshmem_team_t) {
  return 0;
}
inline int nvshmem_team_n_pes(nvshmem_team_t) {
  return 1;
}
inline int nvshmem_team_translate_pe(nvshmem_team_t, int pe, nvshmem_team_t) {
  return pe;
}
inline void* nvshmem_calloc(size_t, size_t) {
  return nullptr;
}
inline void* nvshmem_align(size_t, size_t) {
  return nullptr;
}
inline void nvshmem_free(void*) {}
inline void* nvshmem_ptr(const void* word, int) {
  return const_cast<void*>(word);
}
inline void nvshmem_uint64_p(uint64_t* word, uint64_t value, int) {
  *word = value;
}
inline void nvshmem_barrier_all() {}

__device__ inline void nvshmem_quiet() {
  __threadfence_system();
}
__device__ inline void nvshmemx_signal_op(uint64_t* word, uint64_t value, int, int) {
  *word = value;
}
__device__ inline void nvshmem_uint32_atomic_add(uint32_t* word, uint32_t value, int) {
  atomicAdd_system(word, value);
}
__device__ inline void nvshmem_uint64_wait_until(uint64_t* word, int, uint64_t before) {
  while (*static_cast<volatile uint64_t*>(word) == before) {
  }
}
