// Cases that are measured in a process of their own, because what they do to a process, or to a device, must end with
// it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/experiment.hpp"

namespace gpusync::tool {

/// One case of an experiment: the words that its axes take, in place of what the user named.
struct own_case {
  const char* experiment;
  std::vector<std::pair<std::string, std::string>> words;
};

/// What came of it.
struct own_process_result {
  std::vector<row> rows;  ///< of its document; empty if there is no whole one
  bool ended = false;     ///< it ended by itself in time
  int exit_code = -1;
  std::string output;  ///< what it has written to its standard output

  /// Why there are no rows, in a sentence.
  std::string reason() const;
};

/// Whether this process is one that measure_in_own_process() has started. It measures its case itself.
bool is_own_process();

/// The command line of this program for one case: all else as the request has it, the document on standard output.
std::vector<std::string> own_process_command(const own_case& one, const experiment_request& request);

/// Runs this program for one case, and kills it after `limit`. What it has measured counts even if it does not end: a
/// device that is stuck may keep it. Throws gpusync::error if there can be no further process.
own_process_result measure_in_own_process(const own_case& one, const experiment_request& request,
                                          std::chrono::milliseconds limit);

}  // namespace gpusync::tool
