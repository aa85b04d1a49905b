#include "models/decomposition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "boundary/method_kind.hpp"
#include "models/line_rows.hpp"
#include "results/groups.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* work_name = "tcom-work";

/// The variants' names in workload "barrier-parts".
const measured_programs& paper_programs() {
  static const measured_programs five{name_of_floor, "atomic-awaited", "block-barriers", "lock-based-none",
                                      "lock-based-fence"};
  return five;
}

/// The parts' points over the blocks, by name and in the rows' order.
std::vector<method_series> part_series(const std::vector<row>& parts) {
  return series_of(parts, "blocks", "part_time", fit_weights::even, fit_rows::drawn);
}

metric estimated(const cost_estimate& estimate, uint64_t points) {
  metric figure = plain_metric(estimate.value, "us", points);
  figure.stddev = estimate.sigma;
  return figure;
}

bool is_of(const row& entry, const char* time_of) {
  return std::ranges::find(entry.axes, std::pair<std::string, axis_value>("time_of", std::string(time_of))) !=
         entry.axes.end();
}

}  // namespace

axis_values with_time_of(axis_values axes, const char* what) {
  for (auto& [name, value] : axes) {
    if (name == "time_of") value = std::string(what);
  }
  return axes;
}

std::vector<cost_line> lines_of(const decomposed_barrier& barrier, const lines_by_name& lines) {
  std::vector<cost_line> chosen;
  for (const std::string& name : barrier.parts) {
    const auto found = lines.find(name);
    if (found == lines.end()) return {};
    chosen.push_back(found->second);
  }
  return chosen;
}

std::vector<decomposed_part> decomposed_parts() {
  const barrier_formulae paper = formulae_of(paper_programs());
  return {
      {work_name, {{paper_programs().work, 1}}, {"F12"}},
      {"ta-atomic-add", paper.atomic_add, {"F17", "F18"}},
      {"tc-check", paper.check, {"F17", "F18"}},
      {"ts-block-barriers", paper.block_barriers, {"F17", "F18"}},
      {"tf-fence", paper.fence, {"F17", "F18"}},
      {"unawaited-add", {{"atomic-unawaited", 1}}, {}},
      {"fence-of-all", {{"fence-by-all", 1}, {"block-barriers", -1}}, {}},
      {"release-of-one", {{"release-by-one", 1}, {"block-barriers", -1}}, {}},
      {"load", {{"relaxed-load", 1}, {"block-barriers", -1}}, {}},
      {"l1-invalidation", {{"acquire-load", 1}, {"relaxed-load", -1}}, {}},
      {"release-acquire", {{"lock-based-acquire-release", 1}, {"lock-based-none", -1}}, {}},
      {"release-acquire-rest",
       {{"lock-based-acquire-release", 1},
        {"lock-based-none", -1},
        {"release-by-one", -1},
        {"block-barriers", 1},
        {"acquire-load", -1},
        {"relaxed-load", 1}},
       {}},
  };
}

std::vector<decomposed_barrier> decomposed_barriers() {
  const std::vector<std::string> unfenced{"ts-block-barriers", "ta-atomic-add", "tc-check"};
  const auto with = [&unfenced](const std::vector<std::string>& more) {
    std::vector<std::string> all = unfenced;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  return {{"lock-based-none", unfenced, false},
          {"lock-based-fence", with({"tf-fence"})},
          {"lock-based-acquire-release", with({"release-of-one", "l1-invalidation"})}};
}

std::vector<row> part_fits(const std::vector<row>& parts) {
  std::vector<row> rows;
  for (const method_series& series : part_series(parts)) {
    rows.push_back(line_row(series, {"blocks", "part_time over blocks", "time_per_block", "us", "us"}));
  }
  return rows;
}

std::vector<row> sum_rows(const std::vector<row>& variants, const std::vector<row>& parts) {
  lines_by_name lines;
  uint64_t points = 0;
  for (const method_series& series : part_series(parts)) {
    const auto line = fit_cost(series.points);
    if (line) lines[series.like.method] = *line;
    points = std::max<uint64_t>(points, series.points.size());
  }
  std::vector<row> rows;
  for (const row& variant : variants) {
    const auto barriers = decomposed_barriers();
    const auto barrier = std::ranges::find(barriers, variant.method, &decomposed_barrier::method);
    const auto measured = value_of(variant, "variant_time");
    const auto blocks = axis_number(variant.axes, "blocks");
    if (barrier == barriers.end() || !has_usable_times(variant) || !measured || !blocks || !lines.contains(work_name))
      continue;
    const std::vector<cost_line> chosen = lines_of(*barrier, lines);
    if (chosen.empty()) continue;
    const auto at = static_cast<double>(*blocks);
    const cost_estimate synchronization = synchronization_time(chosen, at);
    const cost_estimate predicted = execution_time(lines[work_name].at(at), synchronization);
    row entry = row_like(variant);
    entry.items = {"F17"};
    entry.axes = with_time_of(variant.axes, time_of_sums);
    entry.metrics = {{"synchronization_time", estimated(synchronization, points)},
                     {"predicted_time", estimated(predicted, points)},
                     {"measured_time", plain_metric(*measured, "us", 1)},
                     {"relative_error", plain_metric(predicted.value / *measured - 1, "1", points)}};
    entry.verification = fmt::format("not checked by itself: the lines of {} over the blocks, added up",
                                     fmt::join(barrier->parts, ", "));
    rows.push_back(std::move(entry));
  }
  return rows;
}

std::vector<row> decomposition_fits(const std::vector<row>& rows) {
  std::vector<row> variants, parts;
  for (const row& entry : rows) {
    if (is_of(entry, time_of_variants)) variants.push_back(entry);
    if (is_of(entry, time_of_parts)) parts.push_back(entry);
  }
  if (parts.empty()) return {};
  std::vector<row> fits = part_fits(parts);
  for (row& entry : sum_rows(variants, parts)) fits.push_back(std::move(entry));
  return fits;
}

}  // namespace gpusync::tool
