// The part of an experiment that needs a device: an interface that the experiment calls, and an implementation for each
// kind of device that has one. So experiments exist in every build, whatever it can run. C++17: CUDA sources include
// it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <gpusync/core/error.hpp>

#include "devices/device.hpp"
#include "measure/stuck_launch.hpp"

namespace gpusync::tool {

template <class Side>
using side_opener = std::function<std::unique_ptr<Side>(const device_description&)>;

/// The implementations of Side that this build has, by name where there are several for a kind of device.
template <class Side>
std::map<std::pair<std::string, device_kind>, side_opener<Side>>& side_openers() {
  static std::map<std::pair<std::string, device_kind>, side_opener<Side>> all;
  return all;
}

/// Opens a class that is made of the device's description, or of nothing.
template <class Side>
std::unique_ptr<Side> make_side(const device_description& device) {
  if constexpr (std::is_constructible_v<Side, const device_description&>) {
    return std::make_unique<Side>(device);
  } else {
    return std::make_unique<Side>();
  }
}

/// Registers an implementation; called during static initialization.
template <class Side>
struct register_side {
  register_side(device_kind kind, side_opener<Side> open, const std::string& name = "") {
    side_openers<Side>()[{name, kind}] = std::move(open);
  }
};

/// The implementation for a device; kept_if_stuck(). Throws gpusync::error if its kind has none, or it is stuck.
template <class Side>
std::shared_ptr<Side> open_side(const device_description& device, const std::string& name = "") {
  const auto found = side_openers<Side>().find({name, device.kind});
  if (found == side_openers<Side>().end()) {
    throw error((name.empty() ? "This experiment" : "The workload " + name) + " does not run on " +
                std::string(to_string(device.kind)) + " devices.");
  }
  require_not_stuck(device.id);
  return kept_if_stuck(found->second(device));
}

}  // namespace gpusync::tool
