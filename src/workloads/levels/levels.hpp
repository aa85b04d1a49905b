// Workload "levels": one way to synchronize inside a multiprocessor or a cluster, again and again, each time waiting
// for the one before (Zhang et al. 2020, items Z6, Z7 and Z20 to Z22). C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"
#include "measure/chain_times.hpp"

namespace gpusync::tool {

/// What implementations of levels_device are registered as.
namespace level_sides {
inline constexpr const char *warp = "warp levels", *block = "block levels", *checked = "method check";
}

/// One operation.
struct level_variant {
  std::string method;            ///< in results: "tile-sync"
  uint32_t group = 0;            ///< lanes that synchronize; 0: all threads of a block or cluster
  bool divergent = false;        ///< lanes meet it in two branches
  std::vector<std::string> own;  ///< opcodes, any of which is the operation's instruction
  bool ordered = true;           ///< words can be handed over through it, or it hands over words itself
  bool in_clusters = false;
  bool is_barrier = true;              ///< false: lanes exchange values, or no lane waits for another
  std::vector<uint32_t> lengths = {};  ///< of its chains, rising; the device fills them in
};

/// "tile-sync-8", "syncwarp-32-divergent": different for all of a device.
std::string name_of(const level_variant& variant);

/// How it is launched.
struct level_shape {
  uint32_t threads = 32;       ///< per block
  uint32_t blocks_per_sm = 0;  ///< 0: one block, or one cluster, alone; else blocks begin together
  uint32_t cluster = 1;
};

/// One operation in one shape, ready to run.
class level_program {
 public:
  virtual ~level_program() = default;
  /// A chain of so many operations; a stamp for each warp of each block. Throws gpusync::error.
  virtual std::vector<warp_stamp> run(uint32_t length) = 0;
  /// Hands words over through the operation, if that can be done, and says how often they or the values in the timed
  /// chains were wrong.
  virtual verification verify() = 0;
};

/// Adds to one float that each wait for the one before, in a loop over straight-line code.
class repeated_adds {
 public:
  static constexpr uint32_t adds_per_step = 512;

  virtual ~repeated_adds() = default;
  /// One launch of so many steps; nanoseconds from launch to end, by events or by the host's clock.
  virtual double run(uint64_t steps, bool by_events) = 0;
  /// Whether the sums were right.
  virtual verification verify() = 0;
};

/// The device side.
class levels_device {
 public:
  virtual ~levels_device() = default;
  virtual std::vector<level_variant> variants() const = 0;
  /// Throws gpusync::error: not_co_resident if the shape does not fit, invalid_argument if the device, or the code that
  /// it runs, has no such operation.
  virtual std::unique_ptr<level_program> prepare(const level_variant& variant, const level_shape& shape) = 0;
  virtual std::unique_ptr<repeated_adds> prepare_adds() = 0;
  /// What the function of a chain is called in the machine code; empty if the CUDA runtime cannot say.
  virtual std::string function_of(const level_variant& variant, uint32_t length) const = 0;
  /// The architecture of the loaded machine code: 90 for sm_90.
  virtual int architecture() const = 0;
  /// Threads that a multiprocessor holds.
  virtual uint32_t threads_per_sm() const = 0;
};

}  // namespace gpusync::tool
