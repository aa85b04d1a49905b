// A kernel of a given shape and nothing else: so many work-items, so much local memory. See discover_groups().
__kernel void gpusync_probe(__global uint* storage, __local uint* occupied) {
  // The compiler must not find out that the local memory is of no use.
  occupied[gpusync_item() == 0 ? 0 : gpusync_load(storage + GPUSYNC_AT_TRIAL) == 0] = 0;
  if (GPUSYNC_TRIAL(storage)) return;
}
