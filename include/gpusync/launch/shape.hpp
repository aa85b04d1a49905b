// How many blocks of how many threads.
#pragma once

#include <cstdint>
#include <type_traits>

#include <gpusync/core/size.hpp>

namespace gpusync {

/// Extents of a grid or a block in up to three dimensions. A plain number of any integer type means one dimension;
/// CUDA's dim3 will do too. Throws invalid_argument for sizes that are negative or above 2^32 - 1.
struct extent {
  uint32_t x = 1;  ///< the first extent
  uint32_t y = 1;  ///< the second
  uint32_t z = 1;  ///< the third

  /// One dimension.
  template <class X, class = std::enable_if_t<std::is_integral_v<X>>>
  constexpr extent(X x_)  // NOLINT(google-explicit-constructor): reads as a number
      : x(detail::size_from<uint32_t>(x_)) {}
  /// Two dimensions.
  template <class X, class Y, class = std::enable_if_t<std::is_integral_v<X> && std::is_integral_v<Y>>>
  constexpr extent(X x_, Y y_) : x(detail::size_from<uint32_t>(x_)), y(detail::size_from<uint32_t>(y_)) {}
  /// Three dimensions.
  template <class X, class Y, class Z,
            class = std::enable_if_t<std::is_integral_v<X> && std::is_integral_v<Y> && std::is_integral_v<Z>>>
  constexpr extent(X x_, Y y_, Z z_)
      : x(detail::size_from<uint32_t>(x_)), y(detail::size_from<uint32_t>(y_)), z(detail::size_from<uint32_t>(z_)) {}
  /// From anything with x, y and z, as dim3 has.
  template <class Dim, class = std::enable_if_t<std::is_class_v<Dim>>, class = decltype(Dim::x, Dim::y, Dim::z)>
  constexpr extent(const Dim& size)  // NOLINT(google-explicit-constructor): takes dim3's place
      : extent(size.x, size.y, size.z) {}

  /// How many there are; the largest number if that does not fit.
  constexpr uint64_t count() const {
    const uint64_t plane = uint64_t{x} * y;
    return z != 0 && plane > UINT64_MAX / z ? UINT64_MAX : plane * z;
  }
};

/// The shape of a launch.
struct launch_shape {
  extent blocks;            ///< of the grid
  extent threads;           ///< per block
  size_t shared_bytes = 0;  ///< dynamic shared memory per block
  uint32_t cluster = 1;     ///< blocks per thread block cluster along x (CUDA, sm_90 and later); divides blocks.x

  /// Throws invalid_argument for sizes that are negative or too large.
  template <class Bytes = size_t, class Cluster = uint32_t>
  constexpr launch_shape(const extent& blocks_, const extent& threads_, Bytes shared = 0, Cluster cluster_ = 1)
      : blocks(blocks_),
        threads(threads_),
        shared_bytes(detail::size_from<size_t>(shared)),
        cluster(detail::size_from<uint32_t>(cluster_)) {}
};

}  // namespace gpusync
