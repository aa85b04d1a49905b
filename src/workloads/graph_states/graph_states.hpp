// Workload "graph states": what a process may have done before its graphs are timed, and what makes every node of every
// graph take longer from then on. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"

namespace gpusync::tool {

/// What a process has done, by name.
struct process_history {
  enum class what {
    nothing,
    graph_waits,      ///< a graph was made, and neither uploaded nor launched
    upload_waits,     ///< a graph was uploaded (cudaGraphUpload) and not launched
    upload_launched,  ///< the same, and then launched once
    upload_dropped,   ///< a graph was uploaded, and destroyed without a launch
    loop_launched,    ///< a graph with a loop, which the device goes round, was launched once
    kernels_here,     ///< so many kernels ran on the stream of the graphs
    kernels_there,    ///< so many kernels ran on one other stream, which still exists
    streams_used,     ///< so many other streams exist, on each of which a kernel ran
    streams_unused,   ///< so many other streams exist
    streams_in_turn,  ///< so many streams were made, used by a kernel and destroyed, one after the other
    memory_taken,     ///< so many pieces of 4 MB of device memory were taken
  };
  const char* name;
  const char* meaning;
  what did;
  uint32_t count = 0;       ///< nodes of the graph, kernels, streams, or pieces
  bool for_a_look = false;  ///< one of the few that a quick look takes
};

// The graphs that are timed have one kernel besides on their stream in each run, which fills memory.
inline constexpr process_history process_histories[] = {
    {"clean", "nothing before", process_history::what::nothing, 0, true},
    {"graph-made", "another graph of 256 nodes was made, neither uploaded nor launched",
     process_history::what::graph_waits, 256},
    {"graph-uploaded", "another graph of 256 nodes was uploaded and not launched", process_history::what::upload_waits,
     256, true},
    {"graph-uploaded-8-nodes", "the same with a graph of 8 nodes", process_history::what::upload_waits, 8},
    {"graph-uploaded-launched", "another graph of 256 nodes was uploaded, and then launched once",
     process_history::what::upload_launched, 256, true},
    {"graph-uploaded-destroyed", "another graph of 256 nodes was uploaded, and destroyed without a launch",
     process_history::what::upload_dropped, 256},
    {"graph-looping", "a graph with a loop (a conditional node) of 256 nodes was launched once",
     process_history::what::loop_launched, 256},
    {"kernels-here-64", "64 kernels ran on the stream of the graphs", process_history::what::kernels_here, 64},
    {"kernels-there-2", "2 kernels ran on another stream", process_history::what::kernels_there, 2},
    {"kernels-there-8", "8 kernels ran on another stream", process_history::what::kernels_there, 8},
    {"kernels-there-16", "16 kernels ran on another stream", process_history::what::kernels_there, 16, true},
    {"streams-16", "a kernel ran on each of 16 other streams", process_history::what::streams_used, 16},
    {"streams-16-in-turn", "16 streams were made, used by a kernel and destroyed one after the other",
     process_history::what::streams_in_turn, 16},
    {"streams-64-unused", "64 streams were made, and none was used", process_history::what::streams_unused, 64},
    {"memory-160-mb", "40 pieces of 4 MB of device memory were taken", process_history::what::memory_taken, 40},
};

/// The device side. It leaves this process as it is: each history wants a process of its own.
class graph_states_device {
 public:
  virtual ~graph_states_device() = default;
  /// Does what the history says, and keeps what is to exist for as long as this object. Blocking. Throws cuda_failure.
  virtual void carry_out(const process_history& history) = 0;
};

}  // namespace gpusync::tool
