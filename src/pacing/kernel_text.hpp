// What a kernel's PTX says of it: its parameters, its barriers, how wide it loads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pacing/launch_arguments.hpp"
#include "pacing/marked_source.hpp"

namespace gpusync::tool {

/// A parameter as a launch passes it.
struct kernel_parameter {
  uint32_t bytes = 0;
  bool floating = false;
  bool structure = false;  ///< no number and no pointer
};

struct kernel_text {
  std::vector<kernel_parameter> parameters;
  std::string body;      ///< without lines that say where the source stands
  int wide_loads = 0;    ///< from global memory, of more than 32 bits at once
  int narrow_loads = 0;  ///< of 32 bits or fewer
  bool calls = false;    ///< it calls functions that are not inlined
};

/// The kernel called `symbol`. Throws gpusync::error if the PTX has none.
kernel_text read_ptx(std::string_view ptx, const std::string& symbol);

/// Throws usage_error, naming the culprit, unless the arguments are what the kernel takes: their number, sizes and
/// kinds, and as far as the source says them, arrays for pointers and the size of their elements.
void require_arguments(const source_kernel& kernel, const std::vector<kernel_parameter>& parameters,
                       const std::vector<kernel_argument>& arguments);

}  // namespace gpusync::tool
