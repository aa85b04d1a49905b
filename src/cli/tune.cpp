// gpusync tune: measures the design space of placed counters on a device and writes the table that grid_barrier's
// default is chosen from.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include <gpusync/grid/tuning.hpp>
#include <gpusync/reduce/tuning.hpp>
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "harness/method_comparison.hpp"
#include "measure/repeat_difference.hpp"
#include "results/output_file.hpp"
#include "results/text.hpp"
#include "tuning/halos.hpp"
#include "tuning/reductions.hpp"
#include "tuning/search.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

const device_description& device_to_tune(const std::vector<std::string>& names) {
  if (names.size() > 1) throw usage_error("gpusync tune takes one device at a time.");
  if (names.empty()) {
    const auto gpu = std::ranges::find(all_devices(), device_kind::cuda, &device_description::kind);
    if (gpu != all_devices().end()) return *gpu;
    throw no_such_device("gpusync tune needs a CUDA device, and this machine has none: `gpusync doctor` says more.");
  }
  const device_description& device = find_device(names[0]);
  if (device.kind != device_kind::cuda) {
    throw usage_error(fmt::format(
        "gpusync tune needs a CUDA device: it places counters in a GPU's L2 cache, and {} is a device of kind {}.",
        device.id, to_string(device.kind)));
  }
  return device;
}

/// Thrown through the search once the user wants to stop.
struct stop_tuning {};

/// Microseconds per step of one plan, idle and with stores in flight, side by side and checked in the runs that are
/// timed.
plan_cost cost_under(workload& workload, const grid::counter_plan& plan, step_shape shape) {
  step_method method;
  method.name = method_names::default_barrier;
  method.plan = plan;
  repeat_options how;
  how.target_run_ns = 2.5e6;
  std::vector<std::shared_ptr<program>> programs;
  std::vector<candidate> candidates;
  for (const bool stores : {false, true}) {
    shape.stores = stores;
    const std::shared_ptr<program> program = programs.emplace_back(workload.prepare(method, shape));
    candidates.push_back(
        by_repeat_difference({[program](uint64_t steps) { return program->run(steps); }, program->steps_unit()}, how));
  }
  const std::vector<compared> results = compare(candidates, {{5, 9, 0.01, 0.5, 6e8}});
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].failure) std::rethrow_exception(results[i].failure);
    const verification found = programs[i]->verify();
    if (found.wrong == 0) continue;
    throw runtime_failure(
        fmt::format("Wrong results under a plan of {} sub-counters x {} copies on {} x {}: {} of {} "
                    "words. Nothing was written.",
                    plan.sub_counters, plan.copies, shape.blocks, shape.threads, found.wrong, found.checked),
        0);
  }
  const auto microseconds = [](const compared& result) { return summarize(result.of(step_sample)).median * 1e-3; };
  return {microseconds(results[0]), microseconds(results[1])};
}

/// How much faster another barrier must be to be named: less is within what runs differ by.
constexpr double worth_a_warning = 1.03;

std::string in_words(const grid::counter_plan& plan) {
  return fmt::format("{} sub-counter{} x {} cop{}, {} partition{}, {} warp, first poll after {} cycles",
                     plan.sub_counters, plan.sub_counters == 1 ? "" : "s", plan.copies, plan.copies == 1 ? "y" : "ies",
                     plan.partitions, plan.partitions == 1 ? "" : "s", plan.second_warp ? "second" : "first",
                     plan.poll_backoff);
}

/// The winner beside every other barrier, interleaved.
struct beside_others {
  std::string comments;  ///< lines for the table
  std::string warning;   ///< empty unless a barrier with another arrival, wait or shape is faster here
};

/// A barrier that the winner stands beside: another one, or the same by the rules of another table.
struct labelled_method {
  step_method method;
  std::string label;       ///< as the table's comments call it
  bool by_a_table = true;  ///< whether a table can choose it
};

/// All barriers of a workload that order memory, the default one by its best plan and by the plans that such a grid
/// has without this table. The winner is the first.
std::vector<labelled_method> barriers_beside(workload& workload, const tuning_class& one, const planned& best,
                                             const device_description& device, uint32_t sms) {
  std::vector<labelled_method> found;
  for (const step_method& method : workload.methods()) {
    if (!method.ordered || method.kind != method_kind::barrier) continue;
    if (method.name != method_names::default_barrier) {
      found.push_back({method, method.name, false});
      continue;
    }
    const auto by = [&](const grid::counter_plan& plan, const std::string& label) {
      labelled_method made{method, method.name + label};
      made.method.plan = plan;
      return made;
    };
    std::vector<labelled_method> ours{by(best.plan, "")};
    const auto by_rules_of = [&](const barrier_tuning& table, const std::string& label) {
      ours.push_back(by(table.rules.choose(one.shape.blocks, one.shape.threads, sms), label));
    };
    const barrier_tuning shipped = barrier_tuning::shipped_for(device.name);
    if (shipped.device == device.name) by_rules_of(shipped, " (the table that ships)");
    by_rules_of(barrier_tuning::generic(), " (the generic table)");
    found.insert(found.begin(), ours.begin(), ours.end());
  }
  return found;
}

