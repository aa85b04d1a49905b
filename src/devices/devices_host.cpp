// The processor as a device.
#include <sys/utsname.h>

#include <fstream>
#include <thread>

#include <gpusync/launch/host.hpp>
#include "devices/device.hpp"

namespace gpusync::tool {

namespace {

/// The value of the first line `key : value` of /proc/cpuinfo, or an empty string.
std::string cpu_info(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::vector<device_description> discover(std::string&) {
  device_description device;
  device.kind = device_kind::host;
  device.id = "host";
  device.name = cpu_info("model name");
  if (device.name.empty()) device.name = "host processor";
  utsname system{};
  if (uname(&system) == 0) device.runtime = std::string(system.sysname) + " " + system.release;
  const host_device host;
  device.compute_units = static_cast<int>(host.cores());
  const auto limit = host.max_threads();
  device.facts = {{"cores", static_cast<int64_t>(host.cores())},
                  {"most threads at once", static_cast<int64_t>(limit.threads)},
                  {"limited by", limit.cause}};
  return {device};
}

const register_device_backend registered({device_kind::host, discover, [](const device_description&) {
                                            device_state state;
                                            const std::string clock = cpu_info("cpu MHz");
                                            if (!clock.empty())
                                              state.sm_clock_mhz = std::strtod(clock.c_str(), nullptr);
                                            return state;
                                          }});

}  // namespace

}  // namespace gpusync::tool
