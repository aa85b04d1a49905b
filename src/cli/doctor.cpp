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
#include "harness/graph_watch.hpp"
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

bool is_gpu(const device_description& device) {
  return device.kind == device_kind::cuda;
}

/// "measure", and what, where that is less than a user may expect.
std::string what_to_measure() {
  if (std::ranges::any_of(all_devices(), is_gpu)) return "measure";
  std::vector<std::string> ids;
  for (const device_description& device : all_devices()) ids.push_back(device.id);
  return "measure " + join_words(ids) + " (no GPU is found)";
}

std::string diagnosis::in_words() const {
  const std::string measure = what_to_measure();
  if (problems_ == 0) return fmt::format("No problem: {}.", measure);
  return fmt::format("{} problem{}: {}, then {}.", problems_, problems_ == 1 ? "" : "s", join_words(remedies_),
                     measure);
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

void examine_other_work(diagnosis& found, const device_description& device, const device_state& state) {
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
  if (state.compute_mode == "Prohibited") {
    found.add_problem(fmt::format("{}: its compute mode is Prohibited: no program can use it.", device.id),
                      fmt::format("set the compute mode of {} to Default", device.id));
  } else if (state.compute_mode == "Exclusive_Process") {
    found.add(finding::remark,
              fmt::format("{}: its compute mode is Exclusive_Process: experiments that measure in processes of their "
                          "own (deadlocks, crashes, barriers of several processes) cannot run.",
                          device.id));
  }
}

void examine_clock(diagnosis& found, const device_description& device, const device_state& state) {
  if (state.sm_clock_mhz > 0) {
    found.add(finding::remark,
              fmt::format("{}: SM clock {:.0f} MHz now, {:.0f} °C; the clock seen while measuring stands in each row.",
                          device.id, state.sm_clock_mhz, state.temperature_celsius));
  }
  if (!state.slowed_by.empty()) {
    found.add_problem(fmt::format("{}: its clock is lowered now by {}: what takes cycles takes more microseconds, and "
                                  "the more the longer it runs.",
                                  device.id, join_words(state.slowed_by)),
                      fmt::format("let {} cool down or draw less", device.id));
  } else if (state.other_processes_known) {
    found.add(finding::good, fmt::format("{}: nothing lowers its clock.", device.id));
  }
  if (!state.clock_set_by.empty()) {
    found.add(finding::remark,
              fmt::format("{}: its clock is held by {}: figures are of that clock, and steadier than others'.",
                          device.id, join_words(state.clock_set_by)));
  }
}

/// What the memory and its protection do to figures.
void examine_memory(diagnosis& found, const device_description& device, const device_state& state) {
  if (state.is_partitioned) {
    found.add(finding::remark,
              fmt::format("{}: MIG is on. The device is a slice of a GPU: fewer SMs and a part of the L2, so figures "
                          "are not those of {}, and tuned tables of the whole GPU do not fit.",
                          device.id, device.name));
  }
  for (const device_fact& fact : device.facts) {
    if (fact.name != "ECC" || std::get_if<bool>(&fact.value) == nullptr) continue;
    found.add(finding::good,
              std::get<bool>(fact.value)
                  ? fmt::format("{}: ECC is on. Memory that corrects itself (HBM) pays nothing for it; GDDR gives up "
                                "some 6 % of its bandwidth, which the figures include.",
                                device.id)
                  : fmt::format("{}: ECC is off: a flipped bit would be taken for a fault of a barrier.", device.id));
  }
  if (state.uncorrected_errors > 0) {
    found.add_problem(fmt::format("{}: its memory has had {} errors that ECC could not correct.", device.id,
                                  state.uncorrected_errors),
                      fmt::format("reset or replace {}", device.id));
  }
}

void examine_links(diagnosis& found, const device_description& device) {
  for (const device_fact& fact : device.facts) {
    if (!fact.name.starts_with("link to ") || std::get_if<std::string>(&fact.value) == nullptr) continue;
    const std::string& link = std::get<std::string>(fact.value);
    const std::string to = fact.name.substr(8);
    if (link == "native atomics") {
      found.add(finding::good,
                fmt::format("{}: native atomics on the memory of {}: barriers across both run.", device.id, to));
    } else {
      found.add(finding::remark, fmt::format("{}: {} to {}: barriers across both are refused.", device.id, link, to));
    }
  }
}

void examine_gpu(diagnosis& found, const device_description& device) {
  const device_state state = state_of(device);
  examine_other_work(found, device, state);
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
  examine_memory(found, device, state);
  examine_links(found, device);
  if (const double step = graph_watch({device}).step_time(device); step > 0) {
    found.add(
        finding::remark,
        fmt::format("{}: an empty step of a CUDA graph takes {:.3g} us in this process. It takes longer in one with a "
                    "graph that was uploaded (cudaGraphUpload) and not launched, and in one whose kernels ran on two "
                    "streams. Launch what you upload, or do not upload. `gpusync run graph-states` measures it.",
                    device.id, step));
  }
  examine_clock(found, device, state);
}

/// Which means of ordering a device's barriers have decides what they cost.
void examine_opencl(diagnosis& found, const device_description& device) {
  for (const device_fact& fact : device.facts) {
    if (fact.name != "memory ordering" || std::get_if<std::string>(&fact.value) == nullptr) continue;
    const std::string& means = std::get<std::string>(fact.value);
    const bool promised = means.find("acq") != std::string::npos;  // "C11 acquire/release …", "PTX fence.acq_rel …"
    found.add(promised ? finding::good : finding::remark,
              fmt::format("{}: {}: {}.", device.id, means,
                          promised ? "barriers of work-groups order memory as the standard promises"
                                   : "what barriers of work-groups order is this device's habit, and no promise of the "
                                     "standard; every figure's result is checked"));
  }
}

/// NVIDIA's OpenCL is found through a vendor file, which containers often lack.
void examine_opencl_of_gpus(diagnosis& found) {
  const auto is_its_opencl = [](const device_description& device) {
    return device.kind == device_kind::opencl && device.runtime.find("CUDA") != std::string::npos;
  };
  if (std::ranges::any_of(all_devices(), is_gpu) && std::ranges::none_of(all_devices(), is_its_opencl)) {
    found.add(finding::remark,
              "No GPU is found through OpenCL: a file /etc/OpenCL/vendors/nvidia.icd with the line "
              "libnvidia-opencl.so.1 is missing, or that library.");
  }
}

}  // namespace

exit_code run_doctor(const console_options& console) {
  diagnosis found(console);
  for (const device_description& device : all_devices()) {
    found.add(finding::good, fmt::format("{}: {} ({}).", device.id, device.name, device.runtime));
    if (device.kind == device_kind::cuda) examine_gpu(found, device);
    if (device.kind == device_kind::opencl) examine_opencl(found, device);
  }
  examine_opencl_of_gpus(found);
  for (const auto& [kind, note] : device_notes()) found.add(finding::remark, note);
  examine_host(found);
  fmt::print("\n{}\n", found.in_words());
  return exit_code::done;
}

}  // namespace gpusync::tool
