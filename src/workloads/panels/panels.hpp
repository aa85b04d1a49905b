// Workload "panels": blocks that read or add to random words of a table far larger than the L2 cache, one panel of it
// after the other. A panel fits in the cache, if the blocks are at the same one. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"
#include "workloads/panels/panels_text.hpp"

namespace gpusync::tool {

/// What is measured.
struct panel_problem {
  panel_op op = panel_op::gather;
  panel_imbalance imbalance = panel_imbalance::blocks;
  uint64_t table_bytes = 0;  ///< whole panels
  uint64_t panel_bytes = 0;  ///< a power of two
  uint32_t blocks = 1, threads = 1;
  panel_start start = panel_start::same;
  uint32_t multiply_adds = 0;  ///< on each word that is read

  /// Each word of a panel is touched panel_touches times on average; of a stream once by each block. Throws
  /// invalid_argument for what cannot be.
  panel_work work() const;
};
inline bool operator==(const panel_problem& a, const panel_problem& b) {
  return a.op == b.op && a.imbalance == b.imbalance && a.table_bytes == b.table_bytes &&
         a.panel_bytes == b.panel_bytes && a.blocks == b.blocks && a.threads == b.threads && a.start == b.start &&
         a.multiply_adds == b.multiply_adds;
}

/// Touches of a word of a panel, on average.
constexpr uint32_t panel_touches = 2;

/// What an access is called in results: "gather", "scatter", "probe", "stream".
const std::vector<std::string>& panel_op_names();
/// How work differs between blocks: "even", "blocks", "random".
const std::vector<std::string>& panel_imbalance_names();
/// Where blocks begin: "same", "spread".
const std::vector<std::string>& panel_start_names();

/// One way to keep blocks together, ready to run.
class panel_program {
 public:
  virtual ~panel_program() = default;
  /// Goes through all panels once; nanoseconds. Everything that it has left is compared then, outside of the figure.
  virtual double run() = 0;
  /// Of all runs so far.
  virtual verification verify() = 0;
  /// Blocks that gave up pacing in the last run, of windows.
  virtual uint32_t given_up() const { return 0; }
};

/// The device side. Programs of one problem share its memory: one runs at a time.
class panels_device {
 public:
  virtual ~panels_device() = default;
  /// Every way; the first keeps nobody together.
  virtual std::vector<step_method> methods() const = 0;
  /// Throws gpusync::error if the device cannot run it.
  virtual std::unique_ptr<panel_program> prepare(const panel_problem& problem, const std::string& method) = 0;
};

/// The lead in the name of a window, "window-2": 2; 0 for other names.
uint32_t lead_of_window(const std::string& method, const std::string& prefix = "window-");

/// The ways that are no barrier, for any device.
step_method panel_method(const std::string& name, const std::string& title, method_kind kind = method_kind::floor,
                         bool needs_co_residency = false);
/// "window-1", "window-2", "window-4", "window-8" and "strict-window-2".
std::vector<step_method> window_methods();

}  // namespace gpusync::tool
