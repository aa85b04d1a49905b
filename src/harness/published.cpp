#include "harness/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "embedded/feng_xiao_2010_published_json.hpp"
#include "embedded/hagen_2012_published_json.hpp"
#include "embedded/lo_2014_published_json.hpp"
#include "embedded/shen_2013_published_json.hpp"
#include "embedded/zhang_2020_published_json.hpp"
#include "results/groups.hpp"

namespace gpusync::tool {

namespace {

metric printed_metric(const json& table, double printed) {
  metric figure;
  figure.unit = table.at("unit").get<std::string>();
  figure.value = printed;
  if (figure.unit == "ns") {
    figure.value = printed / 1000;
    figure.unit = "us";
  } else if (table.contains("calls")) {  // seconds for so many calls
    if (figure.unit != "s") throw std::logic_error("published.json has the time of calls in another unit than s");
    figure.value = printed * 1e6 / table.at("calls").get<double>();
    figure.unit = "us";
  }
  figure.n = table.at("runs").is_null() ? 1 : table.at("runs").get<uint64_t>();
  return figure;
}

axis_value axis_value_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.get<int64_t>();
}

/// The points of a table: values of its axis, or one place without any.
json points_of(const json& table) {
  return table.contains("axis") ? table.at("at") : json::array({nullptr});
}

/// The device of a series, or else of its table, or else of the paper.
std::string device_of(const json& paper, const json& table, const json& series) {
  for (const json* said : {&series, &table}) {
    if (said->contains("device")) return said->at("device").get<std::string>();
  }
  return paper.at("device").get<std::string>();
}

void append_series(const json& paper, const json& table, const json& series, std::vector<row>& rows) {
  const json at = points_of(table);
  const json& values = series.at("values");
  if (at.size() != values.size()) {
    throw std::logic_error(fmt::format("published.json has {} values of {} for {} points", values.size(),
                                       series.at("method").get<std::string>(), at.size()));
  }
  for (size_t i = 0; i < at.size(); ++i) {
    row entry;
    entry.experiment = table.at("experiment").get<std::string>();
    entry.items = {table.at("item").get<std::string>()};
    entry.device = std::string(published_device) + device_of(paper, table, series);
    for (const auto& fixed : table.at("fixed").items()) {
      entry.axes.emplace_back(fixed.key(), axis_value_of(fixed.value()));
    }
    if (!at[i].is_null()) entry.axes.emplace_back(table.at("axis").get<std::string>(), axis_value_of(at[i]));
    entry.method = std::string(published_method) + series.at("method").get<std::string>();
    entry.ordered = series.value("ordered", true);
    entry.metrics = {{table.at("metric").get<std::string>(), printed_metric(table, values[i].get<double>())}};
    entry.verification = fmt::format("not checked: {} {} as printed for {} in {}, {} ({})", values[i].dump(),
                                     table.at("unit").get<std::string>(), series.at("printed").get<std::string>(),
                                     paper.at("title").get<std::string>(), table.at("source").get<std::string>(),
                                     table.at("note").get<std::string>());
    rows.push_back(std::move(entry));
  }
}

}  // namespace

std::vector<row> published_rows(paper which, const std::string& experiment) {
  switch (which) {
    case paper::feng_xiao_2010: return published_rows(embedded::feng_xiao_2010_published_json, experiment);
    case paper::hagen_2012: return published_rows(embedded::hagen_2012_published_json, experiment);
    case paper::lo_2014: return published_rows(embedded::lo_2014_published_json, experiment);
    case paper::shen_2013: return published_rows(embedded::shen_2013_published_json, experiment);
    case paper::zhang_2020: return published_rows(embedded::zhang_2020_published_json, experiment);
  }
  return {};
}

std::vector<row> published_rows(std::string_view published, const std::string& experiment) try {
  const json paper = json::parse(published);
  std::vector<row> rows;
  for (const json& table : paper.at("tables")) {
    if (table.at("experiment") != experiment) continue;
    for (const json& series : table.at("series")) append_series(paper, table, series, rows);
  }
  return rows;
} catch (const json::exception& error) {
  throw std::logic_error(fmt::format("published.json is malformed: {}", error.what()));
}

std::vector<row> joined(const std::vector<row>& rows) {
  std::vector<row> all;
  for (const row& entry : rows) {
    const auto same = std::ranges::find_if(all, [&](const row& other) {
      return other.device == entry.device && other.method == entry.method && other.axes == entry.axes;
    });
    if (same == all.end()) {
      all.push_back(entry);
      continue;
    }
    same->items.insert(same->items.end(), entry.items.begin(), entry.items.end());
    same->metrics.insert(same->metrics.end(), entry.metrics.begin(), entry.metrics.end());
    *same->verification += "; " + *entry.verification;
  }
  return all;
}

}  // namespace gpusync::tool
