/* A transpose without a tile: rows are read whole, and of each 32-byte sector that is written eight warps write four
   bytes each. Kept in step they fill a sector before it leaves the cache: the barrier gains, beside what its place in
   the loop does to the code. A tile in shared memory is the better cure.

     gpusync pace examples/pace/transpose.cu --kernel transpose --blocks 512x4 --threads 256 \
       --arg 'int[2^28]=random:2^24' --arg 'int[2^28]' --arg 16384 --arg 4096 */
#include <gpusync/pace/mark.cuh>

__global__ void transpose(const int* __restrict__ in, int* out, int n, int rows) {
  const int column = blockIdx.x * 32 + threadIdx.x % 32;
  const int first = blockIdx.y * rows;
  for (int row = 0; row < rows; row += 8) {
    const int r = first + row + threadIdx.x / 32;
    out[(size_t)column * n + r] = in[(size_t)r * n + column];
    GPUSYNC_PACE(row / 8);
  }
}
