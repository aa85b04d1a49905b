// A stencil of seven points that goes through a cube of 512 x 512 x 512, plane by plane, with a plane above and one
// below. A mark keeps the compiler from moving loads across it: that alone gains, and waiting loses some of it again.
// "gpusync pace" tells the two apart; a comparison of "with" and "without" would praise the barrier.
//
//   gpusync pace examples/pace/stencil.cu --kernel stencil --blocks 16x128x4 --threads 32x4 \
//     --arg 'float[134742016]=random' --arg 'float[134217728]' --arg 512 --arg 128
#include <gpusync/pace/mark.cuh>

__global__ void stencil(const float* __restrict__ in, float* out, int n, int planes) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const size_t plane = (size_t)n * n, place = (size_t)y * n + x;
  const int first = blockIdx.z * planes;
  const bool inside = x > 0 && y > 0 && x < n - 1 && y < n - 1;
  const int left = inside ? -1 : 0, right = inside ? 1 : 0, front = inside ? -n : 0, back = inside ? n : 0;
  const float* at = in + place + (size_t)(first + 1) * plane;
  float below = *(at - plane), here = at[0];
  for (int z = 0; z < planes; ++z, at += plane) {
    const float above = at[plane];
    out[place + (size_t)(first + z) * plane] = below + above + here * 2 + at[left] + at[right] + at[front] + at[back];
    below = here;
    here = above;
    GPUSYNC_PACE();
  }
}
