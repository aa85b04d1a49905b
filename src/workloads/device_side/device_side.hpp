// The part of an experiment that needs a device: an interface that the experiment calls, and an implementation for each
// kind of device that has one. So experiments exist in every build, whatever it can run. C++17: CUDA sources include
// it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <gpusync/core/error.hpp>

#include "devices/device.hpp"
#include "measure/stuck_launch.hpp"

namespace gpusync::tool {

template <class Part>
using part_opener = std::function<std::unique_ptr<Part>(const device_description&)>;

/// The implementations of Part that this build has.
template <class Part>
std::map<device_kind, part_opener<Part>>& part_openers() {
  static std::map<device_kind, part_opener<Part>> all;
  return all;
}

/// Registers an implementation; called during static initialization.
template <class Part>
struct register_side {
  register_side(device_kind kind, part_opener<Part> open) { part_openers<Part>()[kind] = std::move(open); }
};

/// The implementation for a device; kept_if_stuck(). Throws gpusync::error if its kind has none, or it is stuck.
template <class Part>
std::shared_ptr<Part> open_side(const device_description& device) {
  const auto found = part_openers<Part>().find(device.kind);
  if (found == part_openers<Part>().end()) {
    throw error("This experiment does not run on " + std::string(to_string(device.kind)) + " devices.");
  }
  require_not_stuck(device.id);
  return kept_if_stuck(found->second(device));
}

}  // namespace gpusync::tool
