#include "experiments/feng_xiao_2010/decomposition_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "experiments/feng_xiao_2010/feng_xiao_published.hpp"
#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/shen_2013/thesis_fits.hpp"
#include "results/groups.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* work_name = "tcom-work";

/// The variants' names in workload "barrier-parts".
const measured_programs& paper_programs() {
  static const measured_programs five{"no-barrier", "atomic-awaited", "block-barriers", "lock-based-none",
                                      "lock-based-fence"};
  return five;
}

using axis_values = std::vector<std::pair<std::string, axis_value>>;

axis_values with_time_of(axis_values axes, const char* what) {
  for (auto& [name, value] : axes) {
    if (name == "time_of") value = std::string(what);
  }
  return axes;
}

std::string in_words(const cost_formula& formula) {
  std::string words;
  for (const cost_term& term : formula) {
    words += words.empty() ? "" : term.factor < 0 ? " - " : " + ";
    words += term.program;
  }
  return words;
}

bool read_stale_words(const row& variant) {
  return variant.verified == false && is_unordered(variant);
}

/// Whether a variant's time may be used: its results are right, or nobody said that they would be.
bool has_time(const row& variant) {
  return variant.status == row_status::ok || read_stale_words(variant);
}

const contest_result* find_variant(const std::vector<contest_result>& results, const std::string& name) {
  const auto found = std::ranges::find_if(results, [&](const auto& result) { return result.method.name == name; });
  return found == results.end() ? nullptr : &*found;
}

/// Fills in what the variants say of a part; all of them are among the results.
void draw_part(const decomposed_part& part, const std::vector<contest_result>& results, bool keep_samples, row& entry) {
  program_rounds rounds;
  std::string remark;
  entry.metrics = {{"part_time", metric{}}};
  entry.metrics[0].second.unit = "us";
  for (const cost_term& term : part.formula) {
    const contest_result& variant = *find_variant(results, term.program);
    if (!has_time(variant.entry) || variant.samples.empty()) {
      entry.status = row_status::skipped;
      entry.reason = fmt::format("It needs the time of {}, which there is not: {}", term.program,
                                 variant.entry.reason.value_or("it was not measured."));
      return;
    }
    if (read_stale_words(variant.entry)) remark = fmt::format("; {} orders no data and read stale words", term.program);
    rounds[term.program] = variant.samples;
  }
  metric time = mean_metric(by_round(part.formula, rounds), 1, "us", keep_samples);
  time.value = time.median;
  if (time.n < 2) time.stddev = std::nullopt;  // one round says nothing of scatter
  entry.metrics[0].second = std::move(time);
  entry.verification =
      fmt::format("not checked by itself: {} in each round of the runs that were{}", in_words(part.formula), remark);
}

/// The parts' points over the blocks, by name and in the rows' order.
std::vector<thesis_series> series_of(const std::vector<row>& parts) {
  std::vector<thesis_series> all;
  for (const row& entry : parts) {
    auto series = std::ranges::find(all, entry.method, &thesis_series::method);
    if (series == all.end()) series = all.insert(all.end(), {entry.method, entry.items, {}});
    const auto time = value_of(entry, "part_time");
    const auto blocks = axis_number(entry.axes, "blocks");
    if (entry.status != row_status::ok || !time || !blocks) continue;
    series->points.push_back({static_cast<double>(*blocks), *time, 1});
  }
  for (thesis_series& series : all) std::ranges::stable_sort(series.points, {}, &fit_point::x);
  return all;
}

using lines_by_name = std::map<std::string, cost_line>;

/// The lines of a barrier's parts; empty if one is missing.
std::vector<cost_line> lines_of(const decomposed_barrier& barrier, const lines_by_name& lines) {
  std::vector<cost_line> chosen;
  for (const std::string& name : barrier.parts) {
    const auto found = lines.find(name);
    if (found == lines.end()) return {};
    chosen.push_back(found->second);
  }
  return chosen;
}

metric estimated(const cost_estimate& estimate, uint64_t points) {
  metric figure = plain_metric(estimate.value, "us", points);
  figure.stddev = estimate.sigma;
  return figure;
}

/// What the paper prints of its lines.
struct printed_lines {
  std::string device;
  uint64_t runs = 1;
  std::vector<std::string> names;  ///< in its order
  lines_by_name lines;             ///< in microseconds for each call
  std::map<std::string, std::string> verification;
};

printed_lines read_printed_lines() {
  printed_lines printed;
  for (const row& entry : feng_xiao_published("cost-decomposition")) {
    const std::string name = entry.method.substr(std::string(published_method).size());
    const auto& [quantity, figure] = entry.metrics.front();
    const double us_per_call = *figure.value * 1e3 / static_cast<double>(*axis_number(entry.axes, "calls"));
    cost_line& line = printed.lines[name];
    (quantity == "intercept" ? line.constant : line.per_block).value = us_per_call;
    if (std::ranges::find(printed.names, name) == printed.names.end()) printed.names.push_back(name);
    printed.device = entry.device;
    printed.runs = figure.n;
    printed.verification[name] = *entry.verification;
  }
  return printed;
}

