#include "report/page_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/answers.hpp"
#include "harness/coverage.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

constexpr size_t most_sections = 200, most_answers = 400;

template <class List, class Value>
void add_once(List& list, const Value& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

std::string context_string(const document& results, const char* key) {
  if (!results.context->is_object()) return "";
  const auto found = results.context->find(key);
  return found != results.context->end() && found->is_string() ? printable(found->get<std::string>()) : "";
}

std::vector<std::string> experiments_of(const document& results) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const row& entry : results.rows) {
    if (seen.insert(entry.experiment).second && names.size() < most_sections)
      names.push_back(printable(entry.experiment));
  }
  return names;
}

/// Papers' experiments first, in the papers' order, then our own in the documents'.
void order_sections(std::vector<section>& sections) {
  std::map<std::string, size_t> place;
  std::map<std::string, std::string> paper;
  const coverage_list coverage = build_coverage();
  for (const covered_item& item : coverage.items) {
    for (const std::string& name : item.by) {
      if (place.try_emplace(name, place.size()).second) paper[name] = item.paper;
    }
  }
  for (section& one : sections) {
    one.paper = paper[one.rows.experiment];
    for (const covered_item& item : coverage.items) {
      if (std::ranges::find(item.by, one.rows.experiment) != item.by.end()) one.items.push_back(item.id);
    }
  }
  std::ranges::stable_sort(sections, {}, [&](const section& one) {
    const auto found = place.find(one.rows.experiment);
    return found == place.end() ? place.size() : found->second;
  });
}

/// An answer of one document.
struct placed_answer {
  size_t section, device, rows;  ///< rows: of the document on the device, for the experiment
  std::string text;
};

std::vector<placed_answer> answers_in(const page_parts& parts, size_t document) {
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const row& entry : parts.documents[document].rows) ++counts[{entry.experiment, entry.device}];
  if (counts.size() > most_answers) return {};
  std::vector<placed_answer> found;
  for (const found_answer& one : found_answers(parts.documents[document])) {
    const size_t section = section_of(parts, one.experiment);
    if (section == parts.sections.size()) continue;
    const std::string& name = parts.devices.name_of(document, one.device);
    found.push_back({section, parts.devices.number_of(document, one.device), counts[{one.experiment, one.device}],
                     name.ends_with("(OpenCL)") ? one.text + " By OpenCL." : one.text});
  }
  return found;
}

/// Answers of devices and documents with many rows come first.
void add_answers(page_parts& parts) {
  std::vector<placed_answer> all;
  for (size_t i = 0; i < parts.documents.size(); ++i) {
    for (placed_answer& one : answers_in(parts, i)) all.push_back(std::move(one));
  }
  std::map<size_t, size_t> rows_of_device;
  for (const placed_answer& one : all) rows_of_device[one.device] += one.rows;
  std::ranges::stable_sort(all, std::greater(), [&](const placed_answer& one) {
    return std::pair{rows_of_device[one.device], one.rows};
  });
  std::set<std::pair<size_t, size_t>> answered;
  for (placed_answer& one : all) {
    section& of = parts.sections[one.section];
    add_once(answered.emplace(one.section, one.device).second ? of.answers : of.more_answers, one.text);
  }
}

}  // namespace

std::string anchor_of(size_t section) {
  return fmt::format("experiment-{}", section);
}

std::string title_of(const document& results) {
  const std::string started = context_string(results, "started");
  const std::vector<std::string> names = experiments_of(results);
  constexpr size_t most_names = 4;
  std::string what = names.empty() ? "no rows" : join_words(names);
  if (names.size() > most_names) what = plural(names.size(), "experiment");
  return started.empty() ? what : fmt::format("{}, {}", what, started);
}

size_t section_of(const page_parts& parts, const std::string& experiment) {
  const auto found =
      std::ranges::find(parts.sections, experiment, [](const section& one) { return one.rows.experiment; });
  return static_cast<size_t>(found - parts.sections.begin());
}

page_parts parts_of(const std::vector<document>& documents) {
  page_parts parts{documents, {}, device_table(documents)};
  const std::vector<const experiment*> all = all_experiments();
  for (experiment_rows& rows : rows_by_experiment(documents)) {
    if (parts.sections.size() == most_sections) {
      ++parts.experiments_left_out;
      continue;
    }
    const auto known = std::ranges::find(all, rows.experiment, [](const experiment* one) { return one->name; });
    parts.sections.push_back({std::move(rows), known == all.end() ? nullptr : *known, {}, {}, {}, {}});
  }
  order_sections(parts.sections);
  add_answers(parts);
  return parts;
}

}  // namespace gpusync::tool
