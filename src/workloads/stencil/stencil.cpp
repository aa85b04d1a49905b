#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

std::vector<float> stencil_reference(const stencil_size& size) {
  std::vector<float> from = stencil_start(size);
  std::vector<float> to = from;
  const size_t columns = size.columns;
  for (uint32_t step = 0; step < stencil_steps; ++step) {
    // No multiply-add can be made of these sums, so that every compiler rounds them alike.
    if (size.is_rod()) {
      for (size_t i = 1; i + 1 < columns; ++i) to[i] = (from[i - 1] + from[i + 1]) * 0.5f;
    }
    for (size_t row = 1; row + 1 < size.rows; ++row) {
      const float* up = from.data() + (row - 1) * columns;
      const float* here = up + columns;
      const float* down = here + columns;
      float* out = to.data() + row * columns;
      for (size_t column = 1; column + 1 < columns; ++column) {
        out[column] = ((up[column] + down[column]) + (here[column - 1] + here[column + 1])) * 0.25f;
      }
    }
    from.swap(to);
  }
  return from;
}

}  // namespace gpusync::tool
