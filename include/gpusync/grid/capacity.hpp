// Whether a storage can serve what it is asked for.
#pragma once

#include <string>

#include <gpusync/core/error.hpp>
#include <gpusync/core/size.hpp>
#include <gpusync/grid/members.hpp>

namespace gpusync::detail {

/// `blocks`, or throws invalid_argument if the algorithm cannot serve that many. To be asked before anything is
/// computed from the number.
template <class Algorithm>
uint32_t require_servable(uint64_t blocks) {
  if (blocks != 0 && blocks <= Algorithm::max_blocks) return static_cast<uint32_t>(blocks);
  throw invalid_argument("A " + std::string(Algorithm::family) + " barrier serves 1 to " +
                         std::to_string(Algorithm::max_blocks) + " blocks, not " + std::to_string(blocks) + ".");
}

/// Throws invalid_argument if a storage for `capacity` blocks is too small for a part of a grid, or the part is empty.
inline void require_capacity(const block_range& part, uint32_t capacity) {
  if (part.count != 0 && part.count <= capacity) return;
  throw invalid_argument("A barrier of " + std::to_string(part.count) +
                         " blocks was asked for, but its storage was made for 1 to " + std::to_string(capacity) + ".");
}

}  // namespace gpusync::detail
