#include <algorithm>

#include "models/crossing.hpp"
#include "models/line_rows.hpp"
#include "models/recipes.hpp"
#include "results/groups.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {

namespace {

/// The barrier that people have without this library.
const method_series* rival_of(const std::vector<method_series>& all) {
  const auto found = std::ranges::find_if(
      all, [](const method_series& one) { return one.like.rival && one.like.kind == method_kind::barrier; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::vector<row> launch_barrier_fits(const std::vector<row>& rows) {
  const std::vector<method_series> all = series_of(rows, "barriers", "launch_time", fit_weights::relative);
  const method_series* const rival = rival_of(all);
  std::vector<row> fits;
  for (const method_series& one : all) {
    if (one.like.kind != method_kind::barrier) continue;
    row entry = line_row(one, {"barriers", "launch_time over barriers", "time_per_barrier", "us", "us"});
    if (rival != nullptr && rival != &one && entry.status == row_status::ok) {
      metric from = empty_metric("barriers");
      from.n = one.points.size();
      from.value = stays_below_from(curve_of(one), curve_of(*rival));
      entry.metrics.emplace_back("wins_from", std::move(from));
    }
    fits.push_back(std::move(entry));
  }
  return fits;
}

}  // namespace gpusync::tool
