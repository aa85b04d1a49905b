// The commands of the tool, one file each. What they throw, main turns into one sentence and an exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/exit_code.hpp"

namespace gpusync::tool {

/// gpusync devices: what can be measured here.
exit_code run_devices(const console_options& console, bool as_json);

/// gpusync list: the experiments, what they need, which paper items they cover.
exit_code run_list(const console_options& console, bool as_json);

/// The axes of those experiments that `words` name, for help on a command line.
std::string describe_axes(const std::vector<std::string>& words);

struct run_options {
  std::vector<std::string> experiments;
  std::vector<std::string> devices;  ///< empty: the first that there is
  std::vector<std::string> axes;     ///< "blocks=1,2,4"
  bool quick = false;
  bool samples = false;                            ///< keep every sample in the JSON
  std::optional<std::string> json, csv, markdown;  ///< output files; "-" is stdout
  std::vector<std::string> command;                ///< as the user typed it, for the context
};

/// gpusync run: measures, checks, and writes what was found.
exit_code run_run(const console_options& console, const run_options& options);

/// gpusync report: a web page from result documents. `refit`: with their fits made anew.
exit_code run_report(const console_options& console, const std::vector<std::string>& inputs, const std::string& output,
                     bool refit);

struct tune_options {
  std::vector<std::string> devices;   ///< empty: the first that there is
  std::optional<std::string> output;  ///< the table; absent or "-" is stdout
};

/// gpusync tune: measures how a device's grids should use placed counters, and writes the table.
exit_code run_tune(const console_options& console, const tune_options& options);

/// gpusync doctor: what on this machine spoils measurements or is missing.
exit_code run_doctor(const console_options& console);

/// gpusync coverage: every paper item, what reproduces it, and how far.
exit_code run_coverage(const console_options& console, bool as_json);

}  // namespace gpusync::tool
