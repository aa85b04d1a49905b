// The costs of waiting that ship with the library: of the devices whose documents are under results/.
#pragma once

#include <vector>

#include <gpusync/advice/recorded/nvidia_h200.hpp>

namespace gpusync::advice {

/// All of them.
inline const std::vector<const device_costs*>& recorded() {
  static const std::vector<const device_costs*> all{&recorded_on_nvidia_h200()};
  return all;
}

}  // namespace gpusync::advice
