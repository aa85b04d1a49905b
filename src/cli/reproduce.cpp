// gpusync reproduce
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <gpusync/core/error.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/jobs.hpp"
#include "cli/journal.hpp"
#include "cli/time_plan.hpp"
#include "harness/answers.hpp"
#include "harness/coverage.hpp"
#include "report/report.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

namespace fs = std::filesystem;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One experiment of each paper, in the papers' order, and one of ours in turn: a run that is cut short has something
/// of everything. Behind all of them those that may take long, for a case of theirs that takes longer than was thought
/// leaves the others without their time; and last those that judge what the others have measured.
std::vector<const experiment*> in_order() {
  std::vector<const experiment*> all = all_experiments(), ordered;
  std::map<std::string, size_t> of_paper;
  std::map<const experiment*, size_t> turns;
  const auto take = [&](const std::string& paper, const experiment* one) {
    turns[one] = of_paper[paper]++;
    ordered.push_back(one);
  };
  for (const covered_item& item : build_coverage().items) {
    for (const std::string& name : item.by) {
      const auto found = std::ranges::find_if(all, [&](const experiment* one) { return one->name == name; });
      if (found == all.end()) continue;
      take(item.paper, *found);
      all.erase(found);
    }
  }
  for (const experiment* one : all) take("", one);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const experiment* a, const experiment* b) { return turns[a] < turns[b]; });
  // Not of std::ranges: clang 14 does not compile that with GCC's library.
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const experiment* one) { return one->longest_case.quick <= usual_quick_case; });
  std::stable_partition(ordered.begin(), ordered.end(), [](const experiment* one) { return !one->judges_rows; });
  return ordered;
}

struct reproduction {
  std::vector<job> jobs;
  std::vector<std::string> left_out;  ///< a sentence for each experiment that this machine or device cannot run
};

reproduction plan_of(const reproduce_options& options) {
  std::vector<device_description> named;
  for (const std::string& id : options.devices) {
    const device_description device = find_device(id);
    if (std::ranges::none_of(named, [&](const device_description& known) { return known.id == device.id; }))
      named.push_back(device);
  }
  reproduction plan;
  for (const experiment* one : in_order()) {
    std::vector<device_description> devices;
    std::ranges::copy_if(named, std::back_inserter(devices),
                         [&](const device_description& device) { return runs_on(*one, device); });
    std::string why = fmt::format("{} does not run on {}", one->name, fmt::join(options.devices, " or "));
    try {
      if (named.empty()) devices.push_back(default_device(*one));
      for (const device_description& device : devices) {
        job made{one, {device, {}, options.quick, true}};
        if (one->request.check) one->request.check(made.request);
        plan.jobs.push_back(std::move(made));
      }
    } catch (const no_such_device& missing) {
      why = missing.what();
    } catch (const usage_error& refused) {
      why = refused.what();
      devices.clear();
    }
    if (devices.empty()) plan.left_out.push_back(why);
  }
  return plan;
}

planned_sweep sweep_of(job one, bool quick) {
  one.request.quick = quick;
  return {cases_of(one), one.what->judges_rows ? 0 : longest_case_of(one)};
}

/// GPUs take a case in a fraction of the time that host threads take.
double seconds_for(const reproduce_options& options, const std::vector<job>& jobs) {
  if (options.seconds > 0) return options.seconds;
  const bool has_gpu =
      std::ranges::any_of(jobs, [](const job& one) { return one.request.device.kind == device_kind::cuda; });
  if (options.quick) return has_gpu ? 50 : 150;
  return has_gpu ? 560 : 1500;
}

/// The folder, made if it is not there. Throws usage_error if it cannot be one.
fs::path folder_of(const std::string& name) {
  std::error_code error;
  fs::create_directories(name, error);
  if (!fs::is_directory(name)) {
    throw usage_error(fmt::format("-o '{}' cannot be a folder{}: name one that can be written.", printable(name),
                                  error ? ": " + error.message() : ""));
  }
  return name;
}

