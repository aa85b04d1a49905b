/* Where things lie in the storage of a barrier, in 32-bit words: one text for C++ and OpenCL C. What is polled, what is
   written once per phase and what is written in trials lie on lines of their own (128 bytes, the largest in use). */
#ifndef GPUSYNC_OPENCL_STORAGE_LAYOUT_H
#define GPUSYNC_OPENCL_STORAGE_LAYOUT_H

enum {
  GPUSYNC_LINE_WORDS = 32,

  GPUSYNC_AT_CAPACITY = 0, /* work-groups that the storage serves, rounded up to a line; written by the host */
  GPUSYNC_AT_CLAIMED,      /* 0 until the first work-group that times out sets it */
  GPUSYNC_AT_REPORT,       /* 1: the fields below and the list of missing work-groups are complete */
  GPUSYNC_AT_REPORT_PHASE,
  GPUSYNC_AT_REPORT_GROUPS,
  GPUSYNC_AT_REPORT_MISSING, /* entries of the list */

  GPUSYNC_AT_TRIAL = 32,      /* work-groups of the trial under way; 0: a real launch. Each work-item reads it first */
  GPUSYNC_AT_POLL_MOST,       /* work-groups at whose number the poll of a real launch closes */
  GPUSYNC_AT_POLL_LINGER_LOW, /* ticks without a newcomer after which a poll closes */
  GPUSYNC_AT_POLL_LINGER_HIGH,

  /* The poll; all zero at its start. */
  GPUSYNC_AT_POLL_TICKET = 64,  /* the next ticket of the lock */
  GPUSYNC_AT_TRIAL_ALGORITHM,   /* the number of the kernel's algorithm */
  GPUSYNC_AT_POLL_SERVING = 96, /* the ticket whose turn it is */
  GPUSYNC_AT_POLL_COUNT = 128,  /* work-groups counted so far; the highest bit is set when the poll is closed */

  /* Three arrays of `capacity` words: the stamp of each work-group's last arrival, what it tells its work-items about a
     bounded wait, and the list of missing work-groups. Behind them the words of the algorithm. */
  GPUSYNC_AT_ARRIVED = 160
};

#endif
