// Experiment barrier-cost: what one step boundary costs under every method that a device has. The question of Feng and
// Xiao 2010, asked of the machine at hand.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "experiments/experiment.hpp"
#include "measure/interleaved.hpp"
#include "usage_error.hpp"
#include "workloads/step_program.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* workload_name = "average";

/// One method on one shape, from its preparation to its row.
struct contestant {
  step_method method;
  std::unique_ptr<step_program> program;  // empty if it could not be prepared
  std::string reason;                     // why not
};

std::string sentence_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& failure) {
    return failure.what();
  } catch (...) {
    return "An unknown failure.";
  }
}

/// Whether the device would not start it, as opposed to something going wrong.
bool refused(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const not_co_resident&) {
    return true;
  } catch (...) {
    return false;
  }
}

metric step_time(const measured& result, bool keep_samples) {
  const sample_summary summary = result.samples.summary();
  metric time;
  time.unit = "us";
  time.n = summary.n;
  time.stop = std::string(to_string(result.stop));
  if (summary.n == 0) return time;
  constexpr double us = 1e-3;
  time.value = summary.median * us;
  time.q1 = summary.q1 * us;
  time.median = summary.median * us;
  time.q3 = summary.q3 * us;
  time.stddev = result.samples.sigma() * us;
  if (keep_samples) {
    time.samples.emplace();
    for (const double sample : result.samples.differences()) time.samples->push_back(sample * us);
  }
  return time;
}

/// Fills in whether the computed result was right, and what follows from that.
void judge(const contestant& one, const measured& result, row& entry) {
  if (result.failure) {
    entry.status = refused(result.failure) ? row_status::skipped : row_status::failed;
    entry.reason = sentence_of(result.failure);
    return;
  }
  verification found;
  try {
    found = one.program->verify();
  } catch (const error& failure) {
    entry.status = row_status::failed;
    entry.reason = failure.what();
    return;
  }
  if (!found.performed) {
    entry.status = row_status::skipped;
    entry.reason = "Interrupted before it ran.";
    return;
  }
  entry.verified = found.wrong == 0;
  entry.verification = fmt::format("{} words: {}", found.checked, found.how);
  if (found.wrong != 0) {
    entry.status = row_status::failed;
    entry.reason = fmt::format("Wrong results: {} of {} checked words ({:.3g} %){}.", found.wrong, found.checked,
                               100.0 * static_cast<double>(found.wrong) / static_cast<double>(found.checked),
                               one.method.ordered ? "" : "; this method orders no data, so it may read stale words");
  } else if (result.samples.summary().n == 0) {
    entry.status = row_status::skipped;
    entry.reason = "Interrupted before a first sample.";
  } else if (one.method.synchronizes && result.samples.summary().median <= 0) {
    // No boundary takes less than no time: other work on the machine was larger than what was to be measured.
    metric& time = entry.metrics.front().second;
    entry.status = row_status::skipped;
    entry.reason = fmt::format(
        "Not measurable: the longer runs took no longer than the shorter ones (median difference {:.3g} us a step, "
        "quartiles {:.3g} and {:.3g}). Is the machine busy with other work?",
        *time.median, *time.q1, *time.q3);
    time.value = time.q1 = time.median = time.q3 = time.stddev = std::nullopt;
  }
}

class barrier_cost : public experiment {
 public:
  std::string name() const override { return "barrier-cost"; }
  std::string title() const override {
    return "what one step boundary costs, by every way to wait that the device has";
  }
  std::vector<std::string> items() const override { return {"F1", "F2", "F4", "F11", "F12", "S1"}; }
  std::vector<device_kind> devices() const override {
    return {device_kind::cuda, device_kind::opencl, device_kind::host};
  }
  std::vector<axis> axes() const override {
    return {{"blocks", "blocks (work-groups) in the grid", 1, 65535, false},
            {"threads", "threads (work-items) in a block", 1, 1024, false},
            {"stores", "1: every step writes a word per thread that another block reads and checks", 0, 1, false},
            {"method", "ways to wait, by name", 0, 0, true}};
  }

