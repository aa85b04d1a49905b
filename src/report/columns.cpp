#include "report/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

/// Each text once, by number.
class string_table {
 public:
  size_t number_of(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(printable(text, most_bytes));
    return found->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  static constexpr size_t most_bytes = 400;
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<std::string> texts_;
};

/// A figure with six digits, which is more than any was measured to.
json rounded(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  const double six = std::strtod(fmt::format("{:.6g}", *value).c_str(), nullptr);
  constexpr double largest_whole = 1e15;
  if (six == std::floor(six) && std::abs(six) < largest_whole) return static_cast<int64_t>(six);
  return six;
}

/// The column, or its only entry if all are the same, or {runs: [entry, how many, …]} if that is a third of it at most.
json folded(json column) {
  if (column.empty()) return column;
  json runs = json::array();
  for (size_t begin = 0, end = 0; begin < column.size(); begin = end) {
    while (end < column.size() && column[end] == column[begin]) ++end;
    runs.push_back(column[begin]);
    runs.push_back(end - begin);
  }
  if (runs.size() == 2) return runs.front();
  return 3 * runs.size() <= column.size() ? json{{"runs", std::move(runs)}} : column;
}

/// The column of one axis; rows without it have null.
json axis_column(const std::vector<placed_row>& rows, const std::string& name, string_table& strings) {
  std::vector<const axis_value*> values;
  bool numbers = true;
  for (const placed_row& each : rows) {
    values.push_back(find_axis(each.entry->axes, name));
    numbers = numbers && (values.back() == nullptr || std::holds_alternative<int64_t>(*values.back()));
  }
  json column = json::array();
  for (const axis_value* value : values) {
    if (value == nullptr) {
      column.push_back(nullptr);
    } else if (numbers) {
      column.push_back(std::get<int64_t>(*value));
    } else {
      column.push_back(strings.number_of(to_string(*value)));
    }
  }
  return json{{numbers ? "numbers" : "words", folded(std::move(column))}};
}

json metric_columns(const std::vector<placed_row>& rows, const std::string& name, string_table& strings) {
  json unit = json::array(), at = json::array(), value = json::array(), q1 = json::array(), q3 = json::array(),
       n = json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    const metric* found = rows[i].entry->find_metric(name);
    if (found == nullptr) continue;
    at.push_back(i);
    unit.push_back(strings.number_of(found->unit));
    value.push_back(rounded(found->value));
    q1.push_back(rounded(found->q1));
    q3.push_back(rounded(found->q3));
    n.push_back(found->n);
  }
  json columns{{"unit", folded(std::move(unit))},
               {"value", folded(std::move(value))},
               {"q1", folded(std::move(q1))},
               {"q3", folded(std::move(q3))},
               {"n", folded(std::move(n))}};
  if (at.size() < rows.size()) columns["rows"] = std::move(at);
  return columns;
}

/// Names in the order in which they first appear, and how many beyond most_columns there are.
class name_list {
 public:
  void add(const std::string& name) {
    if (std::ranges::find(names_, name) != names_.end()) return;
    if (names_.size() < most_columns) {
      names_.push_back(name);
    } else if (left_out_.size() < most_columns) {
      left_out_.emplace(name, 0);
    }
  }
  const std::vector<std::string>& names() const { return names_; }
  size_t left_out() const { return left_out_.size(); }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int> left_out_;
};

}  // namespace

std::vector<experiment_rows> rows_by_experiment(const std::vector<document>& documents) {
  std::vector<experiment_rows> experiments;
  std::unordered_map<std::string, size_t> known;
  // Every document has what papers have printed of its experiments.
  std::set<std::tuple<question, std::string, std::string, std::optional<double>>> printed;
  for (size_t i = 0; i < documents.size(); ++i) {
    for (const row& entry : documents[i].rows) {
      if (is_published(entry)) {
        const std::string name = entry.metrics.empty() ? "" : entry.metrics.front().first;
        if (!printed.emplace(question_of(entry), entry.method, name, headline_value(entry)).second) continue;
      }
      const auto [found, is_new] = known.try_emplace(entry.experiment, experiments.size());
      if (is_new) experiments.push_back({entry.experiment, {}});
      experiments[found->second].rows.push_back({&entry, i});
    }
  }
  return experiments;
}

experiment_rows thinned(const experiment_rows& all, double share) {
  constexpr size_t part = 64;  // rows of one shape that stay or go together
  std::map<std::pair<size_t, question>, size_t> seen;
  std::map<std::tuple<size_t, size_t>, bool> kept;  // by shape and part of it
  std::map<std::pair<size_t, question>, size_t> shapes;
  experiment_rows some{all.experiment, {}};
  size_t parts = 0;
  for (const placed_row& each : all.rows) {
    if (is_published(*each.entry)) {
      some.rows.push_back(each);
      continue;
    }
    const std::pair key{each.document, question_of(*each.entry)};
    const size_t shape = shapes.try_emplace(key, shapes.size()).first->second;
    const auto [stays, is_new] = kept.try_emplace({shape, seen[key]++ / part}, false);
    if (is_new) {
      stays->second =
          std::floor(share * static_cast<double>(parts + 1)) > std::floor(share * static_cast<double>(parts));
      ++parts;
    }
    if (stays->second) some.rows.push_back(each);
  }
  some.left_out = all.rows.size() - some.rows.size();
  return some;
}

json columns_of(const experiment_rows& some, const device_table& known_devices) {
  string_table strings;
  name_list axes, metrics;
  json documents = json::array(), devices = json::array(), methods = json::array(), status = json::array(),
       verified = json::array(), notes = json::array(), clocks = json::array();
  for (const auto& [entry, number] : some.rows) {
    for (const auto& axis : entry->axes) axes.add(axis.first);
    for (const auto& measured : entry->metrics) metrics.add(measured.first);
    documents.push_back(number);
    devices.push_back(known_devices.number_of(number, entry->device));
    methods.push_back(strings.number_of(entry->method));
    status.push_back(static_cast<int>(entry->status));
    verified.push_back(entry->verified ? json(*entry->verified ? 1 : 0) : json());
    const bool is_ok = entry->status == row_status::ok;
    notes.push_back(
        strings.number_of(is_ok ? entry->verification.value_or("") : entry->reason.value_or("no reason given")));
    clocks.push_back(entry->clock_mhz ? rounded(std::round(*entry->clock_mhz)) : json());
  }
  json axis_columns = json::object(), of_metrics = json::object();
  for (const std::string& name : axes.names()) axis_columns[printable(name)] = axis_column(some.rows, name, strings);
  for (const std::string& name : metrics.names())
    of_metrics[printable(name)] = metric_columns(some.rows, name, strings);
  return json{{"count", some.rows.size()},
              {"document", folded(std::move(documents))},
              {"device", folded(std::move(devices))},
              {"method", folded(std::move(methods))},
              {"status", folded(std::move(status))},
              {"verified", folded(std::move(verified))},
              {"note", folded(std::move(notes))},
              {"clock", folded(std::move(clocks))},
              {"axes", std::move(axis_columns)},
              {"metrics", std::move(of_metrics)},
              {"columns_left_out", axes.left_out() + metrics.left_out()},
              {"strings", strings.texts()}};
}

}  // namespace gpusync::tool
