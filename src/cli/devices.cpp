// gpusync devices
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/run_context.hpp"
#include "devices/device.hpp"

namespace gpusync::tool {

exit_code run_devices(const console_options& console, bool as_json) {
  if (as_json) {
    json list = json::array(), notes = json::array();
    for (const auto& device : all_devices()) list.push_back(to_json(device));
    for (const auto& [kind, note] : device_notes()) notes.push_back(note);
    fmt::print("{}\n", json{{"devices", list}, {"notes", notes}}.dump(2, ' ', false, json::error_handler_t::replace));
    return exit_code::done;
  }
  for (const auto& device : all_devices()) {
    fmt::print("{:<9} {}\n", device.id, device.name);
    if (!device.runtime.empty()) fmt::print("          runtime: {}\n", device.runtime);
    if (!device.driver.empty()) fmt::print("          driver: {}\n", device.driver);
    if (!device.uuid.empty()) fmt::print("          uuid: {}\n", device.uuid);
    for (const device_fact& fact : device.facts) {
      std::visit([&](const auto& value) { fmt::print("          {}: {}\n", fact.name, value); }, fact.value);
    }
  }
  for (const auto& [kind, note] : device_notes()) say(console, note);
  return exit_code::done;
}

}  // namespace gpusync::tool
