// Workload "stencil": Jacobi relaxation of a rod (three points), a plate (five) or a block (seven) in two buffers: a
// step reads what all blocks of the grid wrote in the step before. One text for CUDA, host threads and OpenCL: see
// boundary/step_text.h. `real` is float or double.
//
// No multiply-add can be made of the sums, so that every compiler rounds them alike.

#ifdef __OPENCL_VERSION__
#ifdef STENCIL_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif
#define STENCIL_TEMPLATE
#define STENCIL_KEPT struct stencil_kept
#else
#define STENCIL_TEMPLATE template <class real>
#define STENCIL_KEPT stencil_kept<real>
#endif

/// Points: a rod has width alone, a plate a height too; what is not 1 is at least 3.
typedef struct {
  uint32_t width, height, depth;
} stencil_size;

/// The buffers of the step to come.
STENCIL_TEMPLATE
struct stencil_kept {
  STEP_GLOBAL const real* from;
  STEP_GLOBAL real* to;
};

/// Before step `number`, where `a` and `b` both held the start before the first.
STENCIL_TEMPLATE
STEP_FUNCTION STENCIL_KEPT stencil_load(STEP_GLOBAL real* a, STEP_GLOBAL real* b, uint32_t number) {
  STENCIL_KEPT now;
  now.from = number % 2 == 0 ? a : b;
  now.to = number % 2 == 0 ? b : a;
  return now;
}

/// The first of a block's rows, of `rows` that are dealt out in bands: it finds most of what it reads in its cache.
STEP_FUNCTION uint32_t stencil_first_row(uint32_t rows, uint32_t block, uint32_t blocks) {
  return (uint32_t)((size_t)rows * block / blocks);
}

/// Whether a point has changed by more than `tolerance`. Whatever is rounded, or made a multiply-add: tolerances are so
/// far from the largest change of each step that it does not matter (stencil_body::until_converged()).
STENCIL_TEMPLATE
STEP_FUNCTION uint32_t stencil_has_changed(real old, real fresh, real tolerance) {
  return (uint32_t)(step_magnitude(fresh - old) > tolerance);
}

// The next three make points new, and return whether one of the calling thread's has changed by more than `tolerance`.
// For who does not ask nothing of that is compiled.

/// Points are dealt out to threads.
STENCIL_TEMPLATE
STEP_FUNCTION uint32_t stencil_relax_rod(stencil_size size, STENCIL_KEPT now, real tolerance, step_place here) {
  uint32_t changed = 0;
  for (uint32_t i = 1 + here.block * here.threads + here.thread; i + 1 < size.width; i += here.blocks * here.threads) {
    const real fresh = (now.from[i - 1] + now.from[i + 1]) * (real)0.5f;
    now.to[i] = fresh;
    changed |= stencil_has_changed(now.from[i], fresh, tolerance);
  }
  return changed;
}

/// Rows are dealt out to blocks, columns to threads.
STENCIL_TEMPLATE
STEP_FUNCTION uint32_t stencil_relax_plate(stencil_size size, STENCIL_KEPT now, real tolerance, step_place here) {
  const size_t width = size.width;
  uint32_t changed = 0;
  const uint32_t end = 1 + stencil_first_row(size.height - 2, here.block + 1, here.blocks);
  for (uint32_t row = 1 + stencil_first_row(size.height - 2, here.block, here.blocks); row < end; ++row) {
    STEP_GLOBAL const real* const from = now.from + row * width;
    STEP_GLOBAL real* const to = now.to + row * width;
    for (uint32_t column = 1 + here.thread; column + 1 < size.width; column += here.threads) {
      STEP_GLOBAL const real* const point = from + column;
      const real fresh = ((*(point - width) + point[width]) + (*(point - 1) + point[1])) * (real)0.25f;
      to[column] = fresh;
      changed |= stencil_has_changed(*point, fresh, tolerance);
    }
  }
  return changed;
}

/// The rows of all plates are dealt out to blocks, columns to threads.
STENCIL_TEMPLATE
STEP_FUNCTION uint32_t stencil_relax_block(stencil_size size, STENCIL_KEPT now, real tolerance, step_place here) {
  const size_t width = size.width, plate = width * size.height;
  uint32_t changed = 0;
  const uint32_t inner = size.height - 2, rows = inner * (size.depth - 2);
  const uint32_t end = stencil_first_row(rows, here.block + 1, here.blocks);
  for (uint32_t row = stencil_first_row(rows, here.block, here.blocks); row < end; ++row) {
    const size_t first = (1 + row / inner) * plate + (1 + row % inner) * width;
    for (uint32_t column = 1 + here.thread; column + 1 < size.width; column += here.threads) {
      STEP_GLOBAL const real* const point = now.from + first + column;
      const real across = *(point - 1) + point[1], along = *(point - width) + point[width];
      const real fresh = ((across + along) + (*(point - plate) + point[plate])) * ((real)1 / (real)6);
      now.to[first + column] = fresh;
      changed |= stencil_has_changed(*point, fresh, tolerance);
    }
  }
  return changed;
}

/// 1, 2 or 3.
STEP_FUNCTION uint32_t stencil_dimensions(stencil_size size) {
  return size.height == 1 ? 1 : size.depth == 1 ? 2 : 3;
}

/// The calling thread's part of a step; returns whether one of its points has changed by more than `tolerance`.
STENCIL_TEMPLATE
STEP_FUNCTION uint32_t stencil_step(uint32_t dimensions, stencil_size size, STENCIL_KEPT* now, real tolerance,
                                    step_place here) {
  const uint32_t changed = dimensions == 1   ? stencil_relax_rod(size, *now, tolerance, here)
                           : dimensions == 2 ? stencil_relax_plate(size, *now, tolerance, here)
                                             : stencil_relax_block(size, *now, tolerance, here);
  STEP_GLOBAL real* const read = (STEP_GLOBAL real*)now->from;
  now->from = now->to;
  now->to = read;
  return changed;
}

#ifdef __OPENCL_VERSION__  // what boundary/steps.cl asks for
#define STEP_PARAMETERS __global real *a, __global real *b, stencil_size size
#define STEP_ARGUMENTS a, b, size
typedef struct stencil_kept step_kept;
static step_kept step_load(uint number, STEP_PARAMETERS) {
  return stencil_load(a, b, number);
}
static void step_once(uint number, step_kept* now, STEP_PARAMETERS) {
  (void)stencil_step(stencil_dimensions(size), size, now, (real)0, step_here());
}
#define step_save(...) (void)0
#else  // and boundary/computation.hpp; compiled for each number of dimensions
template <class real, uint32_t Dimensions>
struct stencil_text : computation {
  using kept = stencil_kept<real>;

  real *a, *b;
  stencil_size size;

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid, uint32_t number) const {
    return stencil_load(a, b, number);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t number, kept& now) const {
    (void)relax(grid, number, now, real{0});
  }
  /// A step; returns whether one of the thread's points has changed by more than `tolerance`.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool relax(Grid grid, uint32_t, kept& now, real tolerance) const {
    return stencil_step(Dimensions, size, &now, tolerance, step_here(grid)) != 0;
  }
};
#endif
