#include "results/comparison_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "results/columns.hpp"
#include "results/context.hpp"
#include "results/groups.hpp"
#include "results/json.hpp"
#include "results/text.hpp"

namespace gpusync::tool {

namespace {

std::string time_of(const row& entry) {
  const metric* measured = headline_metric(entry);
  if (entry.status != row_status::ok || measured == nullptr || !measured->value) return "-";
  return figure(*measured->value) + " " + printable(measured->unit, 20);
}

/// A ratio as a change: "+5.1 %".
std::string percent(double ratio) {
  const double change = (ratio - 1) * 100;
  return std::abs(change) < 1000 ? fmt::format("{:+.1f} %", change) : tool::ratio(ratio);
}

std::string range_of(const interval& between) {
  return fmt::format("[{}, {}]", percent(between.low), percent(between.high));
}

const char* verdict_of(const row_change& change) {
  if (change.broke) return "BROKE";
  if (change.mended) return "mended";
  return change.ratio ? to_string(change.what) : "-";
}

const char* style_of(const row_change& change) {
  if (change.broke || change.what == difference::slower) return "\033[31m";
  if (change.mended || change.what == difference::faster) return "\033[1;32m";
  return change.what == difference::same ? "" : "\033[2m";
}

std::string shape_of(const row& entry, const document& names) {
  const std::string shape = axes_in_words(entry.axes);
  return fmt::format("{} on {}{}{}", printable(entry.experiment, 60), device_title(names, entry.device),
                     shape.empty() ? "" : ", ", shape);
}

std::string list_of(const std::vector<const row*>& rows, const char* title) {
  constexpr size_t most = 3;
  if (rows.empty()) return "";
  std::string text = fmt::format("{} {} row{}:", title, rows.size(), rows.size() == 1 ? "" : "s");
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const std::string shape = axes_in_words(rows[i]->axes);
    text += fmt::format("{} {} {}{}{}", i == 0 ? "" : ";", printable(rows[i]->experiment, 60),
                        printable(rows[i]->method, 60), shape.empty() ? "" : ", ", shape);
  }
  return text + (rows.size() > most ? "; ...\n" : "\n");
}

size_t count_of(const document_comparison& found, difference what) {
  return static_cast<size_t>(std::ranges::count_if(
      found.changes, [what](const row_change& change) { return change.ratio && change.what == what; }));
}

json row_to_json(const row& entry) {
  return {{"experiment", entry.experiment},
          {"device", entry.device},
          {"axes", to_json(entry.axes)},
          {"method", entry.method}};
}

json rows_to_json(const std::vector<const row*>& rows) {
  json list = json::array();
  for (const row* entry : rows) list.push_back(row_to_json(*entry));
  return list;
}

}  // namespace

std::string to_table(const document_comparison& found, const document& before, bool color) {
  std::string text;
  for (size_t i = 0; i < found.changes.size();) {
    const row& first = *found.changes[i].before;
    std::vector<column_line> lines{{{"method", "before", "after", "change", "interval", "verdict"}, "", "\033[1m"}};
    for (; i < found.changes.size() && question_of(first) == question_of(*found.changes[i].before); ++i) {
      const row_change& change = found.changes[i];
      if (change.reason == "no time") continue;
      lines.push_back({{printable(change.before->method, 60), time_of(*change.before), time_of(*change.after),
                        change.ratio ? percent(*change.ratio) : "-", change.between ? range_of(*change.between) : "-",
                        verdict_of(change)},
                       printable(change.reason),
                       style_of(change)});
    }
    if (lines.size() > 1) text += shape_of(first, before) + "\n" + in_columns(lines, color) + "\n";
  }
  return text + list_of(found.only_before, "Only before,") + list_of(found.only_after, "Only after,");
}

std::string in_words(const document_comparison& found) {
  const auto broke = std::ranges::count_if(found.changes, &row_change::broke);
  const row_change* worst = nullptr;
  for (const row_change& change : found.changes) {
    if (change.what == difference::slower && (worst == nullptr || *change.ratio > *worst->ratio)) worst = &change;
  }
  const size_t slower = count_of(found, difference::slower), unclear = count_of(found, difference::unclear);
  const size_t faster = count_of(found, difference::faster), same = count_of(found, difference::same);
  const size_t all = slower + unclear + faster + same;
  if (all == 0 && broke == 0) return "There is no row of times that both have: nothing was compared.";
  std::string text;
  if (broke > 0) text += fmt::format("{} row{} broke; ", broke, broke == 1 ? "" : "s");
  text += fmt::format("{} of {} row{} slower", slower, all, all == 1 ? " is" : "s are");
  if (worst != nullptr) {
    text += fmt::format(" (worst: {}, {} {})", printable(worst->before->method, 60), percent(*worst->ratio),
                        range_of(*worst->between));
  }
  text += fmt::format(", {} faster, {} the same, {} unclear", faster, same, unclear);
  if (found.run_to_run) text += fmt::format("; a run differs from the next by {:.2g} %", 100 * *found.run_to_run);
  if (unclear > 0) {
    text += found.pairs == 1 ? ": more pairs of runs, taken in turns, would tell more" : ": more pairs would tell more";
  }
  return text + ".";
}

json to_json(const document_comparison& found, const comparison_rule& rule) {
  const auto or_null = [](const auto& value) { return value ? json(*value) : json(nullptr); };
  json rows = json::array();
  for (const row_change& change : found.changes) {
    json entry = row_to_json(*change.before);
    entry["verdict"] = change.ratio ? json(to_string(change.what)) : json(nullptr);
    entry["broke"] = change.broke;
    entry["mended"] = change.mended;
    entry["ratio"] = or_null(change.ratio);
    entry["low"] = change.between ? json(change.between->low) : json(nullptr);
    entry["high"] = change.between ? json(change.between->high) : json(nullptr);
    entry["reason"] = change.reason.empty() ? json(nullptr) : json(change.reason);
    rows.push_back(std::move(entry));
  }
  return {{"confidence", rule.confidence},
          {"least_effect", rule.least_effect},
          {"pairs", found.pairs},
          {"run_to_run", or_null(found.run_to_run)},
          {"regressed", has_regressed(found)},
          {"rows", std::move(rows)},
          {"only_before", rows_to_json(found.only_before)},
          {"only_after", rows_to_json(found.only_after)}};
}

}  // namespace gpusync::tool