  void check(const experiment_request& request) const override {
    if (request.axes.words.count("method") != 0) (void)chosen_methods(request);
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto workload = open_workload(workload_name, request.device);
    const auto methods = chosen_methods(request, *workload);
    std::vector<step_shape> shapes;
    const auto chosen = [&](const char* axis, const std::vector<uint32_t>& defaults) {
      return request.axes.numbers_or(axis, std::vector<int64_t>(defaults.begin(), defaults.end()));
    };
    for (const int64_t threads : chosen("threads", workload->default_threads(request.quick))) {
      std::vector<uint32_t> blocks_by_default;
      if (request.axes.numbers.count("blocks") == 0) {
        // Unasked, only grids that run at once: beyond, there is nothing to compare relaunching with.
        blocks_by_default = workload->default_blocks(request.quick);
        const uint64_t most = workload->max_co_resident(static_cast<uint32_t>(threads));
        std::erase_if(blocks_by_default, [most](uint32_t blocks) { return blocks > most; });
      }
      for (const int64_t blocks : chosen("blocks", blocks_by_default)) {
        for (const int64_t stores : request.axes.numbers_or("stores", {0, 1})) {
          shapes.push_back({static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads), stores != 0});
        }
      }
    }
    for (size_t i = 0; i < shapes.size() && !sink.interrupted(); ++i) {
      const auto progress = [&](double fraction) {
        sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(shapes.size()),
                      fmt::format("{} {} blocks x {} threads{}", request.device.id, shapes[i].blocks, shapes[i].threads,
                                  shapes[i].stores ? ", stores in flight" : ""));
      };
      run_shape(request, *workload, methods, shapes[i], sink, progress);
    }
  }

 private:
  static std::vector<step_method> chosen_methods(const experiment_request& request) {
    return chosen_methods(request, *open_workload(workload_name, request.device));
  }

  static std::vector<step_method> chosen_methods(const experiment_request& request, const step_workload& workload) {
    const std::vector<step_method> all = workload.methods();
    const auto wanted = request.axes.words.find("method");
    if (wanted == request.axes.words.end()) return all;
    std::vector<step_method> methods;
    for (const std::string& name : wanted->second) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const auto& method) { return method.name == name; });
      if (found == all.end()) {
        std::vector<std::string> names;
        for (const auto& method : all) names.push_back(method.name);
        throw usage_error(fmt::format("Axis method does not take '{}' on {}: it takes {}.", name, request.device.id,
                                      fmt::join(names, ", ")));
      }
      methods.push_back(*found);
    }
    return methods;
  }

  static std::vector<contestant> prepare(step_workload& workload, const std::vector<step_method>& methods,
                                         const step_shape& shape) {
    std::vector<contestant> contestants;
    for (const step_method& method : methods) {
      contestant one{method, nullptr, ""};
      try {
        one.program = workload.prepare(method, shape);
      } catch (const error& refusal) {
        one.reason = refusal.what();
      }
      contestants.push_back(std::move(one));
    }
    return contestants;
  }

  static interleaved_options options(const experiment_request& request, const experiment_sink& sink) {
    interleaved_options options;
    options.interrupted = sink.interrupted;
    if (request.quick) {
      options.stop = {5, 15, 0.02, 0.5, 2e9};
      options.target_run_ns = 3e6;
    } else {
      options.stop = {11, 51, 0.005, 0.5, 8e9};
      options.target_run_ns = 10e6;
    }
    return options;
  }

  void run_shape(const experiment_request& request, step_workload& workload, const std::vector<step_method>& methods,
                 const step_shape& shape, const experiment_sink& sink,
                 const std::function<void(double)>& progress) const {
    progress(0);
    std::vector<contestant> contestants = prepare(workload, methods, shape);
    std::vector<candidate> candidates;
    for (const contestant& one : contestants) {
      step_program* program = one.program.get();
      if (program == nullptr) continue;
      candidates.push_back({[program](uint64_t steps) { return program->run(steps); }, program->steps_unit()});
    }
    interleaved_options how = options(request, sink);
    how.progress = progress;
    const std::vector<measured> results = measure_interleaved(candidates, how);
    double clock = 0;
    try {
      clock = workload.clock_mhz();
    } catch (const error&) {  // a device that has failed has no clock; its rows say why
    }

    size_t next = 0;
    for (contestant& one : contestants) {
      row entry;
      entry.experiment = name();
      entry.items = one.method.items;
      entry.device = request.device.id;
      entry.axes = {{"blocks", int64_t{shape.blocks}},
                    {"threads", int64_t{shape.threads}},
                    {"stores", int64_t{shape.stores ? 1 : 0}}};
      entry.method = one.method.name;
      if (clock > 0) entry.clock_mhz = clock;
      if (!one.program) {
        entry.status = row_status::skipped;
        entry.reason = one.reason;
        entry.metrics = {{"step_time", metric{}}};
        entry.metrics[0].second.unit = "us";
      } else {
        const measured& result = results[next++];
        entry.metrics = {{"step_time", step_time(result, request.keep_samples)}};
        judge(one, result, entry);
      }
      one.program.reset();
      // Wrong results are what a method without ordering is measured for; any other failure of it is one.
      const bool claims = one.method.ordered || entry.verified != std::optional<bool>(false);
      sink.add(std::move(entry), claims);
    }
  }
};

const register_experiment registered(std::make_unique<barrier_cost>());

}  // namespace

}  // namespace gpusync::tool
