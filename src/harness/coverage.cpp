#include "harness/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "embedded/coverage_json.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

constexpr std::array statuses = {coverage_status::done, coverage_status::partial, coverage_status::missing};
constexpr std::array device_kinds = {"cuda", "opencl", "host"};

template <class... Arguments>
void require(bool condition, fmt::format_string<const Arguments&...> format, const Arguments&... arguments) {
  if (!condition) throw std::logic_error(fmt::format(format, arguments...));
}

/// Throws std::logic_error if an item claims nothing that there is, or not how and where.
covered_item item_of(const json& entry) {
  covered_item item;
  item.id = entry.at("id").get<std::string>();
  item.paper = entry.at("paper").get<std::string>();
  item.title = entry.at("title").get<std::string>();
  if (!entry.contains("status")) return item;  // missing
  const auto word = entry.at("status").get<std::string>();
  const auto status = std::ranges::find(statuses, word, [](coverage_status one) { return to_string(one); });
  require(status != statuses.end(), "the item {} has the status \"{}\"; it must be done, partial or missing", item.id,
          word);
  item.status = *status;
  item.by = entry.at("by").get<std::vector<std::string>>();
  item.devices = entry.at("devices").get<std::vector<std::string>>();
  require(!item.by.empty() && !item.devices.empty(),
          "the item {} is not said to be there by something and on some devices", item.id);
  for (const std::string& device : item.devices) {
    require(std::ranges::find(device_kinds, device) != device_kinds.end(),
            "the item {} names the device \"{}\"; it must be cuda, opencl or host", item.id, device);
  }
  if (!entry.at("note").is_null()) item.note = entry.at("note").get<std::string>();
  require(item.status != coverage_status::partial || item.note,
          "the item {} is partial, but has no note on what is not there", item.id);
  return item;
}

const char* color_of(coverage_status status) {
  switch (status) {
    case coverage_status::done: return "\033[32m";
    case coverage_status::partial: return "\033[33m";
    case coverage_status::missing: return "\033[2m";
  }
  return "";
}

}  // namespace

std::string_view to_string(coverage_status status) {
  switch (status) {
    case coverage_status::done: return "done";
    case coverage_status::partial: return "partial";
    case coverage_status::missing: return "missing";
  }
  return "missing";
}

coverage_list build_coverage() {
  return build_coverage(embedded::coverage_json);
}

coverage_list build_coverage(std::string_view text) try {
  coverage_list coverage;
  std::set<std::string> seen;
  for (const json& entry : json::parse(text)) {
    coverage.items.push_back(item_of(entry));
    const std::string& id = coverage.items.back().id;
    require(seen.insert(id).second, "coverage.json has the item {} twice", id);
  }
  return coverage;
} catch (const json::exception& error) {
  throw std::logic_error(fmt::format("coverage.json is malformed: {}", error.what()));
}

json to_json(const coverage_list& coverage) {
  json items = json::array();
  for (const covered_item& item : coverage.items) {
    json entry = json::object();
    entry["id"] = item.id;
    entry["title"] = item.title;
    entry["status"] = to_string(item.status);
    entry["by"] = item.by;
    entry["devices"] = item.devices;
    entry["note"] = item.note ? json(*item.note) : json(nullptr);
    items.push_back(std::move(entry));
  }
  json result = json::object();
  result["items"] = std::move(items);
  return result;
}

std::string to_table(const coverage_list& coverage, bool color) {
  std::string text;
  std::array<int, statuses.size()> counts{};
  size_t widest = 0;
  for (const covered_item& item : coverage.items) widest = std::max(widest, display_width(item.title));
  std::string paper;
  for (const covered_item& item : coverage.items) {
    ++counts.at(static_cast<size_t>(item.status));
    if (paper != item.paper) text += fmt::format("{}{}\n", paper.empty() ? "" : "\n", item.paper);
    paper = item.paper;
    const std::string by = fmt::format("{}", fmt::join(item.by, ", "));
    const std::string devices = fmt::format("{}", fmt::join(item.devices, ", "));
    std::string line = fmt::format("  {:<4} {}{:<8}{}  {:<{}}  {}{}", item.id, color ? color_of(item.status) : "",
                                   to_string(item.status), color ? "\033[0m" : "", item.title, widest, by,
                                   devices.empty() ? "" : fmt::format(" ({})", devices));
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
    if (item.note) text += fmt::format("                 {}\n", *item.note);
  }
  return text + fmt::format("\n{} items: {} done, {} partial, {} missing\n", coverage.items.size(), counts[0],
                            counts[1], counts[2]);
}

}  // namespace gpusync::tool
