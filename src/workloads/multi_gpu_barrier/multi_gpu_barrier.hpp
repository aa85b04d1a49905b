// Workload "multi-GPU barrier": the blocks of several GPUs wait for each other, step by step, in every way that there
// is. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// What threads do between two steps.
enum class across_data {
  none,  ///< nothing
  pull,  ///< each writes a word on its own GPU, and reads one of every GPU's where it was written
  push   ///< each writes a word on the next GPU, and reads what has come to its own and to the others
};

/// A barrier of several grids of one shape.
struct across_setting {
  uint32_t gpus = 1;
  step_shape shape;
  across_data data = across_data::none;
};

/// One way to wait, in one setting.
class across_program {
 public:
  virtual ~across_program() = default;
  /// Runs some steps; blocking. Returns nanoseconds a step. Then some more in which words are exchanged and checked, if
  /// the setting exchanges none. Throws gpusync::error.
  virtual double run() = 0;
  /// Runs about so many steps in which words are exchanged and checked; blocking. Throws gpusync::error.
  virtual void check(uint64_t steps) = 0;
  /// Words compared so far, and those of them that were wrong.
  virtual uint64_t checked() = 0;
  virtual uint64_t wrong() = 0;
};

/// What a pair of multiprocessors of two GPUs has seen.
struct across_message {
  double one_way_ns;  ///< half a round trip
  uint64_t sent;      ///< messages
  uint64_t wrong;     ///< of which never came, or brought another word than was sent
};

/// The device side: the GPU of the request and those that follow it, as far as they reach each other.
class multi_gpu_device {
 public:
  virtual ~multi_gpu_device() = default;
  /// How many GPUs there are.
  virtual uint32_t gpus() const = 0;
  /// Every way to wait.
  virtual std::vector<step_method> methods() const = 0;
  /// Throws gpusync::error if the devices cannot run it.
  virtual std::unique_ptr<across_program> prepare(const std::string& method, const across_setting& setting) = 0;
  /// Messages with release and acquire at system scope between two GPUs, by rank, through flags on each poller's GPU:
  /// pairs of some multiprocessors of each, one after the other. `payload`: each message hands over a word besides,
  /// written and read with plain accesses.
  virtual std::vector<across_message> messages(uint32_t one, uint32_t other, bool payload, bool quick) = 0;
};

}  // namespace gpusync::tool
