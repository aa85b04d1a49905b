// Times the wait itself: a word that nobody writes, polled for `limit` ticks.
__kernel void gpusync_calibrate(__global uint* storage, ulong limit) {
  const int status = gpusync_wait_until(storage, 1u, limit);
  storage[1] = (uint)status;
  storage[2] = GPUSYNC_TICK_IS_NANOSECOND;
}
