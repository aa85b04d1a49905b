// Marks where the threads of a block might be kept in step, for the command `gpusync pace` to try out (docs/pace.md):
//
//   for (int i = 0; i < n; ++i) {
//     …
//     GPUSYNC_PACE(i);
//   }
//
// Contract: all threads of the block pass the mark equally often, as with block_pace (pace/block_pace.hpp). An argument
// is an integer that all threads of the block agree on at each visit, as a loop's counter is; it lets the tool try a
// barrier at every k-th value alone. It is not evaluated unless the tool compiles the file, so it must change nothing.
// Whoever compiles the file otherwise gets no instruction.
#pragma once

#ifndef GPUSYNC_PACE
#define GPUSYNC_PACE(...) ((void)0)
#endif
