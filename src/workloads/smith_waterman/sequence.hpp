// A nucleotide sequence, one base to a byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpusync::tool {

struct sequence {
  std::string name;
  std::vector<uint8_t> bases;  ///< 0 to 3, or unknown_base (scoring.hpp)
};

}  // namespace gpusync::tool
