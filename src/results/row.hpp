// What experiments produce: rows of measured quantities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "boundary/method_kind.hpp"
#include "measure/interval.hpp"

namespace gpusync::tool {

/// One measured quantity. What was not measured is empty and becomes null.
struct metric {
  std::optional<double> value;  ///< the figure to quote: for times, the median of the repeat differences
  std::string unit;             ///< "us", "1", "MHz"
  uint64_t n = 0;               ///< samples behind it
  std::optional<double> q1, median, q3;
  std::optional<double> stddev;
  std::optional<interval> bounds;  ///< hold the true value in 95 % of cases, as far as the rounds of one run can tell
  /// By round: those at one index are of one round in all rows of the same experiment, device and axes.
  std::optional<std::vector<double>> samples;
  std::optional<std::string> stop;  ///< what ended the sampling: "spread", "time", "samples", "interrupted"
  /// The steps of the shorter and of the longer run whose difference a sample is; empty for what is no such difference.
  std::optional<std::pair<uint64_t, uint64_t>> run_steps;
};

enum class row_status { ok, failed, skipped };

using axis_value = std::variant<int64_t, std::string>;
using axis_values = std::vector<std::pair<std::string, axis_value>>;

/// One combination of device, axes and method, and what was measured there. Order of axes and metrics is kept.
struct row {
  std::string experiment;
  std::vector<std::string> items;  ///< paper item ids that this row reproduces
  std::string device;
  axis_values axes;
  std::string method;
  /// What the method is; empty for what papers have printed, and for what is no way to wait.
  std::optional<method_kind> kind;
  bool ordered = true;  ///< false if what is read after it may be stale: its results prove nothing
  bool rival = false;   ///< what people use without this library: launches, graphs, NVIDIA's barrier, plain atomics
  std::vector<std::pair<std::string, metric>> metrics;
  std::optional<bool> verified;             ///< whether the computed result was right; empty: nothing was computed
  std::optional<std::string> verification;  ///< how that was checked, with the numbers
  std::optional<double> clock_mhz;          ///< the clock seen while this row was measured
  row_status status = row_status::ok;
  std::optional<std::string> reason;  ///< one sentence; always there when the status is not ok
  bool interrupted = false;           ///< the run was, before anything was measured: the row is for no document

  const metric* find_metric(const std::string& name) const;
};

}  // namespace gpusync::tool
