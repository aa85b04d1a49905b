// gpusync list
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include <gpusync/core/error.hpp>

#include "cli/commands.hpp"
#include "devices/device.hpp"
#include "harness/experiment.hpp"
#include "results/columns.hpp"
#include "results/document.hpp"

namespace gpusync::tool {

namespace {

std::vector<std::string> kinds_of(const experiment& one) {
  std::vector<std::string> kinds;
  for (const device_kind kind : one.devices) kinds.emplace_back(to_string(kind));
  return kinds;
}

std::string bounds_of(const axis& a) {
  return a.words ? "words" : fmt::format("{} to {}", a.least, a.most);
}

/// A line for each axis.
std::string axes_of(const experiment& one) {
  std::string lines;
  for (const axis& a : one.axes) {
    const std::string default_text = a.default_text.empty() ? "" : "; default: " + a.default_text;
    lines += fmt::format("  -a {}=…  {} ({}{})\n", a.name, a.meaning, bounds_of(a), default_text);
  }
  return lines;
}

/// What axis `method` takes on the first device of each kind that is here, by its id.
std::vector<std::pair<std::string, std::vector<std::string>>> methods_here(const experiment& one) {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  for (const device_kind kind : one.devices) {
    const auto& devices = all_devices();
    const auto device = std::ranges::find(devices, kind, &device_description::kind);
    if (device == devices.end() || !one.request.method_names) continue;
    try {
      found.emplace_back(device->id, one.request.method_names(*device));
    } catch (const error&) {  // `gpusync doctor` says what is wrong with it
    }
  }
  return found;
}

/// A line for each device.
std::string methods_in_words(const experiment& one) {
  std::string lines;
  for (const auto& [device, names] : methods_here(one)) {
    lines += fmt::format("  methods on {}: {}\n", device, fmt::join(names, ", "));
  }
  return lines;
}

json to_json(const experiment& one) {
  json axes = json::array();
  for (const axis& a : one.axes) {
    json entry = {{"name", a.name}, {"meaning", a.meaning}, {"least", a.least}, {"most", a.most}};
    entry["default"] = a.default_text.empty() ? json() : json(a.default_text);
    if (a.words) entry["least"] = entry["most"] = nullptr;
    axes.push_back(std::move(entry));
  }
  json methods = json::object();
  for (const auto& [device, names] : methods_here(one)) methods[device] = names;
  return {{"name", one.name},         {"title", one.question},   {"items", one.items},
          {"devices", kinds_of(one)}, {"axes", std::move(axes)}, {"methods", std::move(methods)}};
}

}  // namespace

std::string describe_axes(const std::vector<std::string>& words) {
  std::string text;
  for (const experiment* one : all_experiments()) {
    if (std::find(words.begin(), words.end(), one->name) == words.end()) continue;
    text += fmt::format("Axes of {}:\n{}{}", one->name, axes_of(*one), methods_in_words(*one));
  }
  return text.empty() ? "`gpusync run EXPERIMENT --help` or `gpusync list EXPERIMENT` shows an experiment's axes."
                      : text;
}

exit_code run_list(const console_options& console, const std::vector<std::string>& names, bool as_json) {
  std::vector<const experiment*> wanted;
  for (const std::string& name : names) wanted.push_back(&find_experiment(name));
  const std::vector<const experiment*> listed = names.empty() ? all_experiments() : wanted;
  if (as_json) {
    json list = json::array();
    for (const experiment* one : listed) list.push_back(to_json(*one));
    fmt::print("{}\n", json{{"experiments", list}}.dump(2));
    return exit_code::done;
  }
  if (names.empty()) {
    std::vector<column_line> lines;
    for (const experiment* one : listed) {
      lines.push_back({{one->name}, fmt::format("{} ({})", one->question, fmt::join(kinds_of(*one), ", ")), ""});
    }
    fmt::print("{}", in_columns(lines, false));
    say(console, "`gpusync list EXPERIMENT` says what it takes; `gpusync run EXPERIMENT` runs it.");
    return exit_code::done;
  }
  for (const experiment* one : listed) {
    const std::string covered = one->items.empty() ? "" : fmt::format("; covers {}", fmt::join(one->items, ", "));
    fmt::print("{}\n  {}\n  runs on {}{}\n", one->name, one->question, fmt::join(kinds_of(*one), ", "), covered);
    fmt::print("{}{}", axes_of(*one), methods_in_words(*one));
  }
  return exit_code::done;
}

}  // namespace gpusync::tool
