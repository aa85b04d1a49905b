// Workload "late arrival": in every step another block comes about a microsecond late to a grid barrier, and all blocks
// note when they arrive and when they are let go. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// What one launch has seen, step by step, after its warm-up. Nanoseconds of the device's global timer.
struct late_arrival_times {
  std::vector<double> mean_release;  ///< from the last arrival to the mean over the blocks of their releases
  std::vector<double> last_release;  ///< from the last arrival to the last release
};

/// One barrier in one shape.
class late_arrival_program {
 public:
  virtual ~late_arrival_program() = default;
  /// Runs one launch of some dozens of steps; the first few warm up and are not returned. Blocking. Throws
  /// gpusync::error.
  virtual late_arrival_times run() = 0;
  /// Words compared in all launches so far, and those of them that were wrong.
  virtual uint64_t checked() const = 0;
  virtual uint64_t wrong() const = 0;
};

/// The device side.
class late_arrival_device {
 public:
  virtual ~late_arrival_device() = default;
  /// Every barrier that orders data.
  virtual std::vector<step_method> methods() const = 0;
  /// Throws gpusync::error if the device cannot run it.
  virtual std::unique_ptr<late_arrival_program> prepare(const std::string& method, uint32_t blocks,
                                                        uint32_t threads) = 0;
};

}  // namespace gpusync::tool
