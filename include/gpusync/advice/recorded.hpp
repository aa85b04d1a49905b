// The costs of waiting that ship with the library: of the devices whose documents are under results/.
#pragma once

#include <string>
#include <vector>

#include <gpusync/advice/recorded/nvidia_h100_80gb_hbm3.hpp>
#include <gpusync/advice/recorded/nvidia_h200.hpp>

namespace gpusync::advice {

/// All of them, each once.
inline const std::vector<const device_costs*>& recorded() {
  static const std::vector<const device_costs*> all{&recorded_on_nvidia_h200(), &recorded_on_nvidia_h100_80gb_hbm3()};
  return all;
}

/// Those of a device by the name that its driver gives it, "NVIDIA H200"; null if it was never recorded.
inline const device_costs* recorded_of(const std::string& device) {
  for (const device_costs* each : recorded()) {
    if (each->device == device) return each;
  }
  return nullptr;
}

}  // namespace gpusync::advice
