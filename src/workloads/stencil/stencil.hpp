// Workload "stencil": Jacobi relaxation of a rod (three points, as in examples/02_grid_barrier.cu) or of a plate (five
// points), two buffers: a step reads what all blocks wrote in the step before. C++17: CUDA sources include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gpusync/core/config.hpp>

#include "boundary/program.hpp"
#include "workloads/device_side/device_side.hpp"

namespace gpusync::tool {

/// Steps of one relaxation. Even, so that it ends in the buffer in which it began.
inline constexpr uint32_t stencil_steps = 1000;

/// A plate of `rows` x `columns` points; one row is a rod. Both at least 3 else.
struct stencil_size {
  uint32_t rows;
  uint32_t columns;

  GPUSYNC_HD constexpr bool is_rod() const { return rows == 1; }
  constexpr size_t points() const { return size_t{rows} * columns; }
};

/// The temperatures before the first step, row by row. The rim (a rod's ends) keeps its own.
inline std::vector<float> stencil_start(const stencil_size& size) {
  std::vector<float> plate(size.points());
  for (uint32_t row = 0; row < size.rows; ++row) {
    for (uint32_t column = 0; column < size.columns; ++column) {
      uint32_t h = row * 0x9e3779b9u ^ column * 0x85ebca6bu;
      h ^= h >> 16;
      h *= 0x7feb352du;
      h ^= h >> 15;
      plate[size_t{row} * size.columns + column] = static_cast<float>(h >> 8) * (1.0f / 16777216.0f);
    }
  }
  return plate;
}

/// The temperatures after stencil_steps steps, computed by the host in the order of operations that devices use: bit
/// for bit what they must find. Takes some seconds for large plates.
std::vector<float> stencil_reference(const stencil_size& size);

/// The device side.
class stencil_device {
 public:
  virtual ~stencil_device() = default;
  /// The workload on a rod or plate of this size. Its programs run whole relaxations: their steps come in
  /// multiples of stencil_steps, each from the start, each compared with the reference. It must not outlive this
  /// object.
  virtual std::unique_ptr<workload> on_plate(const stencil_size& size) = 0;
};

}  // namespace gpusync::tool
