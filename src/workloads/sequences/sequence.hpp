// Nucleotide sequences. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpusync::tool {

/// A, C, G and T are 0, 1, 2 and 3. Every other letter of a nucleotide is unknown_base.
inline constexpr uint8_t unknown_base = 4;

/// A nucleotide sequence, one base to a byte.
struct sequence {
  std::string name;
  std::vector<uint8_t> bases;  ///< 0 to 3, or unknown_base
};

}  // namespace gpusync::tool
