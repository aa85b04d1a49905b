#include "experiments/grid_barriers/part_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "usage_error.hpp"

namespace gpusync::tool {

std::vector<std::string> choose_names(const experiment_request& request, const std::vector<std::string>& available,
                                      const std::vector<std::string>& defaults) {
  const auto is_there = [&](const std::string& name) {
    return std::find(available.begin(), available.end(), name) != available.end();
  };
  std::vector<std::string> names;
  const auto wanted = request.axes.words.find("method");
  if (wanted == request.axes.words.end()) {
    std::copy_if(defaults.begin(), defaults.end(), std::back_inserter(names), is_there);
    return names;
  }
  for (const std::string& name : wanted->second) {
    if (!is_there(name)) {
      throw usage_error(fmt::format("Axis method does not take '{}' on {}: it takes {}.", name, request.device.id,
                                    fmt::join(available, ", ")));
    }
    names.push_back(name);
  }
  return names;
}

metric mean_metric(const std::vector<double>& values, double scale, const std::string& unit, bool keep_samples) {
  metric result;
  result.unit = unit;
  result.n = values.size();
  if (values.empty()) return result;
  const sample_summary summary = summarize(values);
  result.value = summary.mean * scale;
  result.q1 = summary.q1 * scale;
  result.median = summary.median * scale;
  result.q3 = summary.q3 * scale;
  result.stddev = summary.stddev * scale;
  if (keep_samples) {
    result.samples.emplace();
    for (const double value : values) result.samples->push_back(value * scale);
  }
  return result;
}

metric plain_metric(double value, const std::string& unit, uint64_t n) {
  metric result;
  result.value = value;
  result.unit = unit;
  result.n = n;
  return result;
}

void mark_thrown(row& entry, const std::exception_ptr& thrown) {
  entry.status = row_status::failed;
  try {
    std::rethrow_exception(thrown);
  } catch (const not_co_resident& refusal) {
    entry.status = row_status::skipped;
    entry.reason = refusal.what();
  } catch (const invalid_argument& refusal) {
    entry.status = row_status::skipped;
    entry.reason = refusal.what();
  } catch (const std::exception& failure) {
    entry.reason = failure.what();
  } catch (...) {
    entry.reason = "An unknown failure.";
  }
}

void mark_checked(row& entry, uint64_t checked, uint64_t wrong, const std::string& how) {
  entry.verified = wrong == 0;
  entry.verification = fmt::format("{} words: {}", checked, how);
  if (wrong == 0) return;
  entry.status = row_status::failed;
  entry.reason = fmt::format("Wrong results: {} of {} checked words.", wrong, checked);
}

}  // namespace gpusync::tool
