// gpusync doctor
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "devices/device.hpp"
#include "experiments/graph_watch.hpp"
#include "results/text.hpp"

namespace gpusync::tool {

namespace {

enum class finding { good, remark, problem };

constexpr const char* after_other_work = "wait until other work has ended";

/// What is found, printed line by line, and what is to be done about it.
class diagnosis {
 public:
  explicit diagnosis(const console_options& console) : console_(console) {}

  void add(finding kind, const std::string& text);
  /// A problem, and what ends it: "wait until …".
  void add_problem(const std::string& text, const std::string& remedy);
  /// The last line: how many problems there are, and what to do.
  std::string in_words() const;

 private:
  const console_options& console_;
  size_t problems_ = 0;
  std::vector<std::string> remedies_;  // each once
};

void diagnosis::add(finding kind, const std::string& text) {
  static constexpr const char* words[] = {"ok", "note", "PROBLEM"};
  static constexpr const char* colors[] = {"\033[32m", "\033[33m", "\033[31m"};
  const auto which = static_cast<size_t>(kind);
  if (console_.color_data) {
    fmt::print("{}{:<8}\033[0m {}\n", colors[which], words[which], text);
  } else {
    fmt::print("{:<8} {}\n", words[which], text);
  }
}

void diagnosis::add_problem(const std::string& text, const std::string& remedy) {
  add(finding::problem, text);
  ++problems_;
  if (std::ranges::find(remedies_, remedy) == remedies_.end()) remedies_.push_back(remedy);
}

std::string diagnosis::in_words() const {
  if (problems_ == 0) return "No problem: measure.";
  return fmt::format("{} problem{}: {}, then measure.", problems_, problems_ == 1 ? "" : "s", join_words(remedies_));
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void examine_host(diagnosis& found) {
  const unsigned cores = std::thread::hardware_concurrency();
  double load = 0;
  if (getloadavg(&load, 1) == 1) {
    if (load > 0.5 * cores) {
      found.add_problem(
          fmt::format("The load average is {:.1f} on {} cores: other work will disturb host and OpenCL CPU timings. "
                      "Wait until it has ended.",
                      load, cores),
          after_other_work);
    } else {
      found.add(finding::good, fmt::format("The machine is quiet: load average {:.1f} on {} cores.", load, cores));
    }
  }
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor.empty()) {
    found.add(finding::remark, "The processor's frequency governor cannot be seen here (a virtual machine?).");
  } else if (governor != "performance") {
    found.add(
        finding::remark,
        fmt::format("The processor's frequency governor is '{}': host timings may wander; 'performance' is steadier.",
                    governor));
  } else {
    found.add(finding::good, "The processor's frequency governor is 'performance'.");
  }
}

void examine_gpu(diagnosis& found, const device_description& device) {
  const device_state state = state_of(device);
  if (!state.other_processes_known) {
    found.add(finding::remark,
              fmt::format("{}: whether other processes use {} cannot be seen (is nvidia-smi on the PATH?).", device.id,
                          device.name));
  } else if (!state.other_processes.empty()) {
    found.add_problem(fmt::format("{}: other processes use {}: {}. Their kernels will disturb the figures.", device.id,
                                  device.name, fmt::join(state.other_processes, "; ")),
                      after_other_work);
  } else {
    found.add(finding::good, fmt::format("{}: no other process uses {}.", device.id, device.name));
  }
  for (const device_fact& fact : device.facts) {
    if (fact.name == "cooperative launch" && std::get_if<bool>(&fact.value) != nullptr) {
      const bool supported = std::get<bool>(fact.value);
      const std::string text = fmt::format("{}: cooperative launches are {}supported, which grid barriers need.",
                                           device.id, supported ? "" : "not ");
      if (supported) {
        found.add(finding::good, text);
      } else {
        found.add_problem(text, fmt::format("take another GPU than {}", device.id));
      }
    }
  }
  if (const double step = graph_watch({device}).step_time(device); step > 0) {
    found.add(
        finding::remark,
        fmt::format("{}: an empty step of a CUDA graph takes {:.3g} us in this process. It takes longer in one with a "
                    "graph that was uploaded (cudaGraphUpload) and not launched, and in one whose kernels ran on two "
                    "streams. Launch what you upload, or do not upload. `gpusync run graph-states` measures it.",
                    device.id, step));
  }
  if (state.sm_clock_mhz > 0) {
    found.add(finding::remark,
              fmt::format("{}: SM clock {:.0f} MHz now, {:.0f} °C; the clock seen while measuring stands in each row.",
                          device.id, state.sm_clock_mhz, state.temperature_celsius));
  }
}

}  // namespace

exit_code run_doctor(const console_options& console) {
  diagnosis found(console);
  for (const device_description& device : all_devices()) {
    found.add(finding::good, fmt::format("{}: {} ({}).", device.id, device.name, device.runtime));
    if (device.kind == device_kind::cuda) examine_gpu(found, device);
  }
  for (const std::string& note : device_notes()) found.add(finding::remark, note);
  examine_host(found);
  fmt::print("\n{}\n", found.in_words());
  return exit_code::done;
}

}  // namespace gpusync::tool
