/* A stencil of seven points over a cube: each thread walks through the planes and keeps what it needs again. At every
   16th plane a mark cuts the loop into pieces, and of these the compiler makes better code. That gains; waiting gains
   nothing. "With a barrier" against "without" would praise the barrier.

   gpusync pace examples/pace/stencil.cu --kernel stencil --blocks 16x128x4 --threads 32x4 \
     --arg 'float[134742016]=random' --arg 'float[2^27]' --arg 512 --arg 128 */
#include <gpusync/pace/mark.cuh>

__global__ void stencil(const float* __restrict__ in, float* out, int n, int planes) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const bool inside = x > 0 && y > 0 && x < n - 1 && y < n - 1;
  const int left = inside ? -1 : 0, right = inside ? 1 : 0, up = inside ? -n : 0, down = inside ? n : 0;
  const size_t plane = (size_t)n * n, first = blockIdx.z * (size_t)planes;
  const float* at = in + (first + 1) * plane + (size_t)y * n + x;  // a plane lies before the first, one behind the last
  float* to = out + first * plane + (size_t)y * n + x;
  float below = at[-(long long)plane], here = at[0];
  for (int z = 0; z < planes; ++z) {
    const float above = at[plane];
    *to = below + above + here * 2 + at[left] + at[right] + at[up] + at[down];
    below = here;
    here = above;
    at += plane;
    to += plane;
    GPUSYNC_PACE(z);
  }
}
