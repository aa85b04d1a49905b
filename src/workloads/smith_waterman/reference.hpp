// Local alignment on the host, by the recurrence of Smith and Waterman (1981) with the gaps of Gotoh (1982): what
// devices are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "workloads/smith_waterman/scoring.hpp"

namespace gpusync::tool {

/// How the matrix is cut. Both at least 1.
struct tile_shape {
  size_t reference_letters = 1024;
  size_t query_letters = 2048;
};

/// The end of a best local alignment of `query` with `reference`, and its score; alignment_end says which of several.
/// Time is the product of the lengths, memory their sum. Bases are 0 to 3 or unknown_base. Throws as require_scoring
/// does.
///
/// Found by `threads` threads, the caller's included; 0 means as many as the machine runs at once. Strips of tiles are
/// taken in the order of the reference, and each strip follows the one before it at a distance of a tile. Where the
/// system starts fewer threads, the others do the work. Asks `interrupted`, if it is there, before every tile, in any
/// of its threads, and throws run_interrupted once it has said yes.
alignment_end align_reference(const std::vector<uint8_t>& query, const std::vector<uint8_t>& reference,
                              const alignment_scoring& scoring, uint32_t threads = 0, const tile_shape& tile = {},
                              const std::function<bool()>& interrupted = {});

/// The best cell of every row, that is, for each letter of the query, found as align_reference finds the best of them
/// all. Asks `interrupted` after every tile, in any of its threads; returns nothing once it has said yes.
std::optional<std::vector<row_best>> align_rows(const std::vector<uint8_t>& query,
                                                const std::vector<uint8_t>& reference, const alignment_scoring& scoring,
                                                const std::function<bool()>& interrupted, uint32_t threads = 0,
                                                const tile_shape& tile = {});

}  // namespace gpusync::tool
