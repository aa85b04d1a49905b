/* Where things lie in the words of a phased grid, in 32-bit words: one text for C++ and OpenCL C. */
#ifndef GPUSYNC_OPENCL_PHASED_LAYOUT_H
#define GPUSYNC_OPENCL_PHASED_LAYOUT_H

enum {
  GPUSYNC_AT_VIRTUAL_GROUPS = 0, /* of the launch; written by the host */
  GPUSYNC_AT_CLAIMS = 32,        /* claims of the current phase, on a line of its own */
  GPUSYNC_AT_FLAGS = 64          /* one for each virtual work-group */
};

#endif
