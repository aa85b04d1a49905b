// The commands of the tool, one file each. What they throw, main turns into one sentence and an exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/exit_code.hpp"

namespace gpusync::tool {

/// gpusync devices: what can be measured here.
exit_code run_devices(const console_options& console, bool as_json);

/// gpusync list: the experiments in a line each, or all about those named: what they need, which paper items they
/// cover.
exit_code run_list(const console_options& console, const std::vector<std::string>& names, bool as_json);

/// The axes of those experiments that `words` name, for help on a command line.
std::string describe_axes(const std::vector<std::string>& words);

struct run_options {
  std::vector<std::string> experiments;
  std::vector<std::string> devices;  ///< empty: for each experiment the first that it runs on
  std::vector<std::string> axes;     ///< "blocks=1,2,4"
  bool quick = false;
  bool no_samples = false;                         ///< leave the samples out of the JSON
  std::optional<std::string> json, csv, markdown;  ///< output files; "-" is stdout
  std::optional<std::string> matches;              ///< for what experiment alignment finds; "-" is stdout
  bool dry = false;                                ///< say what would be measured, and measure nothing
  bool resume = false;                             ///< go on with the run of `json` that was cut short
  std::vector<std::string> command;                ///< as the user typed it, for the context
};

/// gpusync run: measures, checks, and writes what was found.
exit_code run_run(const console_options& console, const run_options& options);

struct reproduce_options {
  std::vector<std::string> devices;  ///< empty: for each experiment the first that it runs on
  bool quick = false;
  double seconds = 0;                ///< to measure in; 0: as the devices need
  std::string folder;                ///< of the document and the page
  std::vector<std::string> command;  ///< as the user typed it, for the context
};

/// gpusync reproduce: all experiments that the devices can run, as far as there is time, into one document and one
/// page. Goes on with what an earlier call has left.
exit_code run_reproduce(const console_options& console, const reproduce_options& options);

/// gpusync report: a web page from result documents. `refit`: with their fits made anew.
exit_code run_report(const console_options& console, const std::vector<std::string>& inputs, const std::string& output,
                     bool refit);

struct compare_options {
  std::vector<std::string> documents;  ///< before, after, before, after, …
  double least_effect_percent = 2;     ///< a change smaller than this matters to nobody
  double confidence_percent = 95;      ///< that no row is called faster or slower which is not
  bool as_json = false;
};

/// gpusync compare: what became faster and slower between two documents, or pairs of them. Failed if anything is
/// slower.
exit_code run_compare(const console_options& console, const compare_options& options);

struct advise_options {
  uint32_t blocks = 0, threads = 0;
  double step_us = 0, skew_us = 0;
  std::optional<std::string> skew;  ///< absent: uniform
  double stored_bytes = 4, kept_bytes = 0;
  std::string waits_for = "all";  ///< or a number of neighbours
  uint64_t steps = 0;
  uint32_t gpus = 1;
  uint64_t resident = 0;          ///< blocks that run at once; 0: as many as their threads allow
  std::string device;             ///< an id here or in the document, or a recorded name; empty: the first
  std::vector<std::string> from;  ///< documents to take costs from; none: recorded ones
  bool explain = false, as_json = false;
};

/// gpusync advise: what a step of a computation takes under every way to wait, and which to take.
exit_code run_advise(const console_options& console, const advise_options& options);

struct tune_options {
  std::vector<std::string> devices;   ///< empty: the first that there is
  std::optional<std::string> output;  ///< the table; absent or "-" is stdout
  std::string only;                   ///< "barriers", "reductions" or "halos"; empty: all
  std::optional<std::string> from;    ///< a table to make a header of; absent: measure
};

/// gpusync tune: measures how a device's grids should use placed counters, and how its sums should be carried out, and
/// writes the table; as a C++ header of the rules for barriers if its name ends in .hpp.
exit_code run_tune(const console_options& console, const tune_options& options);

struct pace_options {
  std::string file;                               ///< the user's CUDA file
  std::string kernel;                             ///< its name in there, a template's with its arguments
  std::string blocks, threads;                    ///< "264", "256x4"
  std::string shared;                             ///< bytes of dynamic shared memory; empty: 0
  std::vector<std::string> arguments;             ///< "float[2^20]=random", "8192"
  std::vector<std::string> definitions, folders;  ///< for the compiler
  std::string every = "4,16,64";                  ///< intervals of marks with an argument
  std::vector<std::string> devices;               ///< empty: the first CUDA device
  std::string architecture;                       ///< empty: the device's
  bool quick = false;
  bool dry = false;  ///< compile, and run nothing
  std::optional<std::string> json;
  std::vector<std::string> command;  ///< as the user typed it
};

/// gpusync pace: whether artificial barriers in the place of a file's marks pay, and whose doing a gain is. Failed if a
/// variant was refused.
exit_code run_pace(const console_options& console, const pace_options& options);

/// gpusync doctor: what on this machine spoils measurements or is missing.
exit_code run_doctor(const console_options& console);

/// gpusync coverage: every paper item, what reproduces it, and how far.
exit_code run_coverage(const console_options& console, bool as_json);

}  // namespace gpusync::tool
