// Waiting for a word in memory, with or without a limit.
//
// OpenCL C has no clock, so limits count ticks: nanoseconds of the global timer on NVIDIA GPUs, polls elsewhere. The
// host converts: gpusync::opencl::ticks_for().

#define GPUSYNC_COMPLETED 0
#define GPUSYNC_TIMED_OUT 1

/// A limit that never passes.
#define GPUSYNC_NO_LIMIT (~(ulong)0)

#ifdef GPUSYNC_PTX
#define GPUSYNC_TICK_IS_NANOSECOND 1
#else
#define GPUSYNC_TICK_IS_NANOSECOND 0
#endif

/// Where a stopwatch starts.
static ulong gpusync_ticks_start(void) {
#if GPUSYNC_TICK_IS_NANOSECOND
  ulong now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  return 0;
#endif
}

/// Ticks since `*start`; where polls are the clock, each call is one.
static ulong gpusync_ticks(ulong* start) {
#if GPUSYNC_TICK_IS_NANOSECOND
  return gpusync_ticks_start() - *start;
#else
  return ++*start;
#endif
}

/// True when the counter `current` has come to `goal` or passed it, also across the wrap at 2^32.
static bool gpusync_reached(uint current, uint goal) {
  return (int)(current - goal) >= 0;
}

/// Polls `*word` until it has reached `goal`, or for `limit` ticks. Relaxed.
/// Progress: whoever writes the word must run independently of this work-item.
static int gpusync_wait_until(const __global uint* word, uint goal, ulong limit) {
  if (limit == GPUSYNC_NO_LIMIT) {
    while (!gpusync_reached(gpusync_load(word), goal)) {
    }
    return GPUSYNC_COMPLETED;
  }
  ulong start = gpusync_ticks_start();
  while (!gpusync_reached(gpusync_load(word), goal)) {
    if (gpusync_ticks(&start) >= limit) return GPUSYNC_TIMED_OUT;
  }
  return GPUSYNC_COMPLETED;
}

/// As gpusync_wait_until(), until the word is `value`: for words that cannot go on before this work-item has looked.
static int gpusync_wait_equal(const __global uint* word, uint value, ulong limit) {
  if (limit == GPUSYNC_NO_LIMIT) {
    while (gpusync_load(word) != value) {
    }
    return GPUSYNC_COMPLETED;
  }
  ulong start = gpusync_ticks_start();
  while (gpusync_load(word) != value) {
    if (gpusync_ticks(&start) >= limit) return GPUSYNC_TIMED_OUT;
  }
  return GPUSYNC_COMPLETED;
}
