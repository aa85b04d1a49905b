// The suffixes of a text of bases, in order.
#pragma once

#include <cstdint>
#include <vector>

namespace gpusync::tool {

/// A suffix goes from a known base up to the next unknown one. A comes before C, G and T; a suffix that another begins
/// with comes before it; equal ones stand in any order, which is always the same.
struct suffix_array {
  std::vector<uint32_t> position;  ///< of a row: where its suffix begins
  std::vector<uint32_t> common;    ///< of a row: bases that it begins with as the row before does; 0 for the first

  uint32_t rows() const { return static_cast<uint32_t>(position.size()); }
};

/// Texts have fewer bases than this.
inline constexpr uint32_t longest_text = (uint32_t{1} << 31) - 2;

/// The suffixes of `text` (0 to 3, or unknown_base), a row for each known base. Time and memory are linear (12 bytes a
/// base, 21 while it works): G. Nong, S. Zhang and W. Chan, "Linear suffix array construction by almost pure induced
/// sorting", DCC 2009; J. Kärkkäinen, G. Manzini and S. Puglisi, "Permuted longest-common-prefix array", CPM 2009.
/// Throws invalid_argument if the text is too long, or does not end with unknown_base, which keeps whoever compares
/// suffixes within it.
suffix_array sort_suffixes(const std::vector<uint8_t>& text);

}  // namespace gpusync::tool
