// Where an object lies, as the axis `memory` has it.
#pragma once

#include <string>

#include <gpusync/rmw/machine.hpp>

namespace gpusync::tool {

/// "global" or "shared".
inline const char* memory_word(rmw::space where) {
  return where == rmw::space::global ? "global" : "shared";
}
/// The other way round.
inline rmw::space space_of(const std::string& word) {
  return word == "global" ? rmw::space::global : rmw::space::shared;
}

}  // namespace gpusync::tool
