#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/crossing.hpp"
#include "models/line_rows.hpp"
#include "models/recipes.hpp"
#include "results/groups.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {

namespace {

/// Times over the blocks of one method.
struct curve {
  row like;  ///< the first of its rows
  std::vector<spread_point> points;
};

std::vector<curve> curves_of(const std::vector<row>& rows) {
  std::vector<curve> curves;
  for (const row& entry : rows) {
    const metric* time = entry.find_metric("run_time");
    const auto blocks = axis_number(entry.axes, "blocks");
    if (time == nullptr || !time->value || !blocks || !has_usable_times(entry)) continue;
    auto found = std::ranges::find(curves, entry.method, [](const curve& one) { return one.like.method; });
    if (found == curves.end()) found = curves.insert(curves.end(), {entry, {}});
    found->points.push_back(
        {static_cast<double>(*blocks), time->q1.value_or(*time->value), *time->value, time->q3.value_or(*time->value)});
  }
  return curves;
}

/// "slower at 1 to 8, as fast at 13, faster at 17 to 1056 blocks".
std::string in_words(const std::vector<curve_stretch>& stretches) {
  std::vector<std::string> words;
  for (const auto& [side, first, last] : stretches) {
    const char* how = side == curve_side::below ? "faster" : side == curve_side::above ? "slower" : "as fast";
    words.push_back(first == last ? fmt::format("{} at {}", how, first)
                                  : fmt::format("{} at {} to {}", how, first, last));
  }
  return fmt::format("{} blocks", fmt::join(words, ", "));
}

row crossing_row(const curve& one, const curve& base) {
  row entry = row_like(one.like);
  // Times and improvements are other items than where the curves cross.
  std::erase_if(entry.items, [](const std::string& item) { return item == "F7" || item == "F8" || item == "F9"; });
  entry.items.emplace_back("F10");
  for (const auto& axis : one.like.axes) {
    if (axis.first != "blocks") entry.axes.push_back(axis);
  }
  entry.axes.emplace_back("fit", "crossing with " + base.like.method);
  metric until = empty_metric("blocks");
  until.n = one.points.size();
  metric from = until;
  const std::vector<range_below> ranges = ranges_below(one.points, base.points);
  const auto widest = std::ranges::max_element(ranges, {}, &range_below::points);
  if (widest != ranges.end()) {
    until.value = widest->until;
    from.value = widest->from;
  }
  entry.metrics = {{"faster_until", until}, {"faster_from", from}};
  const char* meaning = ranges.empty()      ? "no value, for it is faster nowhere: "
                        : ranges.size() > 1 ? "the range with most of the measured points: "
                                            : "";
  entry.verification = fmt::format(
      "{}{} (\"as fast\": the quartiles overlap); drawn from figures for {} numbers of blocks, each checked in its run",
      meaning, in_words(stretches_of(one.points, base.points)), one.points.size());
  return entry;
}

}  // namespace

std::vector<row> crossing_rows(const std::vector<row>& rows) {
  const std::vector<curve> curves = curves_of(rows);
  const auto base = std::ranges::find(curves, launch_for_each_step(rows, &row::method),
                                      [](const curve& one) { return one.like.method; });
  if (base == curves.end() || base->points.size() < 2) return {};
  std::vector<row> fits;
  for (const curve& one : curves) {
    if (one.like.kind == method_kind::barrier && one.points.size() >= 2) fits.push_back(crossing_row(one, *base));
  }
  return fits;
}

}  // namespace gpusync::tool
