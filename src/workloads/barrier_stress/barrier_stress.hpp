// Workload "barrier stress": phases of grid barriers without end, in every form that a barrier has, with blocks that
// are now and then late; every thread writes a word before each phase and reads three of other blocks after it. C++17:
// CUDA sources include it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// Whom the barriers of a launch join.
enum class stress_mode {
  whole,        ///< all blocks, from beginning to end
  two_parts,    ///< two barriers at once, each of its own half
  three_parts,  ///< three
  dropping,     ///< all blocks, of which two leave early
};

/// What was done so far. A launch with several parts counts the phases of each.
struct stress_count {
  uint64_t phases = 0;
  uint64_t checked = 0;  ///< words compared
  uint64_t wrong = 0;    ///< of those
};

/// One barrier in one shape.
class stress_program {
 public:
  virtual ~stress_program() = default;
  /// The modes that the barrier and the shape allow.
  virtual std::vector<stress_mode> modes() const = 0;
  /// Runs one launch of `phases` phases (of each part). `seed` chooses who is late when. Blocking. Throws stuck_launch,
  /// or gpusync::error if a wait timed out (the program is of no more use then).
  virtual void run(stress_mode mode, uint32_t phases, uint32_t seed) = 0;
  virtual stress_count count() const = 0;
};

/// The device side.
class barrier_stress_device {
 public:
  virtual ~barrier_stress_device() = default;
  /// Every barrier that orders data.
  virtual std::vector<step_method> methods() const = 0;
  /// Throws gpusync::error if the device cannot run it.
  virtual std::unique_ptr<stress_program> prepare(const std::string& method, uint32_t blocks, uint32_t threads) = 0;
};

}  // namespace gpusync::tool
