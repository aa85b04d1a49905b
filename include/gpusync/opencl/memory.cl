// What OpenCL C at hand can do: atomic accesses, a device-wide fence, ranks. Everything else here is built on these.
//
// Three ways to order memory across work-groups, the first that the compiler offers:
//   C11     atomics with acquire and release at device scope (OpenCL C 2.0, or 3.0 with the features): the language
//           promises the order.
//   NVIDIA  OpenCL C 1.2 atomics and the PTX instruction fence.acq_rel.gpu (Volta or later): the PTX memory model
//           promises it, for relaxed atomics and volatile accesses to the barrier's own words.
//   other   OpenCL C 1.2 atomics and mem_fence(). OpenCL 1.2 promises the order of one work-item's accesses only,
//           nothing about when other work-groups see them. Where mem_fence() is a real device-wide fence and caches
//           are coherent (CPUs) or bypassed (declare shared data volatile), it works. Check your results.

#if __OPENCL_C_VERSION__ == 200 || (__OPENCL_C_VERSION__ >= 300 && defined(__opencl_c_atomic_order_acq_rel) && \
                                    defined(__opencl_c_atomic_scope_device))
#define GPUSYNC_C11 1
#elif defined(__NV_CL_C_VERSION)
#define GPUSYNC_PTX 1
#endif

#ifdef cl_khr_global_int32_base_atomics
#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable
#endif

/// Makes all that this work-item has seen visible to the device before what it does next, and the reverse.
static void gpusync_fence(void) {
#if defined(GPUSYNC_C11)
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
#elif defined(GPUSYNC_PTX)
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}

/// Relaxed load. Never a read-modify-write, which would take the word away from those who arrive; never hoisted.
static uint gpusync_load(const __global uint* word) {
#if defined(GPUSYNC_C11)
  return atomic_load_explicit((volatile __global atomic_uint*)word, memory_order_relaxed, memory_scope_device);
#else
  return *(const volatile __global uint*)word;
#endif
}

/// Relaxed store.
static void gpusync_store(__global uint* word, uint value) {
#if defined(GPUSYNC_C11)
  atomic_store_explicit((volatile __global atomic_uint*)word, value, memory_order_relaxed, memory_scope_device);
#else
  *(volatile __global uint*)word = value;
#endif
}

/// Relaxed addition; returns the value before it.
static uint gpusync_add(__global uint* word, uint value) {
#if defined(GPUSYNC_C11)
  return atomic_fetch_add_explicit((volatile __global atomic_uint*)word, value, memory_order_relaxed,
                                   memory_scope_device);
#else
  return atomic_add((volatile __global uint*)word, value);
#endif
}

/// Addition with release: what this work-item has seen is visible to whoever acquires the sum.
static uint gpusync_add_release(__global uint* word, uint value) {
#if defined(GPUSYNC_C11)
  return atomic_fetch_add_explicit((volatile __global atomic_uint*)word, value, memory_order_release,
                                   memory_scope_device);
#else
  gpusync_fence();
  return gpusync_add(word, value);
#endif
}

/// Addition with release and acquire: besides, what was released with the sum so far is visible to this work-item.
static uint gpusync_add_acquire_release(__global uint* word, uint value) {
#if defined(GPUSYNC_C11)
  return atomic_fetch_add_explicit((volatile __global atomic_uint*)word, value, memory_order_acq_rel,
                                   memory_scope_device);
#else
  gpusync_fence();
  const uint before = gpusync_add(word, value);
  gpusync_fence();
  return before;
#endif
}

/// Store with release.
static void gpusync_store_release(__global uint* word, uint value) {
#if defined(GPUSYNC_C11)
  atomic_store_explicit((volatile __global atomic_uint*)word, value, memory_order_release, memory_scope_device);
#else
  gpusync_fence();
  gpusync_store(word, value);
#endif
}

/// After relaxed loads have found what they waited for in `word`: acquires what was released with it.
static void gpusync_acquire(const __global uint* word) {
#if defined(GPUSYNC_C11)
  (void)atomic_load_explicit((volatile __global atomic_uint*)word, memory_order_acquire, memory_scope_device);
#else
  gpusync_fence();
#endif
}

/// The barrier of one work-group's work-items, for global and local memory.
static void gpusync_sync_group(void) {
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
}

/// Ranks and counts in NDRanges of one to three dimensions.
static uint gpusync_groups(void) {
  return (uint)(get_num_groups(0) * get_num_groups(1) * get_num_groups(2));
}
static uint gpusync_group(void) {
  return (uint)((get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0));
}
static bool gpusync_is_first_item(void) {
  return get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0;
}
static uint gpusync_item(void) {
  return (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
}
static uint gpusync_items(void) {
  return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}
