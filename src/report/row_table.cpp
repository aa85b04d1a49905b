#include "report/row_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html.hpp"
#include "results/cells.hpp"
#include "results/context.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

using names = std::vector<std::string>;

struct experiment_rows {
  std::string experiment;
  names axes;
  names metrics;
  std::vector<const row_group*> groups;
};

void add_once(names& list, const std::string& name) {
  if (std::ranges::find(list, name) == list.end()) list.push_back(name);
}

std::vector<experiment_rows> by_experiment(const std::vector<row_group>& groups) {
  std::vector<experiment_rows> experiments;
  for (const row_group& group : groups) {
    auto found = std::ranges::find(experiments, group.experiment, &experiment_rows::experiment);
    if (found == experiments.end()) found = experiments.insert(found, {group.experiment, {}, {}, {}});
    found->groups.push_back(&group);
    for (const auto& axis : group.axes) add_once(found->axes, axis.first);
    for (const row* entry : group.rows) {
      for (const auto& measured : entry->metrics) add_once(found->metrics, measured.first);
    }
  }
  return experiments;
}

std::string text_cell(const std::string& text, const char* kind = "") {
  return fmt::format("<td{}>{}</td>", kind, html_escaped(text));
}

std::string number_cell(std::optional<double> value, const std::string& shown) {
  if (!value || !std::isfinite(*value)) return R"(<td class="number"></td>)";
  return fmt::format(R"(<td class="number" data-value="{}">{}</td>)", *value, html_escaped(shown));
}

std::string axis_cell(const row& entry, const std::string& name) {
  const auto found = std::ranges::find(entry.axes, name, [](const auto& axis) { return axis.first; });
  if (found == entry.axes.end()) return "<td></td>";
  const auto* number = std::get_if<int64_t>(&found->second);
  if (number == nullptr) return text_cell(std::get<std::string>(found->second));
  return number_cell(static_cast<double>(*number), fmt::format("{}", *number));
}

std::string metric_cells(const row& entry, const std::string& name) {
  const metric* measured = entry.find_metric(name);
  if (measured == nullptr || !measured->value) return R"(<td class="number"></td><td class="number"></td>)";
  const auto spread = half_interquartile_range(*measured);
  return number_cell(measured->value, figure(*measured->value) + " " + measured->unit) +
         number_cell(spread, spread ? "±" + spread_figure(*spread) : "");
}

std::string class_of(const row& entry, const row* fastest) {
  if (&entry == fastest) return "fastest";
  if (entry.verified == false) return "wrong";
  if (entry.status != row_status::ok) return std::string(to_string(entry.status));
  return is_floor(entry) ? "floor" : "";
}

std::string row_html(const document& results, const experiment_rows& part, const row& entry, const row* fastest) {
  const row_cells cells = cells_of(entry, fastest);
  const metric* headline = headline_metric(entry);
  const auto value = headline_value(entry);
  std::string html = fmt::format(R"(<tr class="{}">)", class_of(entry, fastest));
  html += text_cell(device_title(results, entry.device));
  for (const std::string& name : part.axes) html += axis_cell(entry, name);
  html += fmt::format(R"(<th scope="row">{}</th>)", html_escaped(entry.method));
  for (const std::string& name : part.metrics) html += metric_cells(entry, name);
  html += value ? number_cell(static_cast<double>(headline->n), cells.samples) : number_cell({}, "");
  const bool has_ratio = value && fastest != nullptr && *headline_value(*fastest) > 0 &&
                         (is_contender(entry) || is_floor(entry) || !entry.ordered);
  html += number_cell(has_ratio ? std::optional(*value / *headline_value(*fastest)) : std::nullopt, cells.ratio);
  html += text_cell(cells.verified, R"( class="verified")");
  html += number_cell(entry.clock_mhz, entry.clock_mhz ? fmt::format("{:.0f}", *entry.clock_mhz) : "");
  html += text_cell(std::string(to_string(entry.status)), R"( class="status")");
  html += text_cell(
      entry.status == row_status::ok ? entry.verification.value_or("") : entry.reason.value_or("no reason given"),
      R"( class="remark")");
  return html + "</tr>\n";
}

std::string header_html(const experiment_rows& part) {
  std::string html = "<thead><tr><th scope=\"col\">device</th>";
  const auto add = [&](const std::string& title, bool number) {
    html += fmt::format(R"(<th scope="col"{}>{}</th>)", number ? R"( class="number")" : "", html_escaped(title));
  };
  for (const std::string& name : part.axes) add(name, true);
  add("method", false);
  for (const std::string& name : part.metrics) {
    std::string title = name;
    std::ranges::replace(title, '_', ' ');
    add(title, true);
    add("spread", true);
  }
  for (const char* title : {"n", "ratio"}) add(title, true);
  add("verified", false);
  add("MHz", true);
  for (const char* title : {"status", "remark"}) add(title, false);
  return html + "</tr></thead>\n";
}

}  // namespace

std::string row_tables_html(const document& results) {
  const std::vector<row_group> groups = group_rows(results);
  std::string html;
  for (const experiment_rows& part : by_experiment(groups)) {
    std::string body;
    size_t count = 0;
    for (const row_group* group : part.groups) {
      const row* fastest = fastest_contender(*group);
      for (const row* entry : by_figure(*group)) body += row_html(results, part, *entry, fastest);
      count += group->rows.size();
    }
    const std::string name = html_escaped(part.experiment);
    html += fmt::format(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All rows of {}\">\n"
        "<table class=\"rows\"><caption>{}: all {} rows</caption>\n{}<tbody>\n{}</tbody></table></div>\n",
        name, name, count, header_html(part), body);
  }
  return html;
}

std::string problems_html(const document& results) {
  struct problem {
    const row* first;
    size_t count;
    bool same_reason;
  };
  std::vector<problem> problems;
  for (const row& entry : results.rows) {
    if (entry.status == row_status::ok) continue;
    const auto known = std::ranges::find_if(problems, [&](const problem& other) {
      return other.first->device == entry.device && other.first->method == entry.method &&
             other.first->status == entry.status;
    });
    if (known == problems.end()) {
      problems.push_back({&entry, 1, true});
    } else {
      ++known->count;
      known->same_reason = known->same_reason && known->first->reason == entry.reason;
    }
  }
  std::string html;
  for (const auto& [entry, count, same_reason] : problems) {
    const std::string shapes = count == 1 ? axes_in_words(entry->axes) : fmt::format("{} shapes", count);
    html += fmt::format(R"(<li class="{0}"><span class="status">{0}</span> <b>{1}</b> on {2}{3}: {4}</li>)"
                        "\n",
                        to_string(entry->status), html_escaped(entry->method),
                        html_escaped(device_title(results, entry->device)),
                        shapes.empty() ? "" : ", " + html_escaped(shapes),
                        (same_reason ? "" : "for example, ") + html_escaped(entry->reason.value_or("no reason given")));
  }
  return html.empty() ? "" : "<ul class=\"problems\">\n" + html + "</ul>\n";
}

}  // namespace gpusync::tool
