// gpusync run
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include <gpusync/core/error.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/jobs.hpp"
#include "harness/answers.hpp"
#include "harness/experiment.hpp"
#include "results/context.hpp"
#include "results/csv.hpp"
#include "results/groups.hpp"
#include "results/json.hpp"
#include "results/markdown.hpp"
#include "results/output_file.hpp"
#include "results/table.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

/// One output that the user asked for, open since before the first measurement.
struct output {
  output_file file;
  /// Null: an experiment hands its text over while it runs.
  std::string (*render)(const document&);
  bool is_whole = true;
};

std::vector<output> open_outputs(const run_options& options) {
  std::vector<output> outputs;
  const auto open = [&outputs](const std::optional<std::string>& path, std::string (*render)(const document&)) {
    if (!path) return;
    for (const output& other : outputs) {
      if (!other.file.goes_to(*path)) continue;
      throw usage_error(other.file.is_stdout()
                            ? "Only one of --json, --csv, --md and --matches can go to standard output (-)."
                            : fmt::format("Two outputs cannot go to the same file '{}'.", *path));
    }
    outputs.push_back({output_file(*path), render, render != nullptr});
  };
  open(options.json, to_json_text);
  open(options.csv, to_csv);
  open(options.markdown, to_markdown);
  open(options.matches, nullptr);
  return outputs;
}

/// Refuses outputs that would take the place of a file that is read, or of the journal.
void require_inputs_stay(const std::vector<job>& jobs, const std::vector<output>& outputs, const run_options& options) {
  const auto require_stays = [&](const std::string& path, const std::string& what) {
    for (const output& one : outputs) {
      if (!one.file.goes_to(path)) continue;
      throw usage_error(fmt::format("An output would take the place of {} '{}': give it another name.", what, path));
    }
  };
  for (const job& one : jobs) {
    for (const axis& each : one.what->axes) {
      const auto chosen = one.request.axes.words.find(each.name);
      if (!each.files || chosen == one.request.axes.words.end()) continue;
      for (const std::string& path : chosen->second) require_stays(path, "the input");
    }
  }
  if (options.json) require_stays(run_journal::place_of(*options.json), "what is kept of the run until it is done,");
}

/// Writes all outputs; a failure of one does not keep the others from their turn. Returns what went wrong, a sentence
/// for each.
std::vector<std::string> write_outputs(std::vector<output>& outputs, const document& results) {
  std::vector<std::string> failures;
  for (output& one : outputs) {
    if (!one.is_whole) continue;
    if (one.render != nullptr) one.file.write(one.render(results));
    if (std::optional<std::string> failure = commit_or_save(one.file)) failures.push_back(std::move(*failure));
  }
  return failures;
}

/// Throws usage_error if an experiment finds no matches that could be written.
void require_matches(const std::vector<const experiment*>& experiments, const run_options& options) {
  if (!options.matches) return;
  for (const experiment* one : experiments) {
    if (one->finds_matches) continue;
    throw usage_error(fmt::format("--matches is for experiments that find matches, and {} finds none.", one->name));
  }
  if (experiments.size() > 1 || options.devices.size() > 1) {
    throw usage_error("--matches is for one experiment on one device at a time.");
  }
  if (options.resume) throw usage_error("--matches needs everything to be found anew: leave --resume out.");
}

/// Everything that can be wrong with the command line is found here, before anything is measured.
std::vector<job> plan(const run_options& options) {
  std::vector<const experiment*> experiments;
  std::vector<axis> axes;
  for (const std::string& name : options.experiments) {
    experiments.push_back(&find_experiment(name));
    for (const axis& a : experiments.back()->axes) axes.push_back(a);
  }
  require_matches(experiments, options);
  axis_choice choice;
  for (const std::string& text : options.axes) parse_axis(text, axes, choice);

  std::vector<device_description> named;
  for (const std::string& id : options.devices) named.push_back(find_device(id));

  std::vector<job> jobs;
  // Once each: rows that stand twice in a document cannot be told apart.
  const auto is_repeated = [&](const experiment* one, const device_description& device) {
    return std::ranges::any_of(
        jobs, [&](const job& known) { return known.what == one && known.request.device.id == device.id; });
  };
  for (const experiment* one : experiments) {
    for (const device_description& device : named.empty() ? std::vector{default_device(*one)} : named) {
      if (is_repeated(one, device)) continue;
      if (!runs_on(*one, device)) {
        throw usage_error(fmt::format("The experiment {} does not run on {} devices, such as {}.", one->name,
                                      to_string(device.kind), device.id));
      }
      jobs.push_back({one, {device, choice, options.quick, !options.no_samples, options.matches.has_value()}});
      if (one->request.check) one->request.check(jobs.back().request);
    }
  }
  return jobs;
}

/// The first row that was not measured, if none was.
const row* first_if_all_skipped(const document& results) {
  const row* first = nullptr;
  for (const row& entry : results.rows) {
    if (is_published(entry)) continue;
    if (entry.status != row_status::skipped) return nullptr;
    if (first == nullptr) first = &entry;
  }
  return first;
}

