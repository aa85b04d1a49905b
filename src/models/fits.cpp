#include "models/fits.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "models/decomposition.hpp"
#include "models/recipes.hpp"
#include "results/groups.hpp"
#include "results/row_ratio.hpp"

namespace gpusync::tool {

namespace {

/// A model, and by which metric over which axis its rows are known.
struct recipe {
  const char* metric;
  const char* axis;
  std::vector<row> (*make)(const std::vector<row>&);
};

constexpr recipe recipes[] = {{"run_time", "blocks", crossing_rows},
                              {"part_time", "blocks", decomposition_fits},
                              {"total_time", "iterations", opencl_iteration_fits},
                              {"launch_time", "barriers", launch_barrier_fits},
                              {"device_time", "groups", opencl_barrier_fits},
                              {"device_memory", "groups", opencl_memory_fits},
                              {"latency", "threads", level_fits}};

/// Whether a row is of a paper's decomposition, which is as printed and not fitted by us.
bool is_printed_part(const row& entry) {
  return is_published(entry) && find_axis(entry.axes, "time_of") != nullptr;
}

bool is_fit(const row& entry) {
  if (is_printed_part(entry)) return false;
  const axis_value* part = find_axis(entry.axes, "time_of");
  return is_line(entry) || (part != nullptr && *part == axis_value(time_of_sums));
}

const recipe* recipe_of(const row& entry) {
  if (is_printed_part(entry) || is_fit(entry)) return nullptr;
  const auto found = std::ranges::find_if(recipes, [&](const recipe& one) {
    return entry.find_metric(one.metric) != nullptr && axis_number(entry.axes, one.axis);
  });
  return found == std::end(recipes) ? nullptr : &*found;
}

/// The axis along which rows that have no recipe of their own differ: variants beside their parts.
std::string swept_axis(const row& entry) {
  const recipe* known = recipe_of(entry);
  return known == nullptr ? "blocks" : known->axis;
}

using sweep_key = std::tuple<std::string, std::string, axis_values>;

/// What all rows of a sweep have in common.
sweep_key key_of(const row& entry) {
  axis_values axes;
  for (const auto& axis : entry.axes) {
    if (axis.first != swept_axis(entry) && axis.first != "time_of") axes.push_back(axis);
  }
  return {entry.experiment, entry.device, axes};
}

}  // namespace

std::vector<row> fits_of(const std::vector<row>& rows) {
  for (const row& entry : rows) {
    if (const recipe* known = recipe_of(entry)) return known->make(rows);
  }
  return {};
}

document refitted(const document& results) {
  std::map<sweep_key, std::vector<row>> sweeps;
  std::map<sweep_key, const row*> last;
  for (const row& entry : results.rows) {
    if (is_fit(entry) || is_printed_part(entry)) continue;
    sweeps[key_of(entry)].push_back(entry);
    last[key_of(entry)] = &entry;
  }
  document again;
  again.context = results.context;
  for (const row& entry : results.rows) {
    if (is_fit(entry)) continue;
    again.rows.push_back(entry);
    if (is_printed_part(entry) || last.at(key_of(entry)) != &entry) continue;
    for (row& fit : fits_of(sweeps.at(key_of(entry)))) again.rows.push_back(std::move(fit));
  }
  return again;
}

}  // namespace gpusync::tool
