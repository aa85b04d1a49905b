// Workload "shared sum": doubles in shared memory, added up by one thread, one warp or a block, with the loop of figure
// 10 (Zhang et al. 2020, items Z10 to Z12). C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// Who adds up together.
struct summing_group {
  std::string method;    ///< in results: "1-warp"
  uint32_t threads = 1;  ///< 1, 32, or those of a block
};

/// From one thread to a block of 1024, by size.
const std::vector<summing_group>& summing_groups();

/// What comes behind the loop.
enum class sum_ending {
  each_its_own,  ///< nothing: each thread has a sum, as in the paper's bandwidth proxy
  one_sum        ///< shuffles bring a warp's sums together, shared memory and a barrier those of a block's warps
};

/// One group with one ending, ready to run.
class shared_sum_program {
 public:
  virtual ~shared_sum_program() = default;
  /// Adds up so many doubles, in a launch of one block; cycles from the first warp's begin to the last one's end.
  /// Precondition: at most most_elements().
  virtual double run(uint32_t elements) = 0;
  /// The sums of all runs, compared with what they must be.
  virtual verification verify() const = 0;
};

/// The device side.
class shared_sums_device {
 public:
  virtual ~shared_sums_device() = default;
  /// Throws gpusync::error.
  virtual std::unique_ptr<shared_sum_program> prepare(const summing_group& group, sum_ending ending) = 0;
  /// Doubles that a block's shared memory holds beside what it needs itself.
  virtual uint32_t most_elements() const = 0;
};

}  // namespace gpusync::tool
