// Workload "rmw calls": participants call one read-modify-write object again and again, all at once. C++17: CUDA
// sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gpusync/rmw/machine.hpp>
#include <gpusync/rmw/operations.hpp>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// What is called, and where it lies.
struct call_setup {
  rmw::space where = rmw::space::global;
  std::string type = "uint32";  ///< of the state
  uint32_t capacity = 5;        ///< participants that the objects are made for
  rmw::operation_kind kind = rmw::operation_kind::add;
  uint32_t calls = 30'000;  ///< by each participant in one run
};

/// The device side. Its workloads run whole: `blocks` of the shape are the participants, each a warp in a block of its
/// own or, in shared memory, a warp of one block. A run's time is that from the first call to the end of the last, from
/// a common start. It finds `slowest_over_mean`, the time of the slowest participant over the mean of all, and
/// `longest_call` in microseconds, from the warm-up run in which every call is timed.
class rmw_calls_device {
 public:
  virtual ~rmw_calls_device() = default;
  /// Capacities that there are objects for, ascending.
  virtual std::vector<uint32_t> capacities(rmw::space where) const = 0;
  /// Types of state for that capacity.
  virtual std::vector<std::string> types(rmw::space where, uint32_t capacity) const = 0;
  /// Throws gpusync::error if there is nothing of that kind.
  virtual std::unique_ptr<workload> open(const call_setup& setup) = 0;
};

}  // namespace gpusync::tool
