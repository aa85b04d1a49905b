// What the experiments of Shen 2013 have in common: methods that run the thesis's computation in turns on one shape.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/choices.hpp"
#include "experiments/method_comparison.hpp"
#include "workloads/thesis_average/thesis_average.hpp"

namespace gpusync::tool {

struct thesis_shape {
  uint32_t groups = 1;
  uint32_t items = 1;  ///< per group
  uint32_t iterations = 1;
};

/// Samples of a comparison, in nanoseconds.
inline constexpr const char* host_sample = "host";
inline constexpr const char* device_sample = "device";

/// As often as the thesis measured, or fewer times for a quick look.
stop_rule thesis_rounds(bool quick);

/// What programs need, by method, where that is asked for: with storages for just one shape (thesis_device::prepare).
using memory_by_method = std::map<std::string, thesis_memory>;

/// Compares methods on one shape; axes and metrics are the caller's. With `memory`, fills in what each program needs.
std::vector<method_result> compare_thesis_runs(thesis_device& device, const comparison_setting& setting,
                                               const std::vector<step_method>& methods, const thesis_shape& shape,
                                               const stop_rule& rule, const std::function<void(double)>& progress,
                                               memory_by_method* memory = nullptr);

/// Calls `sweep(methods, items, groups)` for each size of work-groups, with the methods that are to be compared and the
/// numbers of groups that the user chose; else 1, 10, 20, … 70 as in the thesis, then hundreds, up to as many as run at
/// once under all these methods, that number among them.
void for_each_size(
    const experiment_request& request, thesis_device& device,
    const std::function<void(const std::vector<step_method>&, uint32_t, const std::vector<int64_t>&)>& sweep);

/// "opencl:0 70 work-groups x 64".
std::string in_words(const experiment_request& request, const thesis_shape& shape);

/// The axes that they share.
std::vector<axis> thesis_axes();

/// The samples of that name as a metric of microseconds or milliseconds: their median, with quartiles.
metric thesis_time(const method_result& result, const char* sample, const std::string& unit, bool keep_samples);

/// Hands over what the thesis has printed for an experiment, and the lines through that.
void add_published(const char* experiment, const experiment_sink& sink);

}  // namespace gpusync::tool
