#include "cli/run_context.hpp"

#include <fmt/chrono.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include <gpusync/core/version.hpp>
#include "git_state.hpp"

namespace gpusync::tool {

namespace {

std::string now_in_words() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

json known(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json known(double value) {
  return value > 0 ? json(value) : json(nullptr);
}

json state_now(const device_description& device, const graph_watch& graphs) {
  const device_state state = state_of(device);
  json processes = nullptr;
  if (state.other_processes_known) processes = state.other_processes;
  return {{"sm_clock_mhz", known(state.sm_clock_mhz)},
          {"memory_clock_mhz", known(state.memory_clock_mhz)},
          {"temperature_celsius", known(state.temperature_celsius)},
          {"graph_step_us", known(graphs.step_time(device))},
          {"other_processes", processes}};
}

json host_in_words() {
  std::array<char, 256> name{};
  (void)gethostname(name.data(), name.size() - 1);
  utsname system{};
  (void)uname(&system);
  return {{"name", known(std::string(name.data()))},
          {"system", std::string(system.sysname) + " " + system.release},
          {"architecture", system.machine},
          {"processor", find_device("host").name},
          {"cores", std::thread::hardware_concurrency()},
          {"other_load", nullptr}};
}

}  // namespace

json to_json(const device_description& device) {
  json facts = json::object();
  for (const device_fact& fact : device.facts) {
    std::visit([&](const auto& value) { facts[fact.name] = value; }, fact.value);
  }
  return {{"id", device.id},
          {"kind", std::string(to_string(device.kind))},
          {"name", device.name},
          {"uuid", known(device.uuid)},
          {"driver", known(device.driver)},
          {"runtime", known(device.runtime)},
          {"compute_units", device.compute_units},
          {"facts", std::move(facts)}};
}

json begin_context(const std::vector<std::string>& command, const std::vector<device_description>& devices,
                   const graph_watch& graphs) {
  json list = json::array();
  for (const device_description& device : devices) {
    json entry = to_json(device);
    entry["state_before"] = state_now(device, graphs);
    entry["state_after"] = nullptr;
    list.push_back(std::move(entry));
  }
  return {{"complete", false},
          {"tool", {{"name", "gpusync"}, {"version", GPUSYNC_VERSION_STRING}, {"git", GPUSYNC_GIT_STATE}}},
          {"command", command},
          {"started", now_in_words()},
          {"finished", nullptr},
          {"host", host_in_words()},
          {"devices", std::move(list)}};
}

void end_context(json& context, const std::vector<device_description>& devices, const graph_watch& graphs,
                 const machine_load& load, bool complete) {
  const std::optional<double> others = load.others();
  context["host"]["other_load"] = others ? json(*others) : json(nullptr);
  context["complete"] = complete;
  context["finished"] = now_in_words();
  for (size_t i = 0; i < devices.size(); ++i) {
    context["devices"][i]["state_after"] = state_now(devices[i], graphs);
  }
}

}  // namespace gpusync::tool
