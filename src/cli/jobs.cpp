#include "cli/jobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <gpusync/core/error.hpp>
#include <gpusync/core/version.hpp>

#include "cli/interrupt.hpp"
#include "cli/run_context.hpp"
#include "git_state.hpp"
#include "results/context.hpp"
#include "results/text.hpp"

namespace gpusync::tool {

namespace {

/// A row as --verbose shows it when it is done.
std::string in_one_line(const row& entry) {
  std::string line = entry.device;
  for (const auto& [name, value] : entry.axes) {
    line += fmt::format(" {}={}", name, to_string(value));
  }
  line += " " + entry.method + ":";
  for (const auto& [name, value] : entry.metrics) {
    if (value.value)
      line += fmt::format(" {} {:.4g} {} (n {}, ended by {})", name, *value.value, value.unit, value.n,
                          value.stop.value_or("nothing"));
  }
  return line + (entry.reason ? " " + *entry.reason : "");
}

/// What was built: the version, and for sources that no commit has, the program's own size and time.
std::string build_in_words() {
  std::string version = GPUSYNC_VERSION_STRING " " GPUSYNC_GIT_STATE;
  struct stat program {};
  if (version.ends_with("-dirty") && stat("/proc/self/exe", &program) == 0) {
    version += fmt::format(" {} {}", program.st_size, program.st_mtim.tv_sec);
  }
  return version;
}

/// One job's rows, into `results` and into the journal.
experiment_sink sink_of(const job& one, document& results, run_journal& journal, std::vector<journal_row>& of_case,
                        bool& failed, const console_options& console) {
  experiment_sink sink;
  sink.interrupted = interrupted;
  sink.add = [&](row entry, bool claims_correctness) {
    if (entry.interrupted) return;
    if (console.level == verbosity::verbose) say(console, in_one_line(entry));
    failed = failed || (entry.status == row_status::failed && claims_correctness);
    of_case.push_back({entry, claims_correctness});
    results.rows.push_back(std::move(entry));
  };
  sink.recall = [&, add = sink.add](const std::string& what) -> std::optional<std::vector<row>> {
    const auto known = journal.recall(one.what->name, one.request.device.id, what);
    if (known) {
      std::vector<row> rows;
      for (const journal_row& each : *known) {
        rows.push_back(each.entry);
        add(each.entry, each.claims_correctness);
      }
      return rows;
    }
    of_case.clear();
    return std::nullopt;
  };
  sink.done = [&] { journal.keep(of_case); };
  return sink;
}

}  // namespace

bool runs_on(const experiment& what, const device_description& device) {
  return std::ranges::find(what.devices, device.kind) != what.devices.end();
}

const device_description& default_device(const experiment& what) {
  const auto found =
      std::ranges::find_if(all_devices(), [&](const device_description& device) { return runs_on(what, device); });
  if (found != all_devices().end()) return *found;
  std::vector<std::string> kinds, present;
  for (const device_kind kind : what.devices) {
    kinds.emplace_back(kind == device_kind::cuda ? "CUDA" : kind == device_kind::opencl ? "OpenCL" : "host");
  }
  for (const device_description& device : all_devices()) present.push_back(device.id);
  throw no_such_device(fmt::format("{} needs {} {} device; this machine has {}.", what.name,
                                   kinds.front() == "OpenCL" ? "an" : "a", fmt::join(kinds, " or "),
                                   fmt::join(present, ", ")));
}

bool holds_more(const std::string& path, const document& measured) {
  try {
    return std::filesystem::exists(path) && read_document(path).rows.size() > measured.rows.size();
  } catch (const usage_error&) {
    return false;  // it is no document
  }
}

std::vector<device_description> devices_of(const std::vector<job>& jobs) {
  std::vector<device_description> devices;
  for (const job& one : jobs) {
    const auto same = [&](const device_description& device) { return device.id == one.request.device.id; };
    if (std::none_of(devices.begin(), devices.end(), same)) devices.push_back(one.request.device);
  }
  return devices;
}

std::vector<std::string> cases_of(const job& one) {
  std::vector<std::string> cases;
  experiment_sink sink;
  sink.interrupted = [] { return false; };
  sink.progress = [](double, const std::string&) {};
  sink.add = [](const row&, bool) {};
  sink.recall = [&](const std::string& what) {
    cases.push_back(what);
    return std::vector<row>();
  };
  one.what->run(one.request, sink);
  return cases;
}

double longest_case_of(const job& one) {
  return one.request.quick ? one.what->longest_case.quick : one.what->longest_case.full;
}

std::string seconds_in_words(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", std::ceil(seconds));
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

run_identity identity_of(const std::vector<std::string>& command, const std::vector<device_description>& devices) {
  run_identity identity{command, build_in_words(), {}};
  for (const device_description& device : devices) identity.devices.push_back(to_json(device).dump());
  return identity;
}

job_results carry_out(const std::vector<job>& jobs, run_journal& journal, const std::vector<std::string>& command,
                      const console_options& console, const job_conduct& conduct) {
  job_results all;
  const auto devices = devices_of(jobs);
  const graph_watch graphs(devices);
  all.results.context = begin_context(command, devices, graphs);
  const machine_load load;
  std::vector<journal_row> of_case;
  std::optional<progress_display> display;
  for (size_t i = 0; i < jobs.size() && !interrupted() && (conduct.goes_on || all.thrown.empty()); ++i) {
    const job& one = jobs[i];
    if (conduct.title.empty() || !display)
      display.emplace(console, conduct.title.empty() ? one.what->name : conduct.title);
    progress_display& progress = *display;
    experiment_sink sink = sink_of(one, all.results, journal, of_case, all.failed, console);
    sink.progress = [&](double fraction, const std::string& what) {
      const double of_jobs = (static_cast<double>(i) + fraction) / static_cast<double>(jobs.size());
      progress.update(conduct.part_done ? conduct.part_done(of_jobs) : of_jobs,
                      conduct.title.empty() ? what : one.what->name + ": " + what);
    };
    const bool by_rows = conduct.by_rows && one.what->judges_rows;
    if (by_rows) {
      sink.so_far = &all.results.rows;
      // There may be more rows than when it last judged, so the journal neither knows nor keeps what it says.
      sink.recall = nullptr;
      sink.done = [] {};
    }
    if (conduct.leaves_out && !by_rows) {
      sink.recall = [known = sink.recall, &conduct](const std::string& what) {
        std::optional<std::vector<row>> rows = known(what);
        if (!rows && conduct.leaves_out(what)) rows.emplace();
        return rows;
      };
    }
    sink.matches = conduct.matches;
    if (conduct.begins) conduct.begins(i);
    try {
      one.what->run(one.request, sink);
    } catch (const std::exception& failure) {  // keep what was measured
      all.thrown.emplace_back(conduct.goes_on
                                  ? fmt::format("{} on {}: {}", one.what->name, one.request.device.id, failure.what())
                                  : failure.what());
    }
  }
  display.reset();
  all.stopped = interrupted();
  end_context(*all.results.context, devices, graphs, load, all.is_complete());
  return all;
}

void say_what_was(const console_options& console, const job_results& all, const run_journal& journal,
                  const std::vector<job>& jobs) {
  if (journal.recalled() > 0) {
    say(console, fmt::format("{} case{} of before stood in the journal and {} not measured again.", journal.recalled(),
                             journal.recalled() == 1 ? "" : "s", journal.recalled() == 1 ? "was" : "were"));
  }
  for (const device_description& device : devices_of(jobs)) {
    const std::string drift = graph_drift_of(all.results, device.id);
    if (!drift.empty()) say(console, fmt::format("{}: {}. `gpusync run graph-states` shows why.", device.id, drift));
  }
}

}  // namespace gpusync::tool
