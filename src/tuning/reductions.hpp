// The search for the plans that sums of each size should follow.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "devices/device.hpp"

namespace gpusync::tool {

/// A measured choice: the plan for sums of up to so many bytes, in the words of a tuning table.
struct tuned_sum {
  uint64_t bytes = 0;
  std::string words;
  double microseconds = 0;         ///< of a sum, as a node of a graph, of an input that is in no cache
  double microseconds_cached = 0;  ///< and of one that is; 0 where none of that size is
};

/// Lines `reduce TYPE BYTES …` of a table: a line for each run of sizes with the same plan, the last for `any`.
/// Precondition: by rising bytes, not empty.
std::string reduction_lines(const std::string& type, const std::vector<tuned_sum>& found);

/// Measures every plan for inputs of 2^10 to 2^31 bytes, cold and in the cache, and takes the least of both together,
/// each as a part of the best. `tried(fraction, what)` is called before each size, and may throw. Throws gpusync::error
/// if a sum was wrong.
std::vector<tuned_sum> tune_sums(const device_description& device, bool wide,
                                 const std::function<void(double, const std::string&)>& tried);

}  // namespace gpusync::tool
