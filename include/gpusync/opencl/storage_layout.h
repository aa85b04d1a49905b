/* Where things lie in the storage of a barrier, in 32-bit words: one text for C++ and OpenCL C. What is polled, what is
   written once per phase and what is written in trials lie on lines of their own (128 bytes, the largest in use). */
#ifndef GPUSYNC_OPENCL_STORAGE_LAYOUT_H
#define GPUSYNC_OPENCL_STORAGE_LAYOUT_H

enum {
  GPUSYNC_LINE_WORDS = 32,

  GPUSYNC_AT_COUNTER = 0, /* arrivals and phases, as gpusync::phase_word counts them */

  GPUSYNC_AT_CAPACITY = 32, /* work-groups that the storage serves, rounded up to a line; written by the host */
  GPUSYNC_AT_CLAIMED,       /* 0 until the first work-group that times out sets it */
  GPUSYNC_AT_REPORT,        /* 1: the fields below and the list of missing work-groups are complete */
  GPUSYNC_AT_REPORT_PHASE,
  GPUSYNC_AT_REPORT_GROUPS,
  GPUSYNC_AT_REPORT_MISSING, /* entries of the list */

  GPUSYNC_AT_TRIAL = 64,       /* work-groups of the trial under way; 0: a real launch. Each work-item reads it first */
  GPUSYNC_AT_TRIAL_LINGER_LOW, /* ticks without a newcomer after which a trial ends */
  GPUSYNC_AT_TRIAL_LINGER_HIGH,

  GPUSYNC_AT_TRIAL_STARTED = 96, /* work-groups counted so far; the highest bit is set when the trial is closed */
  GPUSYNC_AT_TRIAL_TOGETHER,     /* work-groups that were there when it was closed, all at the same time */

  /* Three arrays of `capacity` words: the stamp of each work-group's last arrival, what it tells its work-items about a
     bounded wait, and the list of missing work-groups. */
  GPUSYNC_AT_ARRIVED = 128
};

#endif
