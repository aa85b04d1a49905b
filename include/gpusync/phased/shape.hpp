// How many virtual blocks of how many threads.
#pragma once

#include <gpusync/launch/shape.hpp>

namespace gpusync {

/// The shape of a phased launch: a grid of any size, run by as many blocks as run at once.
struct phased_shape {
  uint32_t virtual_blocks;  ///< of the grid that is worked on
  extent threads;           ///< per block
  size_t shared_bytes = 0;  ///< dynamic shared memory per block (CUDA)
  uint32_t resident = 0;    ///< so many blocks run them, on GPUs if as many run at once, else fewer; 0: as many as do

  /// Throws invalid_argument for sizes that are negative or too large.
  template <class Blocks, class Bytes = size_t, class Resident = uint32_t>
  constexpr phased_shape(Blocks blocks, const extent& threads_, Bytes shared = 0, Resident resident_ = 0)
      : virtual_blocks(detail::size_from<uint32_t>(blocks)),
        threads(threads_),
        shared_bytes(detail::size_from<size_t>(shared)),
        resident(detail::size_from<uint32_t>(resident_)) {}
};

}  // namespace gpusync
