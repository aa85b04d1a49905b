// Whether there is memory for what is to be measured.
#pragma once

#include <cstdint>
#include <string>

#include "harness/experiment.hpp"

namespace gpusync::tool {

/// The memory that a computation takes, in bytes.
struct room_needed {
  std::string what;                     ///< "Sorting 100 elements"
  std::string less;                     ///< what to do if there is not as much: "use fewer elements"
  uint64_t device = 0, device_has = 0;  ///< of the device's memory; it has 0: that is not known
  uint64_t buffer = 0, buffer_has = 0;  ///< in one buffer; 0: not limited otherwise
  uint64_t host = 0;
};
/// Throws usage_error with the numbers if the device or the host has less. Nothing has been allocated by then.
void require_memory(const room_needed& needed, const experiment_request& request);

}  // namespace gpusync::tool