row published_row(const printed_lines& printed, const std::string& method, const char* item, axis_values axes) {
  row entry;
  entry.experiment = "cost-decomposition";
  entry.items = {item};
  entry.device = printed.device;
  entry.axes = std::move(axes);
  entry.method = published_method + method;
  return entry;
}

}  // namespace

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
  return {{"lock-based-none", unfenced},
          {"lock-based-fence", with({"tf-fence"})},
          {"lock-based-acquire-release", with({"release-of-one", "l1-invalidation"})}};
}

std::vector<row> part_rows(const std::vector<contest_result>& results, bool keep_samples) {
  std::vector<row> rows;
  for (const decomposed_part& part : decomposed_parts()) {
    const bool chosen = std::ranges::all_of(
        part.formula, [&](const cost_term& term) { return find_variant(results, term.program) != nullptr; });
    if (!chosen) continue;
    const row& like = results.front().entry;
    row entry;
    entry.experiment = like.experiment;
    entry.items = part.items;
    entry.device = like.device;
    entry.axes = with_time_of(like.axes, time_of_parts);
    entry.method = part.name;
    entry.clock_mhz = like.clock_mhz;
    draw_part(part, results, keep_samples, entry);
    rows.push_back(std::move(entry));
  }
  return rows;
}

std::vector<row> part_fits(const std::vector<row>& parts) {
  std::vector<row> rows;
  for (const thesis_series& series : series_of(parts)) {
    rows.push_back(
        thesis_fit_row(parts.front(), series, "blocks", "part_time over blocks", "time_per_block", "us", 1, "us"));
  }
  return rows;
}

std::vector<row> sum_rows(const std::vector<row>& variants, const std::vector<row>& parts) {
  lines_by_name lines;
  uint64_t points = 0;
  for (const thesis_series& series : series_of(parts)) {
    const auto line = fit_cost(series.points);
    if (line) lines[series.method] = *line;
    points = std::max<uint64_t>(points, series.points.size());
  }
  std::vector<row> rows;
  for (const row& variant : variants) {
    const auto barriers = decomposed_barriers();
    const auto barrier = std::ranges::find(barriers, variant.method, &decomposed_barrier::method);
    const auto measured = value_of(variant, "variant_time");
    const auto blocks = axis_number(variant.axes, "blocks");
    if (barrier == barriers.end() || !has_time(variant) || !measured || !blocks || !lines.contains(work_name)) continue;
    const std::vector<cost_line> chosen = lines_of(*barrier, lines);
    if (chosen.empty()) continue;
    const auto at = static_cast<double>(*blocks);
    const cost_estimate synchronization = synchronization_time(chosen, at);
    const cost_estimate predicted = execution_time(lines[work_name].at(at), synchronization);
    row entry;
    entry.experiment = variant.experiment;
    entry.items = {"F17"};
    entry.device = variant.device;
    entry.axes = with_time_of(variant.axes, time_of_sums);
    entry.method = variant.method;
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

std::vector<row> published_decomposition() {
  const printed_lines printed = read_printed_lines();
  std::vector<row> rows;
  for (const std::string& name : printed.names) {
    const cost_line& line = printed.lines.at(name);
    row entry = published_row(printed, name, "F18",
                              {{"time_of", std::string(time_of_parts)}, {"fit", std::string("part_time over blocks")}});
    entry.metrics = {{"time_per_block", plain_metric(line.per_block.value, "us", printed.runs)},
                     {"intercept", plain_metric(line.constant.value, "us", printed.runs)}};
    entry.verification = printed.verification.at(name);
    rows.push_back(std::move(entry));
  }
  for (const int64_t blocks : {1, 2, 4, 8, 15, 30}) {
    const auto at = static_cast<double>(blocks);
    const auto axes_of = [&](const char* what) {
      return axis_values{{"blocks", blocks}, {"time_of", std::string(what)}};
    };
    for (const std::string& name : printed.names) {
      row entry = published_row(printed, name, "F18", axes_of(time_of_parts));
      entry.metrics = {{"part_time", plain_metric(printed.lines.at(name).at(at).value, "us", printed.runs)}};
      entry.verification = fmt::format("worked out; {}", printed.verification.at(name));
      rows.push_back(std::move(entry));
    }
    for (const decomposed_barrier& barrier : decomposed_barriers()) {
      const std::vector<cost_line> lines = lines_of(barrier, printed.lines);
      if (lines.empty()) continue;  // not of 2010
      row entry = published_row(printed, barrier.method, "F17", axes_of(time_of_sums));
      entry.metrics = {
          {"synchronization_time", plain_metric(synchronization_time(lines, at).value, "us", printed.runs)}};
      entry.verification =
          fmt::format("not checked: the printed lines of {}, added up by equation 1", fmt::join(barrier.parts, ", "));
      rows.push_back(std::move(entry));
    }
  }
  return rows;
}

}  // namespace gpusync::tool
