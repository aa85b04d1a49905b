// What only NVIDIA's driver tools tell: clocks, temperature, who else uses a device.
#pragma once

#include <string>

#include "devices/device.hpp"

namespace gpusync::tool {

/// Version of the loaded NVIDIA driver, or an empty string.
std::string nvidia_driver_version();

/// State of the device with this UUID ("GPU-…"), as nvidia-smi prints it; unknown fields stay 0 where that program is
/// not there or does not say. Takes a process start, some 50 ms and more: not for use within measurements.
device_state nvidia_smi_state(const std::string& uuid);

}  // namespace gpusync::tool
