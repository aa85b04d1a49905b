// Computations in steps, in OpenCL C. Goes behind the text of the barrier and that of the computation, which has
//
//   #define STEP_PARAMETERS …    parameters of its kernels
//   #define STEP_ARGUMENTS …     their names
//   uint step_count(STEP_PARAMETERS)
//   void step_once(uint number, STEP_PARAMETERS)

/// All steps in one kernel, with a barrier after each.
__kernel void stepped_persistent(__global uint* storage, STEP_PARAMETERS) {
  if (GPUSYNC_TRIAL(storage)) return;
  gpusync_barrier grid = gpusync_barrier_of(storage);
  const uint steps = step_count(STEP_ARGUMENTS);
  for (uint number = 0; number < steps; ++number) {
    step_once(number, STEP_ARGUMENTS);
    gpusync_sync(&grid);
  }
}

/// One step; the end of the kernel is the boundary.
__kernel void stepped_single(uint number, STEP_PARAMETERS) {
  step_once(number, STEP_ARGUMENTS);
}
