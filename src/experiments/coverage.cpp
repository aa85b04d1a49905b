#include "experiments/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "embedded/claims_json.hpp"
#include "embedded/items_json.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

constexpr std::array statuses = {coverage_status::done, coverage_status::partial, coverage_status::missing};
constexpr std::array device_kinds = {"cuda", "opencl", "host"};

template <class... Arguments>
void require(bool condition, fmt::format_string<const Arguments&...> format, const Arguments&... arguments) {
  if (!condition) throw std::logic_error(fmt::format(format, arguments...));
}

coverage_status status_named(const std::string& item, const std::string& word) {
  const auto found = std::ranges::find(statuses, word, [](coverage_status status) { return to_string(status); });
  require(found != statuses.end(), "the claim on {} has the status \"{}\"; it must be done, partial or missing", item,
          word);
  return *found;
}

/// A claim's list of words; every claim that something is there must say by what, and where.
std::vector<std::string> words(const json& claim, const char* key, const std::string& item) {
  auto list = claim.at(key).get<std::vector<std::string>>();
  require(!list.empty() || claim.at("status") == "missing", "the claim on {} has an empty list \"{}\"", item, key);
  return list;
}

void apply_claim(const json& claim, coverage_list& coverage) {
  const auto id = claim.at("item").get<std::string>();
  const auto item = std::ranges::find(coverage.items, id, &covered_item::id);
  require(item != coverage.items.end(), "there is a claim on the item {}, which items.json does not have", id);
  item->status = status_named(id, claim.at("status").get<std::string>());
  item->by = words(claim, "by", id);
  item->devices = words(claim, "devices", id);
  for (const std::string& device : item->devices) {
    require(std::ranges::find(device_kinds, device) != device_kinds.end(),
            "the claim on {} names the device \"{}\"; it must be cuda, opencl or host", id, device);
  }
  if (!claim.at("note").is_null()) item->note = claim.at("note").get<std::string>();
  require(item->status != coverage_status::partial || item->note,
          "the claim on {} is partial, but has no note on what is not there", id);
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
  return build_coverage(embedded::items_json, embedded::claims_json);
}

coverage_list build_coverage(std::string_view items, std::string_view claims) try {
  coverage_list coverage;
  std::set<std::string> seen;
  for (const json& item : json::parse(items)) {
    covered_item added;
    added.id = item.at("id").get<std::string>();
    added.paper = item.at("paper").get<std::string>();
    added.title = item.at("title").get<std::string>();
    require(seen.insert(added.id).second, "items.json has the item {} twice", added.id);
    coverage.items.push_back(std::move(added));
  }
  std::set<std::string> claimed;
  for (const json& claim : json::parse(claims)) {
    const auto id = claim.at("item").get<std::string>();
    require(claimed.insert(id).second, "claims.json has two claims on {}", id);
    apply_claim(claim, coverage);
  }
  return coverage;
} catch (const json::exception& error) {
  throw std::logic_error(fmt::format("items.json or claims.json is malformed: {}", error.what()));
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
