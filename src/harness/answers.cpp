#include "harness/answers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "results/context.hpp"
#include "results/groups.hpp"
#include "results/row_ratio.hpp"
#include "results/text.hpp"
#include "results/verdict.hpp"

namespace gpusync::tool {

namespace {

const experiment* known(const std::string& name) {
  const auto all = all_experiments();
  const auto found = std::ranges::find(all, name, [](const experiment* one) { return one->name; });
  return found == all.end() ? nullptr : *found;
}

measured_rows rows_of(const document& results, const std::string& experiment, const std::string& device) {
  measured_rows measured{results, device, {}};
  for (const row& entry : results.rows) {
    if (entry.experiment != experiment || entry.device != device) continue;
    if (is_line(entry) || entry.status != row_status::ok) continue;
    measured.rows.push_back(&entry);
  }
  return measured;
}

}  // namespace

std::string answer_in(const measured_rows& measured, const std::vector<std::string>& heads, const row* where) {
  std::vector<std::string> places;
  const std::string title = device_title(measured.results, measured.device);
  const std::string shape = where == nullptr ? "" : axes_in_words(where->axes);
  if (!shape.empty()) places = {title + ", " + shape, measured.device + ", " + shape};
  places.push_back(title);
  places.push_back(measured.device);
  return short_sentence(heads, places);
}

std::vector<found_answer> found_answers(const document& results) {
  std::vector<found_answer> found;
  std::vector<std::pair<std::string, std::string>> seen;
  const std::vector<verdict> main = main_verdicts(results);
  for (const row& entry : results.rows) {
    const std::pair key{entry.experiment, entry.device};
    if (is_published(entry) || std::ranges::find(seen, key) != seen.end()) continue;
    seen.push_back(key);
    std::string text;
    const experiment* what = known(entry.experiment);
    if (what != nullptr && what->answer != nullptr) {
      const measured_rows measured = rows_of(results, entry.experiment, entry.device);
      if (!measured.rows.empty()) text = what->answer(measured);
    } else {
      const auto judged = std::ranges::find_if(
          main, [&](const verdict& one) { return one.experiment == entry.experiment && one.device == entry.device; });
      if (judged != main.end()) text = judged->text;
    }
    if (!text.empty()) found.push_back({entry.experiment, entry.device, std::move(text)});
  }
  return found;
}

std::vector<std::string> answers(const document& results) {
  std::vector<std::string> texts;
  for (found_answer& one : found_answers(results)) texts.push_back(std::move(one.text));
  return texts;
}

const row* least(const measured_rows& measured, const std::string& metric,
                 const std::function<bool(const row&)>& is_wanted) {
  const row* found = nullptr;
  for (const row* entry : measured.rows) {
    const std::optional<double> value = value_of(*entry, metric);
    if (!value || !is_wanted(*entry)) continue;
    if (found == nullptr || *value < *value_of(*found, metric)) found = entry;
  }
  return found;
}

double sum_of(const measured_rows& measured, const std::string& metric) {
  double sum = 0;
  for (const row* entry : measured.rows) sum += value_of(*entry, metric).value_or(0);
  return sum;
}

std::string count_in_words(double count) {
  for (const auto& [size, word] : {std::pair{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}}) {
    if (count >= size) return figure(count / size) + word;
  }
  return fmt::format("{:.0f}", count);
}

}  // namespace gpusync::tool
