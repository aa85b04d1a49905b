// Barriers of a block over its warps (Zhang et al. 2020, Figure 6): a + b x warps.
#include "models/line_rows.hpp"
#include "models/recipes.hpp"

namespace gpusync::tool {

std::vector<row> level_fits(const std::vector<row>& rows) {
  constexpr double threads_per_warp = 32;
  std::vector<row> fits;
  // Those that order nothing have no words to check, and take what they take.
  for (const method_series& series : series_of(rows, "threads", "latency", fit_weights::even, fit_rows::drawn)) {
    fits.push_back(
        line_row(series, {"threads", "latency over warps", "cycles_per_warp", "cycles", "cycles", threads_per_warp}));
  }
  return fits;
}

}  // namespace gpusync::tool
