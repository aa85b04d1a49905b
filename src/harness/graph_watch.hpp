// A CUDA graph that is kept while other things are measured, to see that the process has not made graphs slower.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "devices/device.hpp"

namespace gpusync::tool {

/// A graph of empty kernels on each CUDA device of a run, a block of 256 threads for each SM. What makes the nodes of
/// all graphs of a process slower (experiment graph-states) shows in it too.
class graph_watch {
 public:
  /// Makes the graphs and replays them once. A device that fails has none.
  explicit graph_watch(const std::vector<device_description>& devices);
  /// What a step of that device's graph takes now, in us; 0 if it has none or fails. Takes a tenth of a second.
  double step_time(const device_description& device) const;

 private:
  std::map<std::string, std::function<double()>> by_device_;
};

}  // namespace gpusync::tool
