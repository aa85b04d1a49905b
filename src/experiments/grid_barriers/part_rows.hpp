// What the experiments on grid barriers have in common: names of methods, and rows of what came out.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "measure/statistics.hpp"

namespace gpusync::tool {

/// The names that axis `method` lists, or those of `defaults` that are available. Throws usage_error naming the culprit
/// and what there is.
std::vector<std::string> choose_names(const experiment_request& request, const std::vector<std::string>& available,
                                      const std::vector<std::string>& defaults);

/// A metric with the quartiles and the spread of `values`, each times `scale`; its value is their mean.
metric mean_metric(const std::vector<double>& values, double scale, const std::string& unit, bool keep_samples);

/// A metric that is one figure drawn from `n` samples.
metric plain_metric(double value, const std::string& unit, uint64_t n);

/// Marks a row as skipped if the device refused the launch (it would not fit), as failed for anything else that was
/// thrown, with the sentence as the reason.
void mark_thrown(row& entry, const std::exception_ptr& thrown);

/// Fills in what a check of words has found: verified or failed.
void mark_checked(row& entry, uint64_t checked, uint64_t wrong, const std::string& how);

}  // namespace gpusync::tool
