// A workload cut into steps, with something between the steps that lets blocks wait for each other: what the
// experiments time. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gpusync/grid/counter_plan.hpp>

#include "devices/device.hpp"
#include "workloads/method_kind.hpp"

namespace gpusync::tool {

/// What a step looks like.
struct step_shape {
  uint32_t blocks = 1;
  uint32_t threads = 1;  ///< per block
  bool stores = false;   ///< every step writes one word per thread, which another block reads and checks after it
};

/// A way to pass from one step to the next.
struct step_method {
  std::string name;                ///< in results: "cg", "lock-based-acquire-release", "relaunch"
  std::string title;               ///< in words: "stream relaunch"
  std::vector<std::string> items;  ///< paper items that it reproduces
  method_kind kind = method_kind::barrier;
  bool ordered = true;              ///< false if what is read after it may be stale: its results prove nothing
  bool needs_co_residency = false;  ///< all blocks must run at once
  uint32_t cluster = 1;             ///< blocks per thread block cluster
  /// For placed counters: the plan to follow instead of the device's tuned one.
  std::optional<grid::counter_plan> plan = std::nullopt;
  /// For barriers and objects: not this library's own, but what its are compared with.
  bool rival = false;
  bool by_default = true;  ///< measured if the user names no methods, where an experiment does not choose itself
};

/// Whether an experiment measures it unless the user names others.
inline bool is_by_default(const step_method& method) {
  return method.by_default;
}

/// Whether a method is what people use without this library. Launches and graphs always are.
inline bool is_rival(const step_method& method) {
  return method.rival || method.kind == method_kind::host_wait || method.kind == method_kind::launch ||
         method.kind == method_kind::graph;
}

/// What a check of the computed result found.
struct verification {
  bool performed = false;
  uint64_t checked = 0;  ///< values compared
  uint64_t wrong = 0;    ///< of which wrong
  std::string how;       ///< in words
};

/// A prepared program: memory allocated, kernels compiled, graphs instantiated.
class step_program {
 public:
  virtual ~step_program() = default;
  /// Runs `steps` steps, a multiple of steps_unit(), and returns the nanoseconds that they took on the device's own
  /// timer, or on the host's where the method involves the host. Blocking. Every run is checked on the way.
  virtual double run(uint64_t steps) = 0;
  /// Steps come in multiples of this.
  virtual uint64_t steps_unit() const = 0;
  /// What all runs so far have computed, compared with what they should have.
  virtual verification verify() = 0;
};

/// What a device's grids are made of, as far as the tuning of barriers asks for it.
struct grid_facts {
  uint32_t sms = 1;  ///< multiprocessors
  uint32_t threads_per_sm = 1;
  bool l2_partitions = false;  ///< an L2 cache of two partitions was found
  double near_cycles = 0;      ///< an atomic's round trip to the own partition, if there are partitions
  double far_cycles = 0;       ///< and to the other
};

/// A workload on one device.
class step_workload {
 public:
  virtual ~step_workload() = default;
  /// Every method that this device has, the floor first.
  virtual std::vector<step_method> methods() const = 0;
  /// A program for one method and shape; it must not outlive the workload. Throws gpusync::error when the device cannot
  /// run it (the row is skipped with that sentence as its reason).
  virtual std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) = 0;
  /// The most blocks of `threads` threads that run at once under the methods that need it.
  virtual uint64_t max_co_resident(uint32_t threads) = 0;
  /// Values that an experiment sweeps when the user names none: of blocks and of threads per block.
  virtual std::vector<uint32_t> default_blocks(bool quick) = 0;
  virtual std::vector<uint32_t> default_threads(bool quick) = 0;
  virtual grid_facts facts() { return {}; }
  /// The clock of the device's processors in MHz, measured now; 0 if it cannot be.
  virtual double clock_mhz() { return 0; }
};

/// Opens workload `name` ("average") on a device. Throws gpusync::error if the device's kind does not have it.
std::unique_ptr<step_workload> open_workload(const std::string& name, const device_description& device);

/// Registers a workload for a kind of device; called during static initialization.
struct register_workload {
  using opener = std::function<std::unique_ptr<step_workload>(const device_description&)>;
  register_workload(std::string name, device_kind kind, opener open);
};

}  // namespace gpusync::tool
