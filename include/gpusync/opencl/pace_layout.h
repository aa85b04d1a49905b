/* Where things lie in the storage of a window, in 32-bit words: one text for C++ and OpenCL C. */
#ifndef GPUSYNC_OPENCL_PACE_LAYOUT_H
#define GPUSYNC_OPENCL_PACE_LAYOUT_H

enum {
  GPUSYNC_WINDOW_AT_LEAD = 0,  /* epochs; written by the host */
  GPUSYNC_WINDOW_AT_SLOTS,     /* counters: a power of two, at least the lead; written by the host */
  GPUSYNC_WINDOW_AT_LIMIT_LOW, /* ticks of a wait; written by the host */
  GPUSYNC_WINDOW_AT_LIMIT_HIGH,
  GPUSYNC_WINDOW_AT_LEFT,         /* work-groups that have left */
  GPUSYNC_WINDOW_AT_GIVEN_UP,     /* work-groups that wait no more */
  GPUSYNC_WINDOW_HEAD,            /* words so far */
  GPUSYNC_WINDOW_AT_COUNTERS = 32 /* each on a line of its own */
};

#endif
