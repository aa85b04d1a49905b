// Workload "launch barriers": launches of kernels that pass a few grid barriers each, so that what a launch with a
// barrier costs is seen, the barrier's start included. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// The floors of this workload: a launch without a barrier, and a cooperative one.
inline constexpr const char *launch_floor = name_of_floor, *cooperative_launch_floor = "no-barrier-cooperative";

/// The device side.
class launch_barriers_device {
 public:
  virtual ~launch_barriers_device() = default;
  /// The launches with so many barriers each, as nodes of a graph or queued on a stream, as a computation whose steps
  /// are launches. It must not outlive the device side.
  virtual std::unique_ptr<workload> launches(uint32_t barriers, bool in_graph) = 0;
};

}  // namespace gpusync::tool
