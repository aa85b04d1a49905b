// Workload "split phase": blocks with work of their own between their arrival at a grid barrier and its end, so that
// the barrier may pass while they work. C++17: CUDA sources include it.
#pragma once

#include <memory>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// What a method's name ends with if a warp of its own serves the barrier.
inline constexpr const char* proxy_suffix = "+proxy";
/// The method without a barrier, which results know as the floor.
inline constexpr const char* work_alone = name_of_floor;

/// The device side.
class split_phase_device {
 public:
  virtual ~split_phase_device() = default;
  /// The workload with so many microseconds of own work per warp and step: a dependent chain of multiply-adds, as long
  /// for all methods. `shape.stores`: every step writes a word per thread, of which two other blocks read it after the
  /// barrier; otherwise only the first and last steps of a run do. The workload must not outlive this object.
  virtual std::unique_ptr<workload> with_work(double microseconds) = 0;
};

}  // namespace gpusync::tool
