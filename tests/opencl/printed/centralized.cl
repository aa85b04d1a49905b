// Shen 2013, appendix C, as printed. `counter[0]&70 != 0` is `counter[0] & (70 != 0)`, the lowest bit.
void gpu_sync(volatile __global int* counter) {
  int thread_id = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

  if (thread_id == 0) {
    atom_dec(&counter[0]);
    while (counter[0] & 70 != 0)
      ;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
