/* A stencil of 32 points along each row of a grid. A mark keeps the compiler from moving loads across it: without one
   it begins so many loads early that registers run short, and spills. That the marks prevent this gains; waiting gains
   nothing. "With a barrier" against "without" would praise the barrier. On GPUs with 2,048 threads to a multiprocessor
   (A100, H100, H200, B200); on others registers do not run short.

   gpusync pace examples/pace/stencil.cu --kernel stencil --blocks 1056 --threads 256 \
     --arg 'float[69206048]=random' --arg 'float[32]=random' --arg 'float[270336]' --arg 270336 --arg 256 */
#include <gpusync/pace/mark.cuh>

#if __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
constexpr int blocks_per_sm = 8;  // 32 registers for each thread
#else
constexpr int blocks_per_sm = 4;
#endif

__global__ void __launch_bounds__(256, blocks_per_sm)
    stencil(const float* in, const float* weights, float* out, int columns, int rows) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float total = 0;
  for (int row = 0; row < rows; ++row) {
    const float* const at = in + (size_t)row * columns + column;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 32; ++k) sum += at[k] * weights[k];
    total += sum;
    GPUSYNC_PACE();
  }
  out[column] = total;
}
