// What only NVIDIA's driver tools tell: clocks and what lowers them, temperature, MIG, errors, who else uses a device.
#pragma once

#include <cstdint>
#include <string>

#include "devices/device.hpp"

namespace gpusync::tool {

/// Version of the loaded NVIDIA driver, or an empty string.
std::string nvidia_driver_version();

/// State of the device with this UUID ("GPU-…"), as nvidia-smi prints it; unknown fields stay 0 where that program is
/// not there or does not say. Takes a process start, some 50 ms and more: not for use within measurements.
device_state nvidia_smi_state(const std::string& uuid);

/// Adds what the bits of nvidia-smi's "clocks_event_reasons.active" say to slowed_by and clock_set_by. That a GPU has
/// nothing to do is neither.
void add_clock_reasons(uint64_t reasons, device_state& state);

}  // namespace gpusync::tool
