#include "experiments/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "embedded/feng_xiao_2010_published_json.hpp"
#include "embedded/hagen_2012_published_json.hpp"
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

void append_series(const json& paper, const json& table, const json& series, std::vector<row>& rows) {
  const json& at = table.at("at");
  const json& values = series.at("values");
  if (at.size() != values.size()) {
    throw std::logic_error(fmt::format("published.json has {} values of {} for {} points", values.size(),
                                       series.at("method").get<std::string>(), at.size()));
  }
  for (size_t i = 0; i < at.size(); ++i) {
    row entry;
    entry.experiment = table.at("experiment").get<std::string>();
    entry.items = {table.at("item").get<std::string>()};
    const json& device = table.contains("device") ? table.at("device") : paper.at("device");
    entry.device = std::string(published_device) + device.get<std::string>();
    for (const auto& fixed : table.at("fixed").items()) {
      if (fixed.value().is_string()) {
        entry.axes.emplace_back(fixed.key(), fixed.value().get<std::string>());
      } else {
        entry.axes.emplace_back(fixed.key(), fixed.value().get<int64_t>());
      }
    }
    entry.axes.emplace_back(table.at("axis").get<std::string>(), at[i].get<int64_t>());
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
