// What a launch is told of the members of a grid barrier among its kernel's arguments.
#pragma once

#include <gpusync/core/storage_control.hpp>
#include <gpusync/grid/members.hpp>

namespace gpusync::detail {

/// What a barrier of these members begins with, made by the storage that `control` is of.
inline handle_header header_for(const barrier_control& control, const whole_grid&) {
  return control.header(handle_kind::whole_grid);
}
inline handle_header header_for(const barrier_control& control, const block_range& part) {
  return control.header(handle_kind::part, part.first, part.count);
}
inline handle_header header_for(const barrier_control& control, const dropping_blocks&) {
  return control.header(handle_kind::dropping);
}

}  // namespace gpusync::detail
