// Three paced loops in OpenCL C: what memory_test.hpp, vector_add.hpp and scalar_product.hpp say. EVERY: iterations
// from visit to visit; VISIT: nothing, or the barrier of the work-group.

#define IN_EPOCHS(trips, BODY)                               \
  for (ulong epoch = (trips) / EVERY; epoch != 0; --epoch) { \
    for (uint i = 0; i < EVERY; ++i) BODY VISIT;             \
  }                                                          \
  for (ulong rest = (trips) % EVERY; rest != 0; --rest) BODY

static ulong own_thread(void) {
  return get_group_id(0) * get_local_size(0) + get_local_id(0);
}

__kernel void memory_test(__global const uint* cells, __global uint* found, ulong elements, ulong length) {
  const ulong stride = get_num_groups(0) * get_local_size(0);
  ulong cell = own_thread();
  uint faults = 0;
  IN_EPOCHS(length, {
    if (cells[cell] != 0) ++faults;
    cell += stride;
  })
  found[own_thread()] = faults;
}

__kernel void vector_add(__global const float* first, __global const float* second, __global float* sum, ulong elements,
                         ulong length) {
  const ulong stride = get_num_groups(0) * get_local_size(0);
  ulong place = own_thread();
  IN_EPOCHS(elements / stride, {
    sum[place] = first[place] + second[place];
    place += stride;
  })
  if (place < elements) sum[place] = first[place] + second[place];
}

__kernel void scalar_product(__global const float* first, __global const float* second, __global const uint* offsets,
                             __global float* product, ulong elements, ulong length) {
  __local float partial[1024];
  const uint threads = (uint)get_local_size(0), thread = (uint)get_local_id(0);
  for (ulong vector = get_group_id(0); vector < elements; vector += get_num_groups(0)) {
    const ulong begin = offsets[vector], end = offsets[vector + 1];
    for (uint place = thread; place - thread < 1024; place += threads) {
      float sum = 0;
      for (ulong i = begin + place; place < 1024 && i < end; i += 1024) sum += first[i] * second[i];
      VISIT;
      if (place < 1024) partial[place] = sum;
    }
    for (uint width = 512; width != 0; width /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      for (uint i = thread; i < width; i += threads) partial[i] += partial[i + width];
    }
    if (thread == 0) product[vector] = partial[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
