/* An addition of vectors: no thread reads what another has read, so there is nothing to share, and waiting costs. A
   barrier loses; loads of four numbers at once may gain.

     gpusync pace examples/pace/vector_add.cu --kernel add --blocks 256 --threads 256 \
       --arg 'float[2^26]=random' --arg 'float[2^26]=random' --arg 'float[2^26]' --arg 67108864 */
#include <gpusync/pace/mark.cuh>

// n is a multiple of the grid's threads: so all pass the mark equally often.
__global__ void add(const float* a, const float* b, float* sum, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum[i] = a[i] + b[i];
    GPUSYNC_PACE();
  }
}
