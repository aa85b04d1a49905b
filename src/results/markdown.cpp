#include "results/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "results/cells.hpp"
#include "results/context.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "results/verdict.hpp"

namespace gpusync::tool {
namespace {

using line = std::vector<std::string>;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text, 400)) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      if (std::string_view("|\\`*_[]").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

/// A table whose first `left` columns, and the last, are aligned to the left, the others to the right.
std::string table(const std::vector<line>& lines, size_t left) {
  std::vector<size_t> widths(lines.front().size(), 3);
  for (const line& cells : lines) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], display_width(cells[i]));
  }
  const auto is_left = [&](size_t column) { return column < left || column + 1 == widths.size(); };
  std::string text;
  for (size_t number = 0; number < lines.size(); ++number) {
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string space(widths[i] - display_width(lines[number][i]), ' ');
      text += "| " + (is_left(i) ? lines[number][i] + space : space + lines[number][i]) + " ";
    }
    text += "|\n";
    if (number > 0) continue;
    for (size_t i = 0; i < widths.size(); ++i) {
      text += "|" + std::string(widths[i] + 1, '-') + (is_left(i) ? "-" : ":");
    }
    text += "|\n";
  }
  return text;
}

std::string axis_text(const row_group& group, const std::string& name) {
  const axis_value* const found = find_axis(group.axes, name);
  return found == nullptr ? "" : escaped(to_string(*found));
}

struct section {
  std::string experiment;
  std::string device;
  std::vector<std::string> axes;
  std::vector<const row_group*> groups;
};

std::vector<section> sections_of(const std::vector<row_group>& groups) {
  std::vector<section> sections;
  for (const row_group& group : groups) {
    auto found = std::ranges::find_if(sections, [&](const section& candidate) {
      return candidate.experiment == group.experiment && candidate.device == group.device;
    });
    if (found == sections.end()) found = sections.insert(found, {group.experiment, group.device, {}, {}});
    found->groups.push_back(&group);
    for (const auto& [name, value] : group.axes) {
      if (std::ranges::find(found->axes, name) == found->axes.end()) found->axes.push_back(name);
    }
  }
  return sections;
}

std::string section_table(const section& part) {
  std::vector<line> lines(1);
  for (const std::string& name : part.axes) lines[0].push_back(escaped(name));
  for (const char* title : {"method", "value", "±", "n", "ratio", "verified", "remark"}) lines[0].emplace_back(title);
  for (const row_group* group : part.groups) {
    const row* fastest = fastest_contender(*group);
    for (const row* entry : by_figure(*group)) {
      line cells;
      for (const std::string& name : part.axes) cells.push_back(axis_text(*group, name));
      const row_cells shown = cells_of(*entry, fastest);
      const std::string method = escaped(shown.method);
      cells.insert(cells.end(), {entry == fastest ? "**" + method + "**" : method, escaped(shown.value), shown.spread,
                                 shown.samples, shown.ratio, shown.verified, escaped(shown.remark)});
      lines.push_back(std::move(cells));
    }
  }
  return table(lines, part.axes.size() + 1);
}

}  // namespace

std::string to_markdown(const document& results) {
  std::string text = "# gpusync results\n\n";
  if (is_incomplete(results)) text += "**INCOMPLETE: the run was cut short.**\n\n";
  const std::vector<verdict> found = main_verdicts(results);
  for (const verdict& each : found) text += fmt::format("- {} {}\n", escaped(each.text), escaped(each.behind));
  if (!found.empty()) text += "\n";
  const std::vector<row_group> groups = group_rows(results);
  for (const section& part : sections_of(groups)) {
    text += fmt::format("## {} on {}\n\n{}\n", escaped(part.experiment), escaped(device_title(results, part.device)),
                        section_table(part));
  }
  text +=
      "The value is a median, ± half the interquartile range over n samples; the ratio is to the fastest "
      "method "
      "with verified results.\n";
  for (const context_section& part : context_in_words(results)) {
    text += fmt::format("\n### {}\n\n", escaped(part.title));
    for (const auto& [label, value] : part.facts) text += fmt::format("- {}: {}\n", escaped(label), escaped(value));
  }
  return text;
}

}  // namespace gpusync::tool
