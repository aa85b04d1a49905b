#include "workloads/step_program.hpp"

#include <map>

#include <gpusync/core/error.hpp>

namespace gpusync::tool {

namespace {

using key = std::pair<std::string, device_kind>;

std::map<key, register_workload::opener>& openers() {
  static std::map<key, register_workload::opener> all;
  return all;
}

}  // namespace

register_workload::register_workload(std::string name, device_kind kind, opener open) {
  openers()[{std::move(name), kind}] = std::move(open);
}

std::unique_ptr<step_workload> open_workload(const std::string& name, const device_description& device) {
  const auto found = openers().find({name, device.kind});
  if (found == openers().end()) {
    throw error("The workload " + name + " does not run on " + std::string(to_string(device.kind)) + " devices.");
  }
  return found->second(device);
}

}  // namespace gpusync::tool
