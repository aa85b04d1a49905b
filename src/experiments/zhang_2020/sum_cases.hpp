// The axes that experiments of sums share: type, bytes, count, input, passing, offset.
#pragma once

#include <string>
#include <vector>

#include "harness/experiment.hpp"
#include "workloads/reduction/reduction.hpp"

namespace gpusync::tool {

/// One combination of them.
struct sum_case {
  std::string type;   ///< of the elements
  uint64_t bytes;     ///< that the axis names
  std::string count;  ///< how many elements are summed of those that so many bytes hold
  std::string input;
  std::string passing;  ///< how one sum follows the other
  uint32_t offset;

  /// Of so many times the bytes.
  reduction_problem problem(uint32_t times = 1) const;
};

/// What is taken where the user names nothing.
struct sum_defaults {
  std::vector<int64_t> bytes;
  std::vector<std::string> inputs;
  std::string passing;
};

/// Every combination; bytes change fastest. Throws usage_error naming a word that an axis does not take.
std::vector<sum_case> sum_cases(const experiment_request& request, const sum_defaults& defaults);

/// Whether its inputs are to be in a cache, but have more than so many bytes: of those nothing is known to be in it.
bool is_uncached(const sum_case& one, uint64_t most_cached_bytes);

/// "67108864 float of 256 MiB (n), cold, stream": `elements` are summed.
std::string label_of(const sum_case& one, uint64_t elements);

/// The axes as experiments declare them, but for `bytes`, `offset` and the methods; `inputs` and `passing` say in words
/// what is taken by default.
std::vector<axis> axes_of_sums(const std::string& inputs, const std::string& passing);

}  // namespace gpusync::tool
