#include "report/method_colours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

using string_list = std::vector<std::string>;

constexpr size_t colours_of_a_sort = 7;  // as many as style.css has
constexpr size_t most_coloured = 5, most_winners = 4;

/// What is known of a method from all of its rows: old documents do not say it of each.
struct traits {
  bool rival = false, floor = false;
};

bool may_win(const row& entry) {
  return entry.status == row_status::ok && entry.verified != false && headline_value(entry);
}

/// The methods of one sort by how often each is the fastest of that sort, each document counting once, then by how
/// early they appear.
string_list by_wins(const experiment_rows& rows, const std::map<std::string, traits>& known, bool rival) {
  std::map<std::pair<size_t, question>, const row*> best;
  std::vector<std::pair<std::string, double>> wins;
  const auto entry_of = [&](const std::string& method) {
    return std::ranges::find(wins, method, [](const auto& one) { return one.first; });
  };
  for (const auto& [entry, document] : rows.rows) {
    const traits& what = known.at(entry->method);
    if (is_published(*entry) || what.floor || what.rival != rival || !may_win(*entry)) continue;
    constexpr size_t most_methods = 200;
    if (entry_of(entry->method) == wins.end() && wins.size() < most_methods) wins.emplace_back(entry->method, 0);
    const row*& fastest = best[{document, question_of(*entry)}];
    if (fastest == nullptr || *headline_value(*entry) < *headline_value(*fastest)) fastest = entry;
  }
  std::map<size_t, double> shapes;
  for (const auto& one : best) ++shapes[one.first.first];
  for (const auto& [where, entry] : best) {
    const auto found = entry_of(entry->method);
    if (found != wins.end()) found->second += 1 / shapes[where.first];
  }
  std::ranges::stable_sort(wins, std::greater(), [](const auto& one) { return one.second; });
  string_list sorted;
  for (const auto& one : wins) sorted.push_back(one.first);
  return sorted;
}

/// Those of one sort that get a colour in an experiment.
string_list chosen(const experiment_rows& rows, const std::map<std::string, traits>& known, bool rival) {
  const string_list sorted = by_wins(rows, known, rival);
  std::set<std::string> printed;
  for (const placed_row& each : rows.rows) {
    if (is_published(*each.entry)) printed.insert(method_of(*each.entry));
  }
  string_list some;
  for (const std::string& method : sorted) {
    const bool is_printed =
        std::ranges::any_of(printed, [&](const std::string& one) { return is_printed_method(method, one); });
    const size_t most = rival || is_printed ? most_coloured : most_winners;
    if (some.size() < most) some.push_back(method);
  }
  return some;
}

/// Methods of one sort that meet in experiments get different colours, those of many experiments first.
void give_colours(const std::vector<string_list>& chosen_in, const char* sort, json& classes) {
  std::map<std::string, size_t> experiments_of;
  std::map<std::string, std::set<std::string>> met;
  for (const string_list& methods : chosen_in) {
    for (const std::string& method : methods) {
      ++experiments_of[method];
      met[method].insert(methods.begin(), methods.end());
    }
  }
  std::vector<std::pair<std::string, size_t>> order(experiments_of.begin(), experiments_of.end());
  std::ranges::stable_sort(order, std::greater(), [](const auto& one) { return one.second; });
  std::map<std::string, size_t> given;
  for (const auto& [method, count] : order) {
    std::vector<size_t> uses(colours_of_a_sort);  // by methods that it meets
    for (const std::string& other : met[method]) {
      if (given.contains(other)) ++uses[given[other]];
    }
    const size_t colour = static_cast<size_t>(std::ranges::min_element(uses) - uses.begin());
    given[method] = colour;
    classes[printable(method)] = fmt::format("{}-{}", sort, colour);
  }
}

}  // namespace

json method_colours(const std::vector<const experiment_rows*>& experiments) {
  std::map<std::string, traits> known;
  for (const experiment_rows* rows : experiments) {
    for (const placed_row& each : rows->rows) {
      traits& what = known[each.entry->method];
      what.rival = what.rival || each.entry->rival;
      what.floor = what.floor || is_floor(*each.entry);
    }
  }
  json classes = json::object();
  std::vector<string_list> shown(experiments.size());
  for (const bool rival : {false, true}) {
    std::vector<string_list> of_sort;
    for (const experiment_rows* rows : experiments) of_sort.push_back(chosen(*rows, known, rival));
    give_colours(of_sort, rival ? "rival" : "own", classes);
    for (size_t i = 0; i < shown.size(); ++i) shown[i].insert(shown[i].end(), of_sort[i].begin(), of_sort[i].end());
  }
  for (const auto& [method, what] : known) {
    if (what.floor) classes[printable(method)] = "floor";
  }
  json rivals = json::array();
  for (const auto& [method, what] : known) {
    if (what.rival && !what.floor) rivals.push_back(printable(method));
  }
  json of = json::array();
  for (const string_list& methods : shown) {
    of.push_back(json::array());
    for (const std::string& method : methods) of.back().push_back(printable(method));
  }
  return {{"classes", std::move(classes)},
          {"of", std::move(of)},
          {"rivals", std::move(rivals)},
          {"of_a_sort", colours_of_a_sort}};
}

}  // namespace gpusync::tool
