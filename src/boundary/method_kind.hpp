// What a method of passing from step to step is. C++17: CUDA sources include it.
#pragma once

#include <array>
#include <string_view>

namespace gpusync::tool {

/// What the floor is called in results, and how the names of barriers end that order nothing.
inline constexpr const char *name_of_floor = "no-barrier", *suffix_of_unordered = "-none";

enum class method_kind {
  floor,       ///< the work alone, which waits for nobody: no way to wait, so it never wins
  host_wait,   ///< a launch for each step, and the host waits for it
  launch,      ///< a launch for each step, queued
  graph,       ///< the same as a graph
  barrier,     ///< one kernel, a grid barrier, or a part of one, after each step
  neighbours,  ///< one kernel, waits for some blocks
  object       ///< calls of an object that is shared
};

inline constexpr std::array method_kinds = {method_kind::floor, method_kind::host_wait, method_kind::launch,
                                            method_kind::graph, method_kind::barrier,   method_kind::neighbours,
                                            method_kind::object};

/// As in results: "floor", "host-wait", "launch", "graph", "barrier", "neighbours", "object".
constexpr std::string_view to_string(method_kind kind) {
  switch (kind) {
    case method_kind::floor: return "floor";
    case method_kind::host_wait: return "host-wait";
    case method_kind::launch: return "launch";
    case method_kind::graph: return "graph";
    case method_kind::barrier: return "barrier";
    case method_kind::neighbours: return "neighbours";
    case method_kind::object: return "object";
  }
  return "?";
}

}  // namespace gpusync::tool
