#include "experiments/feng_xiao_2010/decomposition_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/published.hpp"
#include "measure/repeat_difference.hpp"
#include "models/decomposition.hpp"
#include "models/line_rows.hpp"
#include "results/groups.hpp"

namespace gpusync::tool {

namespace {

std::string in_words(const cost_formula& formula) {
  std::string words;
  for (const cost_term& term : formula) {
    words += words.empty() ? "" : term.factor < 0 ? " - " : " + ";
    words += term.program;
  }
  return words;
}

/// Fills in what the variants say of a part; all of them are among the results.
void draw_part(const decomposed_part& part, const std::vector<method_result>& results, bool keep_samples, row& entry) {
  program_rounds rounds;
  std::string remark;
  entry.metrics = {{"part_time", empty_metric("us")}};
  for (const cost_term& term : part.formula) {
    const method_result& variant = *find_result(results, term.program);
    const std::vector<double>& times = variant.figures.of(step_sample);
    if (!has_usable_times(variant.entry) || times.empty()) {
      mark_skipped(entry, fmt::format("It needs the time of {}, which there is not: {}", term.program,
                                      variant.entry.reason.value_or("it was not measured.")));
      return;
    }
    if (variant.entry.status != row_status::ok) {
      remark = fmt::format("; {} orders no data and read stale words", term.program);
    }
    rounds[term.program] = times;
  }
  metric time = median_metric(by_round(part.formula, rounds), 1e-3, "us", keep_samples);
  if (time.n < 2) time.stddev = std::nullopt;  // one round says nothing of scatter
  entry.metrics[0].second = std::move(time);
  entry.verification =
      fmt::format("not checked by itself: {} in each round of the runs that were{}", in_words(part.formula), remark);
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
  for (const row& entry : published_rows(paper::feng_xiao_2010, "cost-decomposition")) {
    const std::string name = method_of(entry);
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

std::vector<row> part_rows(const std::vector<method_result>& results, bool keep_samples) {
  std::vector<row> rows;
  for (const decomposed_part& part : decomposed_parts()) {
    const bool chosen = std::ranges::all_of(
        part.formula, [&](const cost_term& term) { return find_result(results, term.program) != nullptr; });
    if (!chosen) continue;
    row entry = row_like(results.front().entry);
    entry.items = part.items;
    entry.axes = with_time_of(results.front().entry.axes, time_of_parts);
    entry.method = part.name;
    entry.kind = method_kind::barrier;
    entry.clock_mhz = results.front().entry.clock_mhz;
    draw_part(part, results, keep_samples, entry);
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
      entry.ordered = barrier.ordered;
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
