#include "devices/nvidia_smi.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

namespace gpusync::tool {

namespace {

/// Lines that a command prints; none if it fails.
std::vector<std::string> lines_of(const std::string& command) {
  const auto close = [](FILE* pipe) { (void)pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(popen((command + " 2>/dev/null").c_str(), "r"), close);
  std::vector<std::string> lines;
  if (!pipe) return lines;
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    std::string text(line.data());
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    if (!text.empty()) lines.push_back(std::move(text));
  }
  return lines;
}

/// A UUID goes into a command line: only what one can consist of.
bool harmless(const std::string& uuid) {
  return uuid.find_first_not_of("GPU-0123456789abcdef") == std::string::npos;
}

}  // namespace

std::string nvidia_driver_version() {
  // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build …"
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  }
  return "";
}

void add_clock_reasons(uint64_t reasons, device_state& state) {
  // The bits of NVML's nvmlClocksEventReason…
  for (const auto& [bit, why] : {std::pair<uint64_t, const char*>{0x4, "its power limit"},
                                 {0x8, "a slowdown of the hardware"},
                                 {0x20, "its temperature, by the driver"},
                                 {0x40, "its temperature, by the hardware"},
                                 {0x80, "a power brake"}}) {
    if ((reasons & bit) != 0) state.slowed_by.emplace_back(why);
  }
  for (const auto& [bit, why] : {std::pair<uint64_t, const char*>{0x2, "applications clocks"},
                                 {0x10, "sync boost with other GPUs"},
                                 {0x100, "display clocks"}}) {
    if ((reasons & bit) != 0) state.clock_set_by.emplace_back(why);
  }
}

device_state nvidia_smi_state(const std::string& uuid) {
  device_state state;
  if (uuid.empty() || !harmless(uuid)) return state;
  const std::string program = "nvidia-smi --id=" + uuid;
  const auto readings =
      lines_of(program + " --query-gpu=clocks.sm,clocks.mem,temperature.gpu --format=csv,noheader,nounits");
  if (readings.empty()) return state;
  std::istringstream fields(readings.front());
  const auto next = [&fields] {
    std::string field;
    std::getline(fields, field, ',');
    return std::strtod(field.c_str(), nullptr);  // "[N/A]" becomes 0, unknown
  };
  state.sm_clock_mhz = next();
  state.memory_clock_mhz = next();
  state.temperature_celsius = next();

  state.other_processes_known = true;
  // Apart from the others, for an older program that does not know one of these fields answers none.
  const auto settings = lines_of(program +
                                 " --query-gpu=clocks_throttle_reasons.active,mig.mode.current,compute_mode,"
                                 "ecc.errors.uncorrected.volatile.total --format=csv,noheader,nounits");
  if (!settings.empty()) {
    std::istringstream words(settings.front());
    const auto word = [&words] {
      std::string field;
      std::getline(words, field, ',');
      return field.substr(std::min(field.size(), field.find_first_not_of(' ')));
    };
    add_clock_reasons(std::strtoull(word().c_str(), nullptr, 16), state);
    state.is_partitioned = word() == "Enabled";
    state.compute_mode = word();
    state.uncorrected_errors = std::strtoll(word().c_str(), nullptr, 10);  // "[N/A]" becomes 0
  }
  const std::string own = std::to_string(getpid()) + ",";
  for (const std::string& process :
       lines_of(program + " --query-compute-apps=pid,process_name --format=csv,noheader")) {
    if (process.compare(0, own.size(), own) != 0) state.other_processes.push_back(process);
  }
  return state;
}

}  // namespace gpusync::tool
