// A user's kernel in several variants on a device: launched, timed, its arrays compared. C++17: CUDA sources include
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "pacing/launch_arguments.hpp"

namespace gpusync::tool {

/// What the device needs of a compiled variant.
struct loadable_kernel {
  std::string symbol;
  std::string image;  ///< machine code or PTX
};

/// How every variant is launched.
struct paced_launch {
  dimensions blocks, threads;
  uint32_t shared_bytes = 0;  ///< dynamic
  std::vector<kernel_argument> arguments;
};

/// What decides how many blocks run at once, and what the kernel takes of a multiprocessor.
struct residency {
  int blocks_per_sm = 0;
  uint64_t static_shared = 0;  ///< bytes of a block
  int carve_out = -1;          ///< percent of the L1 cache that the kernel asks for as shared memory; -1: the driver's
  int registers = 0;           ///< of a thread
  uint64_t local_bytes = 0;    ///< of a thread: what does not fit into registers

  /// Whether both leave the same room: then a difference in time is not that of occupancy.
  bool same_room(const residency& other) const {
    return blocks_per_sm == other.blocks_per_sm && static_shared == other.static_shared && carve_out == other.carve_out;
  }
};

/// One run of a variant.
struct paced_run {
  double nanoseconds = 0;
  uint64_t compared = 0;  ///< bytes of arrays
  uint64_t wrong = 0;     ///< that differ from the reference; 0 if there is none yet
  std::string first;      ///< where the first of them stands: "argument 1, byte 4096"
};

/// Variants of one kernel, with arrays in common.
class paced_kernel {
 public:
  virtual ~paced_kernel() = default;
  virtual residency room_of(size_t variant) = 0;
  /// Gives all arrays their start contents, then launches the variant, times it, and compares the arrays. Throws
  /// stuck_launch if it has not ended within so many seconds, cuda_failure if it fails.
  virtual paced_run run(size_t variant, double limit_s) = 0;
  /// What the arrays hold now is what later runs must leave.
  virtual void keep_as_reference() = 0;
};

/// A kind of device that runs user's kernels.
class pacing_device {
 public:
  virtual ~pacing_device() = default;
  /// 90 for sm_90.
  virtual int architecture() const = 0;
  /// Loads the variants and makes the arrays. Throws gpusync::error in words if they or the memory do not do.
  virtual std::unique_ptr<paced_kernel> load(const std::vector<loadable_kernel>& variants,
                                             const paced_launch& launch) = 0;
};

}  // namespace gpusync::tool
