// Workload "thesis_average" as experiments see it; thesis_expectation.hpp says what it computes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// Device memory of a program, in bytes.
struct thesis_memory {
  uint64_t algorithm = 0;  ///< the barrier's own words; 0 where the host synchronizes
  uint64_t barrier = 0;    ///< these, and what finds out about residency and time-outs
  uint64_t needed = 0;     ///< with the buffers of the computation, by our own count
  uint64_t allocated = 0;  ///< what OpenCL says of the same buffers (CL_MEM_SIZE)
};

/// One method on one shape.
class thesis_program {
 public:
  virtual ~thesis_program() = default;
  /// Computes on the host what a run of that many iterations must give; else its first run does.
  virtual void expect(uint32_t iterations) = 0;
  /// Runs that many iterations and compares the result, outside the times. Blocking.
  virtual run_times run(uint32_t iterations) = 0;
  /// Of all runs so far.
  virtual verification verify() const = 0;
  virtual thesis_memory memory() const = 0;
};

class thesis_device {
 public:
  virtual ~thesis_device() = default;
  /// The work alone, the host's synchronization, and every barrier with every ordering.
  virtual std::vector<step_method> methods() const = 0;
  /// Throws gpusync::error when the device cannot run it. `tight`: with a storage for just this shape, so that memory()
  /// is what a program of that shape needs; else one storage serves all shapes.
  virtual std::unique_ptr<thesis_program> prepare(const step_method& method, uint32_t groups, uint32_t items,
                                                  bool tight) = 0;
  /// The most work-groups of `items` work-items that run at once under every one of these methods.
  virtual uint32_t resident(const std::vector<step_method>& methods, uint32_t items) = 0;
  virtual uint32_t default_items() const = 0;
};

}  // namespace gpusync::tool
