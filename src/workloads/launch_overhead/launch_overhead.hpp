// Workload "launch overhead": sequences of launches of kernels that do nothing, or only wait, by every way to launch.
// C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// How a kernel waits.
enum class wait_unit {
  clock,         ///< spins until the multiprocessor's clock has gone on by so much
  global_timer,  ///< spins until the global timer has gone on by so much
  nanosleep,     ///< sleeps of 1000 ns each: the paper's
};

/// With its name in results.
struct wait_unit_name {
  const char* name;
  wait_unit unit;
};
inline constexpr wait_unit_name wait_unit_names[] = {
    {"clock", wait_unit::clock}, {"global-timer", wait_unit::global_timer}, {"nanosleep", wait_unit::nanosleep}};

/// What each launch of a sequence carries out.
struct launched_kernel {
  /// 0: it waits for nothing.
  uint32_t units = 0;
  wait_unit unit = wait_unit::clock;
  uint32_t unit_us = 1;  ///< how long each is meant to be
  /// It adds itself and its units to a count, by one thread, before it waits. A kernel that does not is empty.
  bool counted = true;
};

/// What a sequence took, in nanoseconds of the host's clock.
struct sequence_times {
  double total = 0;   ///< from before the first launch until the host knows of the end of the last
  double queued = 0;  ///< until the last was queued
};

/// One way to launch, with one shape.
class launch_program {
 public:
  virtual ~launch_program() = default;
  /// Carries out a sequence. What it needs once (a graph) is made before, and is in no figure. Blocking. Throws
  /// gpusync::error.
  virtual sequence_times run(uint32_t launches, const launched_kernel& kernel) = 0;
  /// The same with kernels that note how long they take, so not to be timed: nanoseconds of each launch, by the
  /// multiprocessor's clock, that its longest warp was in it. Precondition: kernel.counted.
  virtual std::vector<double> lengths(uint32_t launches, const launched_kernel& kernel) = 0;
  /// All launches so far that were to count themselves and their units, and how many of both were not.
  virtual verification verify() = 0;
};

/// The device side.
class launch_device {
 public:
  virtual ~launch_device() = default;
  /// Every way to launch that there is, whether this device has it or not.
  virtual std::vector<step_method> methods() const = 0;
  /// Throws gpusync::error if the device cannot run it.
  virtual std::unique_ptr<launch_program> prepare(const step_method& method, const step_shape& shape) = 0;
};

/// The names of ways to launch.
namespace launch_names {
inline constexpr const char *traditional = "traditional", *cooperative = "cooperative", *cluster = "cluster-2",
                            *checked = "gpusync-launch", *dependent = "stream-pdl", *graph_replays = "graph-replays",
                            *graph = "graph", *cooperative_graph = "graph-cooperative", *dependent_graph = "graph-pdl",
                            *device_graph = "device-graph";
}  // namespace launch_names

/// All of them, with what they are.
std::vector<step_method> launch_methods();

}  // namespace gpusync::tool
