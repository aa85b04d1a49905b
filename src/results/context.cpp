#include "results/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

using facts = std::vector<std::pair<std::string, std::string>>;

/// A key as a label: "sm_clock_mhz" is "SM clock (MHz)".
std::string label_of(const std::string& key) {
  static constexpr std::pair<std::string_view, std::string_view> spellings[] = {
      {"sm", "SM"},     {"uuid", "UUID"}, {"os", "OS"},   {"cpu", "CPU"},     {"id", "ID"},
      {"mhz", "(MHz)"}, {"s", "(s)"},     {"us", "(us)"}, {"celsius", "(°C)"}};
  std::string label;
  for (size_t begin = 0; begin <= key.size();) {
    const size_t end = std::min(key.find_first_of("_ ", begin), key.size());
    const std::string_view word = std::string_view(key).substr(begin, end - begin);
    const auto spelling = std::ranges::find(spellings, word, [](const auto& known) { return known.first; });
    if (!label.empty()) label += ' ';
    label += spelling == std::end(spellings) ? word : spelling->second;
    begin = end + 1;
  }
  if (!label.empty()) label[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(label[0])));
  return label;
}

std::string value_in_words(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return figure(value.get<double>());
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string list_in_words(const std::string& key, const json& list) {
  std::string joined;
  for (const json& element : list) {
    if (!joined.empty()) joined += key == "command" ? " " : ", ";
    joined += value_in_words(element);
  }
  return joined.empty() ? "none" : joined;
}

void append_facts(const std::string& prefix, const json& object, facts& into) {
  for (const auto& item : object.items()) {
    const std::string label = label_of(prefix + item.key());
    const json& value = item.value();
    if (value.is_null()) continue;
    if (value.is_object()) {
      append_facts(item.key() == "facts" ? prefix : prefix + item.key() + "_", value, into);
    } else if (value.is_array()) {
      into.emplace_back(label, list_in_words(item.key(), value));
    } else {
      into.emplace_back(label, value_in_words(value));
    }
  }
}

bool holds_objects(const json& value) {
  return value.is_array() && !value.empty() &&
         std::ranges::all_of(value, [](const json& element) { return element.is_object(); });
}

const std::string* string_member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get_ptr<const std::string*>() : nullptr;
}

const json& member_of(const json& object, const char* key) {
  static const json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

/// What the context says of a device; null if nothing.
const json* described(const document& results, const std::string& device) {
  const json& devices = member_of(*results.context, "devices");
  if (!devices.is_array()) return nullptr;
  const auto found = std::ranges::find_if(devices, [&](const json& each) { return member_of(each, "id") == device; });
  return found == devices.end() ? nullptr : &*found;
}

}  // namespace

std::vector<context_section> context_in_words(const document& results) {
  context_section run{"Run", {}};
  std::vector<context_section> nested;
  for (const auto& item : results.context->items()) {
    const json& value = item.value();
    if (value.is_object()) {
      nested.push_back({label_of(item.key()), {}});
      append_facts("", value, nested.back().facts);
    } else if (holds_objects(value)) {
      for (const json& element : value) {
        const std::string* id = string_member(element, "id");
        nested.push_back({id != nullptr ? "Device " + *id : label_of(item.key()), {}});
        append_facts("", element, nested.back().facts);
      }
    } else {
      append_facts("", json::object({{item.key(), value}}), run.facts);
    }
  }
  nested.insert(nested.begin(), std::move(run));
  std::erase_if(nested, [](const context_section& section) { return section.facts.empty(); });
  return nested;
}

std::vector<std::string> device_ids(const document& results) {
  std::vector<std::string> ids;
  std::set<std::string> known;
  for (const row& entry : results.rows) {
    if (!is_published(entry) && known.insert(entry.device).second) ids.push_back(entry.device);
  }
  return ids;
}

std::string device_name(const document& results, const std::string& id) {
  const json* known = described(results, id);
  const std::string* name = known == nullptr ? nullptr : string_member(*known, "name");
  return printable(name == nullptr || name->empty() ? id : *name);
}

std::string device_title(const document& results, const std::string& id) {
  const std::string name = device_name(results, id);
  const auto namesakes = std::ranges::count_if(member_of(*results.context, "devices"), [&](const json& device) {
    const std::string* other = string_member(device, "name");
    return other != nullptr && printable(*other) == name;
  });
  return namesakes > 1 ? fmt::format("{} ({})", name, printable(id)) : name;
}

std::string uuid_of(const document& results, const std::string& device) {
  const json* known = described(results, device);
  const std::string* uuid = known == nullptr ? nullptr : string_member(*known, "uuid");
  return uuid == nullptr ? "" : *uuid;
}

std::optional<int64_t> compute_units_of(const document& results, const std::string& device) {
  const json* known = described(results, device);
  if (known == nullptr || !member_of(*known, "compute_units").is_number_integer()) return std::nullopt;
  return member_of(*known, "compute_units").get<int64_t>();
}

bool is_processor(const document& results, const std::string& device) {
  const json* known = described(results, device);
  return known != nullptr &&
         (member_of(*known, "kind") == "host" || member_of(member_of(*known, "facts"), "type") == "CPU");
}

std::string graph_drift_of(const document& results, const std::string& device) {
  constexpr double most_drift = 0.01;
  const json* known = described(results, device);
  if (known == nullptr) return "";
  const json& before = member_of(member_of(*known, "state_before"), "graph_step_us");
  const json& after = member_of(member_of(*known, "state_after"), "graph_step_us");
  if (!before.is_number() || !after.is_number()) return "";
  const double first = before.get<double>(), last = after.get<double>();
  if (std::abs(last - first) <= most_drift * first) return "";
  return fmt::format("an idle step of a kept graph took {} us before the run and {} us after it", figure(first),
                     figure(last));
}

std::string disturbance_of(const document& results, const std::string& device) {
  constexpr double most_others = 0.05;
  if (is_processor(results, device)) {
    const json& others = member_of(member_of(*results.context, "host"), "other_load");
    if (!others.is_number() || others.get<double>() <= most_others) return "";
    return fmt::format("other programs had {:.0f} % of the processors", 100 * others.get<double>());
  }
  const json* known = described(results, device);
  for (const char* when : {"state_before", "state_after"}) {
    if (known == nullptr) break;
    const json& processes = member_of(member_of(*known, when), "other_processes");
    if (processes.is_array() && !processes.empty()) return "other processes used the device";
  }
  return graph_drift_of(results, device);
}

bool is_incomplete(const document& results) {
  const auto complete = results.context->find("complete");
  return complete != results.context->end() && complete->is_boolean() && !complete->get<bool>();
}

}  // namespace gpusync::tool
