#include "harness/own_process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "harness/choices.hpp"
#include "measure/child_process.hpp"
#include "results/context.hpp"
#include "results/json.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

/// Set in such processes.
constexpr const char* mark = "GPUSYNC_OWN_PROCESS";

}  // namespace

std::string own_process_result::reason() const {
  return ended ? fmt::format("The process of its own ended with exit code {}.", exit_code)
               : "The process of its own did not end in time and was ended.";
}

bool is_own_process() {
  return std::getenv(mark) != nullptr;
}

std::vector<std::string> own_process_command(const own_case& one, const experiment_request& request) {
  std::vector<std::string> command{"/proc/self/exe", "run", one.experiment, "--quiet", "--device", request.device.id,
                                   "--json",         "-"};
  for (const auto& [axis, word] : one.words) command.insert(command.end(), {"--axis", axis + "=" + word});
  for (const auto& [axis, values] : request.axes.numbers) {
    command.insert(command.end(), {"--axis", fmt::format("{}={}", axis, fmt::join(values, ","))});
  }
  for (const auto& [axis, values] : request.axes.words) {
    const auto is_own = [&name = axis](const auto& word) { return word.first == name; };
    if (std::ranges::any_of(one.words, is_own)) continue;
    command.insert(command.end(), {"--axis", axis + "=" + on_axis(values)});
  }
  if (request.quick) command.emplace_back("--quick");
  if (!request.keep_samples) command.emplace_back("--no-samples");
  return command;
}

own_process_result measure_in_own_process(const own_case& one, const experiment_request& request,
                                          std::chrono::milliseconds limit) {
  const child_outcome found = run_child(own_process_command(one, request), {limit}, false, {std::string(mark) + "=1"});
  own_process_result result{{}, found.ended, found.exit_code, found.output};
  if (found.output.empty()) return result;
  try {
    const document results = parse_document(found.output, "the document of a process of its own");
    if (!is_incomplete(results)) result.rows = results.rows;
  } catch (const usage_error&) {  // cut off, or something else
  }
  return result;
}

}  // namespace gpusync::tool
