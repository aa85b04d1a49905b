// The context of a result document: where, when and with what it was made.
#pragma once

#include <string>
#include <vector>

#include "devices/device.hpp"
#include "harness/graph_watch.hpp"
#include "measure/machine_load.hpp"
#include "results/document.hpp"

namespace gpusync::tool {

/// The context at the start of a run, with `complete` false: tool version and git state, command line, time, host, and
/// each device with its state. docs/results.md lists the keys.
json begin_context(const std::vector<std::string>& command, const std::vector<device_description>& devices,
                   const graph_watch& graphs);

/// Adds the end: time, the devices' state after, and whether all was measured.
void end_context(json& context, const std::vector<device_description>& devices, const graph_watch& graphs,
                 const machine_load& load, bool complete);

/// A device as the context and `gpusync devices --json` show it.
json to_json(const device_description& device);

}  // namespace gpusync::tool
