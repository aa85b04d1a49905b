#include "results/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

using field_list = std::vector<std::string>;

const field_list before_axes = {"experiment", "items", "device"};
const field_list after_metrics = {"verified", "verification", "clock_mhz", "status",
                                  "reason",   "kind",         "ordered",   "rival"};
const field_list metric_parts = {"value", "unit", "n", "q1", "median", "q3", "stddev", "stop"};

void add_once(field_list& list, const std::string& name) {
  if (std::ranges::find(list, name) == list.end()) list.push_back(name);
}

std::string number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

void append_field(std::string& line, const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) {
    line += field;
  } else {
    line += '"';
    for (const char c : field) line.append(c == '"' ? 2 : 1, c);
    line += '"';
  }
}

void append_line(std::string& text, const field_list& fields) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ',';
    append_field(text, fields[i]);
  }
  text += "\r\n";
}

void append_metric(field_list& fields, const metric* measured) {
  if (measured == nullptr) {
    fields.insert(fields.end(), metric_parts.size(), "");
    return;
  }
  fields.insert(fields.end(), {number(measured->value), measured->unit, fmt::format("{}", measured->n),
                               number(measured->q1), number(measured->median), number(measured->q3),
                               number(measured->stddev), measured->stop.value_or("")});
}

field_list header(const field_list& axes, const field_list& metrics) {
  const auto taken = [&](const std::string& axis) {
    const auto in = [&](const field_list& list) { return std::ranges::find(list, axis) != list.end(); };
    return axis == "method" || in(before_axes) || in(after_metrics);
  };
  field_list fields = before_axes;
  for (const std::string& axis : axes) fields.push_back(taken(axis) ? "axis_" + axis : axis);
  fields.emplace_back("method");
  for (const std::string& name : metrics) {
    for (const std::string& part : metric_parts) fields.push_back(name + "_" + part);
  }
  fields.insert(fields.end(), after_metrics.begin(), after_metrics.end());
  return fields;
}

field_list fields_of(const row& entry, const field_list& axes, const field_list& metrics) {
  field_list fields = {entry.experiment, fmt::format("{}", fmt::join(entry.items, " ")), entry.device};
  for (const std::string& name : axes) {
    const axis_value* const found = find_axis(entry.axes, name);
    fields.push_back(found == nullptr ? "" : to_string(*found));
  }
  fields.push_back(entry.method);
  for (const std::string& name : metrics) append_metric(fields, entry.find_metric(name));
  fields.emplace_back(!entry.verified ? "" : *entry.verified ? "true" : "false");
  fields.push_back(entry.verification.value_or(""));
  fields.push_back(number(entry.clock_mhz));
  fields.emplace_back(to_string(entry.status));
  fields.push_back(entry.reason.value_or(""));
  fields.emplace_back(entry.kind ? to_string(*entry.kind) : "");
  fields.emplace_back(entry.ordered ? "true" : "false");
  fields.emplace_back(entry.rival ? "true" : "false");
  return fields;
}

}  // namespace

std::string to_csv(const document& results) {
  field_list axes;
  field_list metrics;
  for (const row& entry : results.rows) {
    for (const auto& axis : entry.axes) add_once(axes, axis.first);
    for (const auto& measured : entry.metrics) add_once(metrics, measured.first);
  }
  std::string text;
  append_line(text, header(axes, metrics));
  for (const row& entry : results.rows) append_line(text, fields_of(entry, axes, metrics));
  return text;
}

}  // namespace gpusync::tool