std::string count(size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

exit_code run_reproduce(const console_options& console, const reproduce_options& options) {
  reproduction plan = plan_of(options);
  std::vector<job>& jobs = plan.jobs;
  if (jobs.empty()) throw usage_error(fmt::format("No experiment runs on {}.", fmt::join(options.devices, " or ")));
  catch_interrupts(console.level != verbosity::quiet);
  const fs::path folder = folder_of(options.folder), document_path = folder / "results.json";
  const bool goes_on = run_journal::has_cases(document_path);
  output_file document_file(document_path), page((folder / "report.html").string());
  run_journal journal(document_path, identity_of(options.command, devices_of(jobs)), goes_on,
                      {"give the same command", "give -o another folder"});
  for (const std::string& why : plan.left_out) say(console, "Left out: " + why);

  std::vector<planned_job> sweeps;
  for (const job& one : jobs) {
    const planned_sweep quick = sweep_of(one, true);
    sweeps.push_back({options.quick ? quick : sweep_of(one, false), quick});
  }
  const double seconds = seconds_for(options, jobs);
  time_plan time(std::move(sweeps), seconds, seconds_now);
  job_conduct conduct;
  conduct.title = "reproduce";
  conduct.goes_on = true;
  conduct.by_rows = true;
  conduct.begins = [&](size_t i) { jobs[i].request.quick = time.begin(i, options.quick); };
  conduct.leaves_out = [&](const std::string& what) { return time.leaves_out(what); };
  conduct.part_done = [&](double of_jobs) { return std::clamp(time.gone() / time.seconds(), of_jobs * 0.01, 0.999); };
  job_results measured = carry_out(jobs, journal, options.command, console, conduct);
  time.end();
  say_what_was(console, measured, journal, jobs);
  // What there was no time for, the same command goes on with.
  const bool is_whole = measured.is_complete() && time.unreached().empty();
  (*measured.results.context)["complete"] = is_whole;

  std::vector<std::string> failures;
  // What was measured before is not given for the beginnings of something else, which stand in the journal.
  const bool stays = measured.stopped && holds_more(document_path, measured.results);
  if (!stays) {
    document_file.write(to_json_text(measured.results));
    page.write(render_report({measured.results}));
    for (output_file* const file : {&document_file, &page}) {
      if (std::optional<std::string> failure = commit_or_save(*file)) failures.push_back(std::move(*failure));
    }
  }
  if (is_whole && failures.empty()) journal.remove();

  const std::vector<found_answer> found = found_answers(measured.results);
  for (const found_answer& one : found) fmt::print("{}: {}\n", one.experiment, one.text);
  if (!failures.empty()) throw std::runtime_error(fmt::format("{}", fmt::join(failures, " ")));
  const std::string went_on = "the same command goes on from here";
  if (!measured.thrown.empty()) {
    throw std::runtime_error(fmt::format("{} of {} ended early; {}. {}", count(measured.thrown.size(), "experiment"),
                                         jobs.size(), went_on, fmt::join(measured.thrown, " ")));
  }
  if (measured.stopped) {
    say(console, fmt::format("Interrupted: what was measured stands in {}; {}.{}",
                             stays ? run_journal::place_of(document_path) : options.folder, went_on,
                             stays ? " The results that are there have more rows, and stay." : ""));
    return exit_code::failed;
  }
  std::vector<std::string> late;
  for (const size_t i : time.unreached()) late.push_back(jobs[i].what->name);
  fmt::print("{}{}{} in {}: see {}.{}\n", found.empty() ? "" : "\n", count(jobs.size() - late.size(), "experiment"),
             time.measured() > 0 ? fmt::format(", {}", count(time.measured(), "case")) : "",
             seconds_in_words(time.gone()), page.path(),
             late.empty() ? "" : fmt::format(" There was no time for {}: {}.", fmt::join(late, ", "), went_on));
  if (measured.failed) say(console, "Some rows failed; their reasons stand in the page.");
  return measured.failed ? exit_code::failed : exit_code::done;
}

}  // namespace gpusync::tool
