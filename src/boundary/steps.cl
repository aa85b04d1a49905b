// Computations in steps, in OpenCL C: the engine's part. Goes behind the text of the barrier, step_text.h and the text
// of the computation, which has
//
//   #define STEP_PARAMETERS …    parameters of its kernels, none of which is called `steps`, `number` or `storage`
//   #define STEP_ARGUMENTS …     their names
//   void step_once(uint number, step_kept* kept, STEP_PARAMETERS)      the work-item's part of a step
//
// and, if a work-item keeps something from step to step (else it defines STEP_KEEPS_NOTHING),
//
//   step_kept                                              a type
//   step_kept step_load(uint number, STEP_PARAMETERS)      as it is before that step
//   void step_save(const step_kept* kept, STEP_PARAMETERS) leaves it where step_load() finds it
//
// and, if a step is told something else than its place in the run, or some do nothing (STEP_IDLE),
//
//   #define STEP_NUMBER(s, steps) …
//
// and, if there is something to do behind the last boundary of a kernel that runs them all,
//
//   #define STEP_FINISH(steps, kept) …
//
// STEP_BARRIER: whether there is a barrier behind each step of the kernel that runs them all.

#ifdef STEP_KEEPS_NOTHING
#define step_load(...) 0
#define step_save(...) (void)0
#endif
#ifndef STEP_NUMBER
#define STEP_NUMBER(s, steps) (s)
#endif
#ifndef STEP_FINISH
#define STEP_FINISH(steps, kept) (void)0
#endif

/// All steps in one kernel.
__kernel void run_all_steps(__global uint* storage, uint steps, STEP_PARAMETERS) {
  if (GPUSYNC_TRIAL(storage)) return;
#if STEP_BARRIER
  gpusync_barrier grid = gpusync_barrier_of(storage);
#endif
  step_kept kept = step_load(0, STEP_ARGUMENTS);
  for (uint s = 0; s < steps; ++s) {
    const uint number = STEP_NUMBER(s, steps);
    if (number != STEP_IDLE) step_once(number, &kept, STEP_ARGUMENTS);
#if STEP_BARRIER
    gpusync_sync(&grid);
#endif
  }
  STEP_FINISH(steps, &kept);
  step_save(&kept, STEP_ARGUMENTS);
}

/// One step; the end of the kernel is the boundary.
__kernel void run_one_step(uint number, STEP_PARAMETERS) {
  step_kept kept = step_load(number, STEP_ARGUMENTS);
  step_once(number, &kept, STEP_ARGUMENTS);
  step_save(&kept, STEP_ARGUMENTS);
}

/// A step that does nothing.
__kernel void run_idle_step(void) {}
