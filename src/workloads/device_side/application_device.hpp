// What the device sides of applications have in common, which compute a result from an input that is given. C++17: CUDA
// sources include it.
#pragma once

#include <cstdint>

namespace gpusync::tool {

/// How a computation's state is kept from step to step.
enum class kept_form {
  memory,     ///< in memory, as in 2010: a boundary after each step
  registers,  ///< in registers, as far as a kernel lives
  pipeline,   ///< in registers, handed on from block to block as soon as it is there; no step is a boundary of the grid
};

/// What an experiment asks before it gives the device a problem.
class application_device {
 public:
  virtual ~application_device() = default;
  /// Whether the device has this form.
  virtual bool has(kept_form form) const { return form == kept_form::memory; }
  /// Bytes that a problem may take; 0 if that is not known.
  virtual uint64_t memory() const { return 0; }
  /// Bytes that one buffer may have; 0 if that is not limited otherwise.
  virtual uint64_t largest_buffer() const { return 0; }
};

}  // namespace gpusync::tool
