// Workload "stencil": Jacobi relaxation of a rod (three points), a plate (five) or a block (seven) in two buffers: a
// step reads what all blocks of the grid wrote in the step before. One text for CUDA, host threads and OpenCL: see
// boundary/step_text.h.
//
// No multiply-add can be made of the sums, so that every compiler rounds them alike.

/// Points: a rod has width alone, a plate a height too; what is not 1 is at least 3.
typedef struct {
  uint32_t width, height, depth;
} stencil_size;

/// The buffers of the step to come.
typedef struct {
  STEP_GLOBAL const float* from;
  STEP_GLOBAL float* to;
} stencil_kept;

/// Before step `number`, where `a` and `b` both held the start before the first.
STEP_FUNCTION stencil_kept stencil_load(STEP_GLOBAL float* a, STEP_GLOBAL float* b, uint32_t number) {
  stencil_kept now;
  now.from = number % 2 == 0 ? a : b;
  now.to = number % 2 == 0 ? b : a;
  return now;
}

/// Points are dealt out to threads.
STEP_FUNCTION void stencil_relax_rod(stencil_size size, stencil_kept now, step_place here) {
  for (uint32_t i = 1 + here.block * here.threads + here.thread; i + 1 < size.width; i += here.blocks * here.threads) {
    now.to[i] = (now.from[i - 1] + now.from[i + 1]) * 0.5f;
  }
}

/// Rows are dealt out to blocks, columns to threads.
STEP_FUNCTION void stencil_relax_plate(stencil_size size, stencil_kept now, step_place here) {
  const size_t width = size.width;
  for (uint32_t row = 1 + here.block; row + 1 < size.height; row += here.blocks) {
    STEP_GLOBAL const float* const from = now.from + row * width;
    STEP_GLOBAL float* const to = now.to + row * width;
    for (uint32_t column = 1 + here.thread; column + 1 < size.width; column += here.threads) {
      STEP_GLOBAL const float* const point = from + column;
      to[column] = ((*(point - width) + point[width]) + (*(point - 1) + point[1])) * 0.25f;
    }
  }
}

/// The rows of all plates are dealt out to blocks, columns to threads.
STEP_FUNCTION void stencil_relax_block(stencil_size size, stencil_kept now, step_place here) {
  const size_t width = size.width, plate = width * size.height;
  const uint32_t inner = size.height - 2;
  for (uint32_t row = here.block; row < inner * (size.depth - 2); row += here.blocks) {
    const size_t first = (1 + row / inner) * plate + (1 + row % inner) * width;
    for (uint32_t column = 1 + here.thread; column + 1 < size.width; column += here.threads) {
      STEP_GLOBAL const float* const point = now.from + first + column;
      const float across = *(point - 1) + point[1], along = *(point - width) + point[width];
      now.to[first + column] = ((across + along) + (*(point - plate) + point[plate])) * (1.0f / 6.0f);
    }
  }
}

/// 1, 2 or 3.
STEP_FUNCTION uint32_t stencil_dimensions(stencil_size size) {
  return size.height == 1 ? 1 : size.depth == 1 ? 2 : 3;
}

/// The calling thread's part of a step.
STEP_FUNCTION void stencil_step(uint32_t dimensions, stencil_size size, stencil_kept* now, step_place here) {
  if (dimensions == 1) {
    stencil_relax_rod(size, *now, here);
  } else if (dimensions == 2) {
    stencil_relax_plate(size, *now, here);
  } else {
    stencil_relax_block(size, *now, here);
  }
  STEP_GLOBAL float* const read = (STEP_GLOBAL float*)now->from;
  now->from = now->to;
  now->to = read;
}

#ifdef __OPENCL_VERSION__  // what boundary/steps.cl asks for
#define STEP_PARAMETERS __global float *a, __global float *b, stencil_size size
#define STEP_ARGUMENTS a, b, size
typedef stencil_kept step_kept;
static step_kept step_load(uint number, STEP_PARAMETERS) {
  return stencil_load(a, b, number);
}
static void step_once(uint number, step_kept* now, STEP_PARAMETERS) {
  stencil_step(stencil_dimensions(size), size, now, step_here());
}
#define step_save(...) (void)0
#else  // and boundary/computation.hpp; compiled for each number of dimensions
template <uint32_t Dimensions>
struct stencil_text : computation {
  using kept = stencil_kept;

  float *a, *b;
  stencil_size size;

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid, uint32_t number) const {
    return stencil_load(a, b, number);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t, kept& now) const {
    stencil_step(Dimensions, size, &now, step_here(grid));
  }
};
#endif
