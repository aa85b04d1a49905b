// A launch that never ends, and what must not be done behind it. C++17: CUDA sources include it.
#pragma once

#include <memory>
#include <set>
#include <string>

#include <gpusync/core/error.hpp>

namespace gpusync::tool {

/// Devices, by their ids ("cuda:0"), with a launch that has not ended: they can do nothing else until the process ends.
inline std::set<std::string>& stuck_devices() {
  static std::set<std::string> all;
  return all;
}

/// A launch did not come to its end: its device is stuck from now on.
class stuck_launch : public error {
 public:
  stuck_launch(const std::string& device, const std::string& what) : error(what) { stuck_devices().insert(device); }
};

/// In the place of what would have been done on a stuck device.
class behind_stuck_launch : public error {
 public:
  behind_stuck_launch() : error("The device is stuck in a launch before this one.") {}
};

/// Throws behind_stuck_launch if the device is stuck.
inline void require_not_stuck(const std::string& device) {
  if (stuck_devices().count(device) != 0) throw behind_stuck_launch();
}

/// Shares what lives on a device, and does not destroy it if a launch is stuck: to free its memory would wait for that.
template <class T>
std::shared_ptr<T> kept_if_stuck(std::unique_ptr<T> one) {
  return std::shared_ptr<T>(one.release(), [](T* it) {
    if (stuck_devices().empty()) delete it;
  });
}

}  // namespace gpusync::tool