beside_others compare_with_others(workload& workload, const tuning_class& one, const planned& best,
                                  const experiment_request& request, uint32_t sms) {
  beside_others found;
  std::string& lines = found.comments;
  experiment_sink sink;
  sink.interrupted = interrupted;
  const std::vector<labelled_method> labelled = barriers_beside(workload, one, best, request.device, sms);
  std::vector<step_method> methods;
  for (const labelled_method& each : labelled) methods.push_back(each.method);
  std::vector<method_result> idle, stores;
  for (const bool with_stores : {false, true}) {
    step_shape shape = one.shape;
    shape.stores = with_stores;
    (with_stores ? stores : idle) = compare_steps(workload, {"tune", request, sink}, methods, shape, [](double) {});
  }
  const auto figure = [](const method_result& result) {
    const metric* time = result.entry.find_metric("step_time");
    return result.entry.status == row_status::ok && time != nullptr && time->value ? *time->value : std::nan("");
  };
  if (interrupted()) return found;
  lines += fmt::format("# {} x {}, us idle / with stores in flight:", one.shape.blocks, one.shape.threads);
  for (size_t i = 0; i < labelled.size(); ++i) {
    lines +=
        fmt::format("{} {} {:.3f}/{:.3f}", i == 0 ? "" : ",", labelled[i].label, figure(idle[i]), figure(stores[i]));
  }
  lines += "\n";
  const auto both = [&](size_t i) {
    const double sum = figure(idle[i]) + figure(stores[i]);
    return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
  };
  const size_t ours = 0;
  size_t fastest = ours;
  for (size_t i = 0; i < labelled.size(); ++i) {
    if (!labelled[i].by_a_table && both(i) < both(fastest)) fastest = i;
  }
  if (both(fastest) < both(ours) / worth_a_warning) {
    found.warning = fmt::format(
        "{} blocks x {} threads: {} takes {:.3f} us idle and {:.3f} us with stores in flight, the best plan of {} "
        "{:.3f} and {:.3f}. No table can choose another algorithm: name it in programs for such grids.",
        one.shape.blocks, one.shape.threads, labelled[fastest].label, figure(idle[fastest]), figure(stores[fastest]),
        method_names::default_barrier, figure(idle[ours]), figure(stores[ours]));
    lines += "# " + found.warning + "\n";
  }
  return found;
}

/// What was measured for barriers.
struct tuned_barriers {
  barrier_tuning tuning;
  std::string evidence;  ///< comment lines: each class's winner beside every other barrier
};

tuned_barriers tune_barriers(const device_description& device, const console_options& console) {
  const auto workload = open_workload("average", device);
  const grid_facts facts = workload->facts();
  say(console, facts.l2_partitions
                   ? fmt::format("{}: {} SMs, an L2 cache of two partitions (atomics {:.0f} and {:.0f} cycles away)",
                                 device.name, facts.sms, facts.near_cycles, facts.far_cycles)
                   : fmt::format("{}: {} SMs, no partitions of the L2 cache found", device.name, facts.sms));

  tuned_barriers made;
  barrier_tuning& tuning = made.tuning;
  tuning.device = device.name;
  const std::vector<tuning_class> classes = tuning_classes(facts.sms, facts.threads_per_sm);
  experiment_request request;
  request.device = device;
  request.quick = true;
  for (size_t i = 0; i < classes.size(); ++i) {
    const tuning_class& one = classes[i];
    const std::string what = fmt::format("{} blocks x {} threads", one.shape.blocks, one.shape.threads);
    const cost_of_plan cost = [&](const grid::counter_plan& plan, const step_shape& shape) {
      if (interrupted()) throw stop_tuning();
      const plan_cost found = cost_under(*workload, plan, shape);
      if (console.level == verbosity::verbose) {
        say(console, fmt::format("{}: {:.4f} / {:.4f} us ({})", what, found.idle, found.stores, in_words(plan)));
      }
      return found;
    };
    planned best;
    {
      progress_display progress(console, "tune");
      const std::vector<planned> found =
          search_plan(one.shape, facts.sms, facts.l2_partitions, cost, [&](size_t done, size_t all) {
            const double part = static_cast<double>(done) / static_cast<double>(all);
            progress.update((static_cast<double>(i) + part) / static_cast<double>(classes.size()), what);
          });
      best = confirm_best(found, one.shape, cost);
    }
    say(console, fmt::format("{}: {:.3f} us idle, {:.3f} us with stores in flight ({})", what, best.cost.idle,
                             best.cost.stores, in_words(best.plan)));
    tuning.rules.rules[tuning.rules.count++] = {one.blocks_per_sm, one.threads, best.plan};
    const beside_others others = compare_with_others(*workload, one, best, request, facts.sms);
    made.evidence += others.comments;
    if (!others.warning.empty()) say(console, others.warning);
    if (interrupted()) throw stop_tuning();
  }
  return made;
}

