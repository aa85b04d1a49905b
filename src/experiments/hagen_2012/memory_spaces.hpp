// Where an object lies, as the axis `memory` has it.
#pragma once

#include <gpusync/rmw/machine.hpp>

namespace gpusync::tool {

inline constexpr rmw::space memory_spaces[] = {rmw::space::global, rmw::space::shared};

/// "global" or "shared".
inline const char* memory_word(rmw::space where) {
  return where == rmw::space::global ? "global" : "shared";
}

}  // namespace gpusync::tool
