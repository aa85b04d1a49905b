// How many blocks of how many threads.
#pragma once

#include <cstdint>
#include <string>

namespace gpusync {

/// Extents of a grid or a block in up to three dimensions; a plain number means one dimension.
struct extent {
  uint32_t x = 1, y = 1, z = 1;

  constexpr extent(uint32_t x_, uint32_t y_ = 1, uint32_t z_ = 1)  // NOLINT(google-explicit-constructor)
      : x(x_), y(y_), z(z_) {}

  constexpr uint64_t count() const { return uint64_t{x} * y * z; }
};

/// The shape of a launch.
struct launch_shape {
  extent blocks;
  extent threads;           ///< per block
  size_t shared_bytes = 0;  ///< dynamic shared memory per block
  uint32_t cluster = 1;     ///< blocks per thread block cluster along x (CUDA, sm_90 and later); divides blocks.x
};

}  // namespace gpusync