/// What would be measured, and how long that takes at most.
void print_plan(const console_options& console, const std::vector<job>& jobs) {
  double all = 0;
  for (const job& one : jobs) {
    const std::vector<std::string> cases = cases_of(one);
    const double seconds = static_cast<double>(cases.size()) * longest_case_of(one);
    fmt::print("{} on {}: {} case{}, at most about {} on an idle machine\n", one.what->name, one.request.device.id,
               cases.size(), cases.size() == 1 ? "" : "s", seconds_in_words(seconds));
    if (console.level == verbosity::verbose) {
      for (const std::string& what : cases) fmt::print("  {}\n", what);
    }
    all += seconds;
  }
  if (jobs.size() > 1) fmt::print("all together at most about {} on an idle machine\n", seconds_in_words(all));
}

/// Where the journal of this run stands; throws usage_error if there can be none to resume.
std::unique_ptr<run_journal> open_journal(const run_options& options, const std::vector<device_description>& devices) {
  const bool to_file = options.json && *options.json != "-" && std::filesystem::path(*options.json) != "/dev/stdout";
  if (options.resume && !to_file) throw usage_error("--resume goes on with the run of a file: name it by --json FILE.");
  std::error_code error;
  const bool regular = to_file && (std::filesystem::is_regular_file(*options.json, error) ||
                                   !std::filesystem::exists(*options.json, error));
  if (options.resume && !regular) {
    throw usage_error(
        fmt::format("--resume goes on with the run of a file, and '{}' is none.", printable(*options.json)));
  }
  if (!regular) return std::make_unique<run_journal>();
  return std::make_unique<run_journal>(*options.json, identity_of(options.command, devices), options.resume);
}

}  // namespace

exit_code run_run(const console_options& console, const run_options& options) {
  const std::vector<job> jobs = plan(options);
  if (options.dry) {
    print_plan(console, jobs);
    return exit_code::done;
  }
  // Not before: OpenCL drivers that are loaded to look for devices take the signals too.
  catch_interrupts(console.level != verbosity::quiet);
  std::vector<output> outputs = open_outputs(options);
  require_inputs_stay(jobs, outputs, options);
  const auto devices = devices_of(jobs);
  const std::unique_ptr<run_journal> journal = open_journal(options, devices);

  job_conduct conduct;
  const auto of_matches = std::ranges::find(outputs, nullptr, &output::render);
  if (of_matches != outputs.end()) {
    conduct.matches = [&to = *of_matches](const std::string& text) {
      to.file.write(text);
      to.is_whole = true;
    };
  }
  const job_results measured = carry_out(jobs, *journal, options.command, console, conduct);
  const document& results = measured.results;
  const bool complete = measured.is_complete();
  say_what_was(console, measured, *journal, jobs);

  // Files first: standard output may be a pipe that nobody reads any more.
  const bool stays = measured.stopped && options.json && holds_more(*options.json, results);
  std::vector<std::string> failures;
  if (!stays) failures = write_outputs(outputs, results);
  if (complete && failures.empty()) {
    journal->remove();
    if (journal->left() > 0) {
      say(console, fmt::format("{} case{} of before that nobody asked for stay{} in '{}'.", journal->left(),
                               journal->left() == 1 ? "" : "s", journal->left() == 1 ? "s" : "",
                               run_journal::place_of(*options.json)));
    }
  }
  const bool stdout_taken =
      std::any_of(outputs.begin(), outputs.end(), [](const output& one) { return one.file.is_stdout(); });
  if (!stdout_taken) {
    std::string text = to_table(results, console.color_data);
    if (!complete) text += "\nINCOMPLETE: the run was cut short; these are the rows that were finished.\n";
    const std::vector<std::string> found = answers(results);
    if (!found.empty()) text += fmt::format("\n{}\n", fmt::join(found, "\n"));
    (void)std::fwrite(text.data(), 1, text.size(), stdout);  // main looks whether standard output took it
  }
  for (const output& one : outputs) {
    if (!one.file.is_stdout() && one.is_whole && failures.empty() && !stays)
      say(console, fmt::format("Wrote {}.", one.file.path()));
  }
  failures.insert(failures.end(), measured.thrown.begin(), measured.thrown.end());
  if (!failures.empty()) throw std::runtime_error(fmt::format("{}", fmt::join(failures, " ")));
  if (measured.stopped) {
    say(console, stays             ? "Interrupted: the results that are there have more rows, and stay."
                 : outputs.empty() ? "Interrupted: the finished rows stand above."
                                   : "Interrupted: the finished rows were kept, marked incomplete.");
    if (journal->is_kept()) say(console, "The same command with --resume goes on from here.");
    return exit_code::failed;
  }
  if (measured.failed) say(console, "Some rows failed; their reasons stand in the table.");
  if (const row* skipped = first_if_all_skipped(results)) {
    throw std::runtime_error(fmt::format("Nothing was measured, every row was skipped; the first: {}",
                                         skipped->reason.value_or("no reason is known")));
  }
  return measured.failed ? exit_code::failed : exit_code::done;
}

}  // namespace gpusync::tool
