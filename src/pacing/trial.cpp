#include "pacing/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <sstream>

#include "measure/stuck_launch.hpp"

namespace gpusync::tool {

namespace {

constexpr std::array ends = {"right", "mismatch", "stuck", "failed"};
/// A variant with barriers may take so many times the time of that without, and at least so many seconds.
constexpr double patience = 200, least_limit_s = 3;

/// "tried\tblock/4\tmismatch\targument 1, element 7"
std::string line_of(const std::string& name, trial_outcome outcome) {
  std::ranges::replace_if(
      outcome.words, [](unsigned char c) { return c < 0x20; }, ' ');
  return fmt::format("tried\t{}\t{}\t{}\n", name, ends[static_cast<size_t>(outcome.end)], outcome.words);
}

/// What the lines say; others, of drivers say, are passed over.
void read_lines(const std::string& output, std::map<std::string, trial_outcome>& found) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::array<std::string, 4> cells;
    std::istringstream words(line);
    for (std::string& cell : cells) std::getline(words, cell, '\t');
    const auto end = std::ranges::find(ends, cells[2]);
    if (cells[0] == "tried" && end != ends.end()) {
      found[cells[1]] = {static_cast<trial_end>(end - ends.begin()), cells[3]};
    }
  }
}

/// What became of a process that has not said so itself.
trial_outcome end_of(const child_outcome& child) {
  if (!child.ended) return {trial_end::stuck, "its process"};
  constexpr std::string_view program = "gpusync: ";
  const size_t sentence = child.output.rfind(program);
  if (sentence == std::string::npos) {
    return {trial_end::failed, fmt::format("its process ended with exit code {}", child.exit_code)};
  }
  const size_t begin = sentence + program.size();
  return {trial_end::failed, child.output.substr(begin, child.output.find('\n', begin) - begin)};
}

trial_outcome once(paced_kernel& kernel, size_t variant, double limit_s, double& nanoseconds) try {
  const paced_run run = kernel.run(variant, limit_s);
  nanoseconds = run.nanoseconds;
  return run.wrong == 0 ? trial_outcome{trial_end::right, ""} : trial_outcome{trial_end::mismatch, run.first};
} catch (const stuck_launch&) {
  return {trial_end::stuck, fmt::format("{:.0f} s", limit_s)};
} catch (const std::exception& failure) {
  return {trial_end::failed, failure.what()};
}

}  // namespace

bool run_trial(paced_kernel& kernel, const std::vector<std::string>& names, const std::vector<size_t>& wanted,
               double limit_s, std::ostream& out) {
  double nanoseconds = 0;
  const auto tell = [&](size_t variant, const trial_outcome& outcome) {
    out << line_of(names[variant], outcome) << std::flush;
    return outcome.end == trial_end::right || outcome.end == trial_end::mismatch;  // the device can go on
  };
  trial_outcome plain = once(kernel, 0, limit_s, nanoseconds);
  if (plain.end == trial_end::right) {
    kernel.keep_as_reference();
    plain = once(kernel, 0, limit_s, nanoseconds);
  }
  if (!tell(0, plain) || plain.end != trial_end::right) return false;
  const double limit = std::min(limit_s, std::max(least_limit_s, patience * nanoseconds * 1e-9));
  for (const size_t variant : wanted) {
    if (variant == 0) continue;
    if (!tell(variant, once(kernel, variant, limit, nanoseconds))) return false;
  }
  return true;
}

std::map<std::string, trial_outcome> try_variants(const std::vector<std::string>& names, const trial_process& start) {
  std::map<std::string, trial_outcome> found;
  std::vector<std::string> left = names;
  while (!left.empty()) {
    const child_outcome child = start(left);
    std::map<std::string, trial_outcome> now;
    read_lines(child.output, now);
    const bool plain_is_right = now.count(names[0]) != 0 && now[names[0]].end == trial_end::right;
    const size_t before = left.size();
    std::erase_if(left, [&](const std::string& name) { return now.count(name) != 0; });
    found.merge(now);
    if (left.empty() || (!plain_is_right && found.count(names[0]) != 0)) break;
    if (left.size() == before || !plain_is_right) {  // the first of them is what it did not come back from
      found[plain_is_right ? left.front() : names[0]] = end_of(child);
      if (!plain_is_right) break;
      left.erase(left.begin());
    }
  }
  return found;
}

}  // namespace gpusync::tool
