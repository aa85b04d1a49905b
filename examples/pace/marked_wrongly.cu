/* A mark where none may stand: half of the block's threads make sums, the other half waits for them and writes them
   out. With a barrier in the mark's place the first wait for the second there, and the second for the first: it never
   ends. "gpusync pace" finds that out in a process of its own, and refuses the mark.

     gpusync pace examples/pace/marked_wrongly.cu --kernel sums --blocks 132 --threads 256 \
       --arg 'int[2^24]=random' --arg 'int[16896]' --arg 992 */
#include <gpusync/pace/mark.cuh>

__global__ void sums(const int* in, int* out, int steps) {
  __shared__ int of_thread[128];
  __shared__ volatile int ready[4];
  if (threadIdx.x < 4) ready[threadIdx.x] = 0;
  __syncthreads();
  const int thread = threadIdx.x % 128, warp = thread / 32, all = gridDim.x * 128;
  if (threadIdx.x < 128) {
    int sum = 0;
    for (int i = 0; i < steps; ++i) {
      sum += in[(size_t)i * all + blockIdx.x * 128 + thread];
      GPUSYNC_PACE(i);
    }
    of_thread[thread] = sum;
    __threadfence_block();
    __syncwarp();
    if (thread % 32 == 0) ready[warp] = 1;
  } else {
    while (ready[warp] == 0) {
    }
    __threadfence_block();
    out[blockIdx.x * 128 + thread] = *(volatile int*)(of_thread + thread);
  }
}