/// As lines of a table.
std::string table_of(const tuned_barriers& tuned) {
  std::ostringstream text;
  tuned.tuning.write(text);
  return text.str() + tuned.evidence;
}

/// As a header to ship.
std::string header_of(const barrier_tuning& tuning) {
  std::ostringstream text;
  tuning.write_header(text);
  return text.str();
}

/// The rules for barriers in a file that `gpusync tune` or a hand has written. Throws usage_error, naming the file and
/// the line, if it is none, or does not say which device it is for.
barrier_tuning read_table(const std::string& path) {
  std::ifstream text(path);
  try {
    const barrier_tuning tuning = barrier_tuning::read(text, printable(path));
    if (!tuning.device.empty()) return tuning;
  } catch (const invalid_argument& wrong) {
    throw usage_error(wrong.what());
  }
  throw usage_error(printable(path) + " has no line `device NAME`: a table that ships is for the devices of one name.");
}

/// Throws usage_error for options that contradict each other. Returns whether a header is wanted.
bool wants_header(const tune_options& options) {
  const bool header = options.output && options.output->ends_with(".hpp");
  if (header && !options.only.empty() && options.only != "barriers") {
    throw usage_error(fmt::format("{} is a header's name, and a header has rules for barriers alone: not --only {}.",
                                  *options.output, options.only));
  }
  if (!options.from) return header;
  if (!header) throw usage_error("gpusync tune --from TABLE makes a header: give it a name that ends in .hpp by -o.");
  if (!options.devices.empty()) {
    throw usage_error("gpusync tune --from measures nothing: leave out -d, or leave out --from.");
  }
  return true;
}

/// The rules for reductions, with what was measured in comments.
std::string tune_reductions(const device_description& device, const console_options& console) {
  std::string lines;
  for (const bool wide : {false, true}) {
    progress_display progress(console, "tune");
    const std::vector<tuned_sum> found = tune_sums(device, wide, [&](double fraction, const std::string& what) {
      if (interrupted()) throw stop_tuning();
      progress.update((fraction + (wide ? 1 : 0)) / 2, what);
    });
    lines += reduction_lines(wide ? "double" : "float", found);
  }
  std::istringstream again("gpusync-tuning 1\n" + lines);
  (void)reduction_tuning::read(again, "the table");  // what is written can be read
  return lines;
}

/// The rule for halos, with what was measured in comments.
std::string tune_halo_rule(const device_description& device, const console_options& console) {
  progress_display progress(console, "tune");
  const std::vector<tuned_halo> found = tune_halos(device, [&](double fraction, const std::string& what) {
    if (interrupted()) throw stop_tuning();
    progress.update(fraction, what);
  });
  const std::string lines = halo_lines(rule_for(found, halo_rule().poll_backoff), found);
  std::istringstream again("gpusync-tuning 1\n" + lines);
  (void)halo_rule::read(again, "the table");  // what is written can be read
  return lines;
}

/// A table of one part, or of all if `only` is empty.
std::string measured_table(const device_description& device, const console_options& console, const std::string& only) {
  const auto wants = [&](const char* part) { return only.empty() || only == part; };
  std::string table = wants("barriers") ? table_of(tune_barriers(device, console))
                                        : fmt::format("gpusync-tuning 1\ndevice {}\n", device.name);
  if (wants("reductions")) table += tune_reductions(device, console);
  if (wants("halos")) table += tune_halo_rule(device, console);
  return table;
}

exit_code commit(const console_options& console, output_file& file) {
  if (const std::optional<std::string> failure = commit_or_save(file)) throw std::runtime_error(*failure);
  if (!file.is_stdout()) say(console, fmt::format("Wrote {}.", file.path()));
  return exit_code::done;
}

}  // namespace

exit_code run_tune(const console_options& console, const tune_options& options) {
  const bool header = wants_header(options);
  if (options.from) {
    const barrier_tuning tuning = read_table(*options.from);
    output_file file(*options.output);
    file.write(header_of(tuning));
    return commit(console, file);
  }
  const device_description& device = device_to_tune(options.devices);
  catch_interrupts(console.level != verbosity::quiet);
  output_file file(options.output.value_or("-"));
  try {
    if (header) {
      file.write(header_of(tune_barriers(device, console).tuning));
    } else {
      file.write(measured_table(device, console, options.only));
    }
  } catch (const stop_tuning&) {
    say(console, "Interrupted: nothing was written, for a table must be whole.");
    return exit_code::failed;
  }
  return commit(console, file);
}

}  // namespace gpusync::tool
