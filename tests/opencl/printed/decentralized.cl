// Shen 2013, appendix D, as printed: without the barrier at the head that figure 3-4 has.
void gpu_sync(volatile __global int* Flgs) {
  const size_t thread_id = get_local_id(0);
  const size_t workgroup_id = get_group_id(0);

  if (thread_id == 0) {
    Flgs[workgroup_id] = 1;
  }

  if (workgroup_id == 0) {
    if (thread_id < get_num_groups(0)) {
      while (Flgs[thread_id] != 1)
        ;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);

    if (thread_id < get_num_groups(0)) {
      Flgs[thread_id] = 0;
    }
  }

  if (thread_id == 0) {
    while (Flgs[workgroup_id] != 0)
      ;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
}
