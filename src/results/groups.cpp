#include "results/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "results/text.hpp"

namespace gpusync::tool {

question question_of(const row& entry) {
  return {entry.experiment, entry.device, entry.axes};
}

std::vector<row_group> group_rows(const document& results) {
  std::vector<row_group> groups;
  std::map<question, size_t> index_of;
  for (const row& entry : results.rows) {
    const auto [found, added] = index_of.try_emplace(question_of(entry), groups.size());
    if (added) groups.push_back({entry.experiment, entry.device, entry.axes, {}});
    groups[found->second].rows.push_back(&entry);
  }
  return groups;
}

const metric* headline_metric(const row& entry) {
  if (const metric* step_time = entry.find_metric("step_time")) return step_time;
  return entry.metrics.empty() ? nullptr : &entry.metrics.front().second;
}

std::optional<double> headline_value(const row& entry) {
  const metric* measured = headline_metric(entry);
  return measured == nullptr ? std::nullopt : measured->value;
}

bool is_floor(const row& entry) {
  return entry.kind == method_kind::floor;
}

bool is_lost_in_noise(const row& entry) {
  const metric* measured = headline_metric(entry);
  return entry.status != row_status::failed && measured != nullptr && measured->n > 0 && !measured->value;
}

std::optional<double> value_of(const row& entry, const std::string& metric) {
  const auto* found = entry.find_metric(metric);
  return found == nullptr ? std::nullopt : found->value;
}

bool has_usable_times(const row& entry) {
  return entry.status == row_status::ok || (entry.verified == false && !entry.ordered);
}

bool is_published(const row& entry) {
  return entry.device.starts_with(published_device);
}

std::string method_of(const row& entry) {
  const bool prefixed = is_published(entry) && entry.method.starts_with(published_method);
  return prefixed ? entry.method.substr(std::string_view(published_method).size()) : entry.method;
}

bool is_printed_method(const std::string& method, const std::string& printed) {
  return method == printed || method == printed + "-acquire-release";
}

bool is_contender(const row& entry) {
  return entry.status == row_status::ok && entry.verified == true && !is_floor(entry) && entry.ordered &&
         headline_value(entry);
}

std::vector<const row*> by_figure(const row_group& group) {
  std::vector<const row*> sorted = group.rows;
  const auto rank = [](const row* entry) { return headline_value(*entry) ? 0 : static_cast<int>(entry->status) + 1; };
  std::ranges::stable_sort(sorted, [&](const row* a, const row* b) {
    return std::pair(rank(a), headline_value(*a).value_or(0)) < std::pair(rank(b), headline_value(*b).value_or(0));
  });
  return sorted;
}

const row* fastest_contender(const row_group& group) {
  const row* fastest = nullptr;
  for (const row* entry : group.rows) {
    if (!is_contender(*entry)) continue;
    if (fastest == nullptr || *headline_value(*entry) < *headline_value(*fastest)) fastest = entry;
  }
  return fastest;
}

std::string axes_in_words(const axis_values& axes) {
  const auto count = [](int64_t number, const char* noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
  };
  const auto blocks = axis_number(axes, "blocks");
  const auto per_sm = axis_number(axes, "blocks_per_sm");
  const auto threads = axis_number(axes, "threads");
  const auto groups = axis_number(axes, "groups");  // OpenCL's words for the same
  const auto items = axis_number(axes, "items");
  std::string words;
  if (blocks) words = count(*blocks, "block");
  if (per_sm) words += (blocks ? ", " : "") + count(*per_sm, "block") + " per SM";
  if (threads) words += (blocks || per_sm ? " of " : "") + count(*threads, "thread");
  if (groups) words += (words.empty() ? "" : ", ") + count(*groups, "work-group");
  if (items) words += (groups ? " of " : words.empty() ? "" : ", ") + count(*items, "work-item");
  for (const auto& [name, value] : axes) {
    if ((name == "blocks" && blocks) || (name == "threads" && threads)) continue;
    if (name == "blocks_per_sm" && per_sm) continue;
    if ((name == "groups" && groups) || (name == "items" && items)) continue;
    if (!words.empty()) words += ", ";
    const auto* number = std::get_if<int64_t>(&value);
    if (name == "stores" && number != nullptr) {
      words += *number != 0 ? "stores in flight" : "no stores in flight";
    } else {
      words += fmt::format("{} {}", printable(name, 60), printable(to_string(value), 60));
    }
  }
  return words;
}

const axis_value* find_axis(const axis_values& axes, const std::string& name) {
  const auto found = std::ranges::find(axes, name, [](const auto& axis) { return axis.first; });
  return found == axes.end() ? nullptr : &found->second;
}

std::optional<int64_t> axis_number(const axis_values& axes, const std::string& name) {
  const axis_value* const found = find_axis(axes, name);
  const auto* const number = found == nullptr ? nullptr : std::get_if<int64_t>(found);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

}  // namespace gpusync::tool
