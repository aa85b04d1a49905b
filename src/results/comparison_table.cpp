#include "results/comparison_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
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
  return change.is_of_times() ? to_string(change.what) : "-";
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
      found.changes, [what](const row_change& change) { return change.is_of_times() && change.what == what; }));
}

/// How many rows are what.
struct row_counts {
  size_t broke, mended, slower, faster, same, unclear, right;
  size_t of_times() const { return slower + faster + same + unclear; }
};

row_counts counts_of(const document_comparison& found) {
  const auto those = [&](auto member) { return static_cast<size_t>(std::ranges::count_if(found.changes, member)); };
  return {those(&row_change::broke),
          those(&row_change::mended),
          count_of(found, difference::slower),
          count_of(found, difference::faster),
          count_of(found, difference::same),
          count_of(found, difference::unclear),
          those(&row_change::right)};
}

std::string rows_in_words(size_t count) {
  return fmt::format("{} row{}", count, count == 1 ? "" : "s");
}

/// The row that changed most in that direction, in parentheses.
std::string most_changed(const document_comparison& found, difference what) {
  const row_change* most = nullptr;
  for (const row_change& change : found.changes) {
    if (change.what != what) continue;
    const bool more =
        most == nullptr || (what == difference::slower ? *change.ratio > *most->ratio : *change.ratio < *most->ratio);
    if (more) most = &change;
  }
  return most == nullptr ? ""
                         : fmt::format(" ({}: {}, {})", what == difference::slower ? "worst" : "most",
                                       printable(most->before->method, 60), percent(*most->ratio));
}

/// What most of the rows that are unclear have as the reason; empty if one of them has none: its interval says it.
std::string why_unclear(const document_comparison& found) {
  std::map<std::string, size_t> reasons;
  for (const row_change& change : found.changes) {
    if (!change.is_of_times() || change.what != difference::unclear) continue;
    if (change.reason.empty()) return "";
    ++reasons[change.reason];
  }
  const auto usual = std::ranges::max_element(reasons, {}, [](const auto& one) { return one.second; });
  return usual == reasons.end() ? "" : printable(usual->first);
}

/// The decision: what must be looked at first.
std::string finding_in_words(const document_comparison& found, const row_counts& count) {
  const size_t all = count.of_times();
  if (count.broke > 0) {
    const auto first = std::ranges::find_if(found.changes, &row_change::broke);
    return fmt::format("Worse: {} broke ({}{}){}", rows_in_words(count.broke),
                       count.broke == 1 ? "" : "first: ", printable(first->before->method, 60),
                       count.slower > 0 ? fmt::format(", {} of {} slower", count.slower, all) : "");
  }
  if (count.slower > 0) {
    return fmt::format("Slower: {} of {}{}", count.slower, rows_in_words(all), most_changed(found, difference::slower));
  }
  if (count.faster > 0) {
    return fmt::format("Faster: {} of {}{}", count.faster, rows_in_words(all), most_changed(found, difference::faster));
  }
  if (count.unclear > 0) {
    const std::string why = why_unclear(found);
    return count.same > 0 || why.empty() ? fmt::format("Unclear: {} of {}", count.unclear, rows_in_words(all))
                                         : "Unclear: " + why;
  }
  if (count.same > 0) return fmt::format("The same: {} of {}", count.same, rows_in_words(all));
  if (count.mended > 0) return fmt::format("Better: {} mended", rows_in_words(count.mended));
  return fmt::format("{} right before and after; none has a time", rows_in_words(count.right));
}

/// How many rows are what else, after a semicolon.
std::string others_in_words(const row_counts& count) {
  std::vector<std::string> parts;
  const auto add = [&](size_t some, const char* word) {
    if (some > 0) parts.push_back(fmt::format("{} {}", some, word));
  };
  const bool worse = count.broke > 0, slower = count.slower > 0, faster = count.faster > 0, unclear = count.unclear > 0;
  if (worse || slower) add(count.faster, "faster");
  if (worse || slower || faster || unclear) add(count.same, "the same");
  if (worse || slower || faster) add(count.unclear, "unclear");
  if (worse || count.of_times() > 0) add(count.mended, "mended");
  if (worse || count.of_times() > 0 || count.mended > 0) add(count.right, "right without a time");
  return parts.empty() ? "" : fmt::format("; {}", fmt::join(parts, ", "));
}

std::string what_would_help(const document_comparison& found, const row_counts& count) {
  if (count.unclear == 0) return "";
  const auto in_noise = static_cast<size_t>(std::ranges::count_if(found.changes, &row_change::in_noise));
  if (2 * in_noise > count.unclear) return "; measure again on an idle machine";
  return found.pairs == 1 ? "; give several pairs" : "; give more pairs";
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
  const row_counts count = counts_of(found);
  if (!has_compared(found)) return "Nothing was compared: no row that both have was right, or had a time.";
  std::string text = finding_in_words(found, count);
  const auto add = [&text](const std::string& part) {
    if (!part.empty() && words_in(text + part) <= most_words) text += part;
  };
  add(others_in_words(count));
  add(what_would_help(found, count));
  const bool has_interval = std::ranges::any_of(found.changes, [](const auto& one) { return one.between.has_value(); });
  if (has_interval && found.run_to_run) add(fmt::format("; runs differ by {:.2g} %", 100 * *found.run_to_run));
  return text + ".";
}

json to_json(const document_comparison& found, const comparison_rule& rule) {
  const auto or_null = [](const auto& value) { return value ? json(*value) : json(nullptr); };
  json rows = json::array();
  for (const row_change& change : found.changes) {
    json entry = row_to_json(*change.before);
    entry["verdict"] = change.is_of_times() ? json(to_string(change.what)) : json(nullptr);
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
