// What a command measures: experiments on devices, one after another, into one document.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/journal.hpp"
#include "harness/experiment.hpp"
#include "results/document.hpp"

namespace gpusync::tool {

/// An experiment on a device.
struct job {
  const experiment* what;
  experiment_request request;
};

bool runs_on(const experiment& what, const device_description& device);

/// The first device of this machine that the experiment runs on; throws no_such_device naming what it needs.
const device_description& default_device(const experiment& what);

/// The devices of all jobs, each once.
std::vector<device_description> devices_of(const std::vector<job>& jobs);

/// The cases of a job in words, in its order; nothing is measured.
std::vector<std::string> cases_of(const job& one);

/// About the longest that one of a job's cases takes, in seconds.
double longest_case_of(const job& one);

/// "40 s", "12 min", "2.5 h".
std::string seconds_in_words(double seconds);

/// What a run is: it goes on only as the same one.
run_identity identity_of(const std::vector<std::string>& command, const std::vector<device_description>& devices);

/// Whether the document that stands at `path` has more rows than these: an interrupted run does not take its place.
bool holds_more(const std::string& path, const document& measured);

/// How jobs are carried out. Any of the functions may be null.
struct job_conduct {
  std::string title;  ///< of the progress; empty: the experiment's name
  /// Called before each job.
  std::function<void(size_t job)> begins = nullptr;
  /// Asked before each case that the journal does not know: whether it is left out.
  std::function<bool(const std::string& what)> leaves_out = nullptr;
  /// The part of all that is done, of what the jobs themselves say.
  std::function<double(double of_jobs)> part_done = nullptr;
  /// Takes the text of an experiment that finds matches.
  std::function<void(const std::string& text)> matches = nullptr;
  bool goes_on = false;  ///< with the other jobs when one has thrown
  bool by_rows = false;  ///< experiments that judge rows are given those of the jobs before, and always run
};

/// What has come of the jobs.
struct job_results {
  document results;
  bool failed = false;              ///< a row failed that claims to be right
  bool stopped = false;             ///< by the user
  std::vector<std::string> thrown;  ///< what jobs have thrown

  bool is_complete() const { return !stopped && thrown.empty(); }
};

/// Carries out all jobs, cases that the journal knows out of it. What a job throws ends them, or that job (goes_on);
/// what was measured is kept. catch_interrupts() comes before.
job_results carry_out(const std::vector<job>& jobs, run_journal& journal, const std::vector<std::string>& command,
                      const console_options& console, const job_conduct& conduct);

/// Says how many cases stood in the journal, if any did, and what else the console should know of a run that has ended.
void say_what_was(const console_options& console, const job_results& all, const run_journal& journal,
                  const std::vector<job>& jobs);

}  // namespace gpusync::tool
