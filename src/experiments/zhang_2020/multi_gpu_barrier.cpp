// Experiment multi-gpu-barrier: what it takes all blocks of several GPUs to wait for each other, in every way that
// there is, beside a message between two GPUs, than which nothing can be faster.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/method_comparison.hpp"
#include "harness/published.hpp"
#include "harness/shapes.hpp"
#include "measure/statistics.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/message_floor/message_floor.hpp"
#include "workloads/multi_gpu_barrier/multi_gpu_barrier.hpp"

namespace gpusync::tool::multi_gpu_barrier_experiment {

namespace {

constexpr const char *name = "multi-gpu-barrier", *default_method = "multi-gpu-replicated", *host_side = "host-threads";
const std::vector<std::string> all_parts{"messages", "steps", "stress"};
/// The sample of a turn: nanoseconds a step.
constexpr const char* step = "step";
constexpr double us = 1e-3;

struct named_data {
  const char* name;
  across_data data;
};
constexpr std::array data_kinds{named_data{"none", across_data::none}, named_data{"pull", across_data::pull},
                                named_data{"push", across_data::push}};

/// One case.
struct across_case {
  across_setting setting;
  const char* data;
};

std::string label_of(const across_case& one) {
  return fmt::format("{} GPUs, {}, {}", one.setting.gpus, to_word(one.setting.shape), one.data);
}

/// The slowest messages that were found, in nanoseconds: a barrier is at least one in a GPU and one between two.
struct floors {
  std::optional<double> within;
  std::map<uint32_t, double> between;  ///< by number of GPUs
};

axis_values axes_of_case(const across_case& one) {
  return {{"gpus", int64_t{one.setting.gpus}}, {"shape", to_word(one.setting.shape)}, {"data", std::string(one.data)}};
}

constexpr const char* how_checked =
    "words of threads of every GPU, read by threads of every GPU behind the steps, in the launches that were timed or "
    "right behind them";

prepared_method prepare(multi_gpu_device& device, const step_method& method, const across_setting& setting) {
  const auto program = kept_if_stuck(device.prepare(method.name, setting));
  candidate turns;
  turns.warm_up = [program] { (void)program->run(); };
  turns.run = [program]() -> turn_samples { return {{step, program->run()}}; };
  const auto verify = [program]() -> verification { return {true, program->checked(), program->wrong(), how_checked}; };
  return {turns, verify};
}

void measure_steps(const experiment_request& request, const experiment_sink& sink, multi_gpu_device& device,
                   const std::vector<across_case>& cases, const floors& floor) {
  const std::vector<step_method> methods = chosen_methods(request, device.methods());
  stop_rule rule;
  rule.max_samples = request.quick ? 15 : 41;
  rule.min_samples = 5;
  const comparison_setting setting{name, request, sink, {"Z5", "Z9"}};
  for_each_case(cases, sink, label_of, [&](const across_case& one, const auto& progress) {
    const auto prepared = [&](const step_method& method) { return prepare(device, method, one.setting); };
    auto results = compare_methods(setting, methods, prepared, rule, progress);
    for (method_result& result : results) {
      if (result.entry.status != row_status::ok) continue;
      result.entry.metrics = {{"step_time", result.median_of(step, us, "us", request.keep_samples)}};
      const auto between = floor.between.find(one.setting.gpus);
      if (!floor.within || between == floor.between.end() || result.method.kind != method_kind::barrier) continue;
      const double least_us = (*floor.within + between->second) * us;
      const metric& time = result.entry.metrics.front().second;
      result.entry.metrics.emplace_back("step_over_floor", plain_metric(*time.value / least_us, "1", time.n));
    }
    std::vector<std::string> rivals;
    for (const step_method& method : methods) {
      if (is_rival(method)) rivals.push_back(method.name);
    }
    add_ratios(results, "step_time", step, rivals);
    add_rows(results, axes_of_case(one), sink);
  });
}

/// Many steps of each way to wait, by itself, in which threads of all GPUs exchange words.
void measure_stress(const experiment_request& request, const experiment_sink& sink, multi_gpu_device& device,
                    const std::vector<across_case>& cases) {
  const auto phases = static_cast<uint64_t>(chosen_number(request, "phases", request.quick ? 20000 : 200000));
  std::vector<step_method> methods = chosen_methods(request, device.methods());
  std::erase_if(methods, [](const step_method& method) { return method.kind != method_kind::barrier; });
  std::vector<std::pair<across_case, step_method>> jobs;
  for (const across_case& one : cases) {
    for (const step_method& method : methods) jobs.emplace_back(one, method);
  }
  const auto label = [](const auto& job) { return label_of(job.first) + ", " + job.second.name; };
  for_each_case(jobs, sink, label, [&](const auto& job, const auto& progress) {
    progress(0);
    const across_case& one = job.first;
    const step_method& method = job.second;
    row entry = new_row(name, request, method);
    entry.axes = axes_of_case(one);
    entry.axes.emplace_back("phases", static_cast<int64_t>(phases));
    fill_in(entry, [&] {
      const auto program = kept_if_stuck(device.prepare(method.name, one.setting));
      program->check(phases);
      entry.metrics = {{"phases_checked", count_metric(phases)}};
      mark_checked(entry, program->checked(), program->wrong(), how_checked);
    });
    sink.add(std::move(entry), true);
  });
}

/// Messages between two GPUs, and on one of them.
struct message_case {
  uint32_t one, other;   ///< the same: on one GPU
  bool payload = false;  ///< a word comes with each
};

std::string label_of_messages(const message_case& one) {
  return fmt::format("messages between GPU {} and GPU {}{}", one.one, one.other, one.payload ? ", with words" : "");
}

row row_of_messages(const experiment_request& request, multi_gpu_device& device, const message_case& one,
                    std::vector<double>& times, const experiment_sink& sink) {
  row entry = new_row(name, request, one.one == one.other ? "message-on-gpu" : "message", method_kind::floor);
  entry.ordered = true;
  entry.axes = {{"from", int64_t{one.one}}, {"to", int64_t{one.other}}, {"payload", int64_t{one.payload}}};
  fill_in(entry, [&] {
    uint64_t sent = 0, wrong = 0;
    if (one.one == one.other) {
      const auto local = open_side<message_floor_device>(request.device);
      const message_times found =
          local->measure({true, local->why_not_near().empty(), false}, 37, [&](double) { return !sink.interrupted(); });
      times = found.one_way_ns;
      sent = found.sent, wrong = found.wrong;
    } else {
      for (const across_message& message : device.messages(one.one, one.other, one.payload, request.quick)) {
        times.push_back(message.one_way_ns);
        sent += message.sent, wrong += message.wrong;
      }
    }
    if (times.empty()) return mark_interrupted(entry, "a first pair was done");
    entry.metrics = {{"one_way", median_metric(times, us, "us", request.keep_samples)},
                     {"one_way_max", plain_metric(*std::ranges::max_element(times) * us, "us", times.size())}};
    entry.verification = fmt::format("{} messages between {} pairs of SMs, each looked at", sent, times.size());
    mark_verified(entry, wrong == 0,
                  fmt::format("{} of {} messages did not come, or brought another word.", wrong, sent));
  });
  return entry;
}

floors measure_messages(const experiment_request& request, const experiment_sink& sink, multi_gpu_device& device) {
  std::vector<message_case> cases{{0, 0}};
  for (uint32_t other = 1; other < device.gpus(); ++other) {
    for (uint32_t one = 0; one < other; ++one) {
      for (const bool payload : {false, true}) cases.push_back({one, other, payload});
    }
  }
  floors found;
  double slowest = 0;
  for_each_case(cases, sink, label_of_messages, [&](const message_case& one, const auto& progress) {
    progress(0);
    std::vector<double> times;
    row entry = row_of_messages(request, device, one, times, sink);
    if (entry.status == row_status::ok && !times.empty()) {
      const double longest = *std::ranges::max_element(times);
      if (one.one == one.other) {
        found.within = longest;
      } else if (!one.payload) {
        slowest = std::max(slowest, longest);
        found.between[one.other + 1] = slowest;
      }
    }
    sink.add(std::move(entry), true);
  });
  return found;
}

std::vector<across_case> cases_of(const experiment_request& request, uint32_t gpus,
                                  const std::vector<std::string>& usual_data) {
  std::vector<uint32_t> counts;
  for (uint32_t i = gpus > 1 ? 2 : 1; i <= gpus; ++i) counts.push_back(i);
  const std::string usual = fmt::format("{}x256", request.device.compute_units);
  std::vector<across_case> cases;
  for (const int64_t count : chosen_numbers(request, "gpus", counts)) {
    for (const step_shape& shape : shapes_or(
             request, request.quick ? std::vector<std::string>{usual} : std::vector<std::string>{"1x32", usual})) {
      for (const named_data& data : chosen_of(request, "data", data_kinds, &named_data::name, usual_data)) {
        cases.push_back({{static_cast<uint32_t>(count), shape, data.data}, data.name});
      }
    }
  }
  return cases;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<multi_gpu_device>(request.device);
  const auto wanted = [parts = chosen_words(request, "part", all_parts)](const char* part) {
    return std::ranges::count(parts, part) != 0;
  };
  const auto part_sink = [&](size_t i) {
    experiment_sink own = sink;
    own.progress = part_of(sink.progress, i, all_parts.size());
    return own;
  };
  const auto cases = [&](const std::vector<std::string>& usual_data) {
    return cases_of(request, device->gpus(), usual_data);
  };
  floors floor;
  if (wanted("messages")) floor = measure_messages(request, part_sink(0), *device);
  if (wanted("steps")) measure_steps(request, part_sink(1), *device, cases({"none"}), floor);
  if (wanted("stress")) measure_stress(request, part_sink(2), *device, cases({"pull", "push"}));
  add_all(published_rows(paper::zhang_2020, name), sink);
}

std::string answer(const measured_rows& measured) {
  const row* best = least(measured, "step_time", [](const row& one) { return one.method == default_method; });
  if (best == nullptr) {
    const double phases = sum_of(measured, "phases_checked");
    if (phases > 0) return answer_in(measured, {"Barriers across GPUs held in " + count_in_words(phases) + " steps"});
    const row* message = least(measured, "one_way", [](const row& one) { return one.method == "message"; });
    if (message == nullptr) return "";
    return answer_in(measured,
                     {fmt::format("A message between GPUs takes {} us", figure(*value_of(*message, "one_way")))});
  }
  const std::string head =
      fmt::format("Join GPUs by {}: {} us a step", best->method, figure(*value_of(*best, "step_time")));
  const auto over = value_of(*best, std::string("step_time_over_") + host_side);
  if (!over) return answer_in(measured, {head}, best);
  return answer_in(measured, {fmt::format("{}, {}x faster than threads of the host", head, figure(1 / *over)), head},
                   best);
}

request_check checks() {
  request_check made =
      check_methods([](const device_description& device) { return open_side<multi_gpu_device>(device)->methods(); });
  made.check = [methods = made.check](const experiment_request& request) {
    (void)chosen_words(request, "part", all_parts);
    (void)cases_of(request, 1, {"none"});
    methods(request);
  };
  return made;
}

const register_experiment registered({
    name,
    "what it takes all blocks of several GPUs to wait for each other, in every way that there is",
    {"Z4", "Z5", "Z9"},
    {device_kind::cuda},
    {{"part", "messages: between two GPUs, and on one; steps: ways to wait; stress: many checked steps", 0, 0, true,
      "all"},
     {"phases", "steps of part stress, about", 1, 1000000000, false, "200,000; with --quick 20,000", true},
     {"gpus", "how many, from the device's on", 1, 16, false, "from 2 to all that reach each other"},
     shape_axis("1x32, and a block of 256 threads for each SM; with --quick the latter"),
     {"data", "words that threads exchange in a step: none, pull (read from other GPUs) or push (written to them)", 0,
      0, true, "none"},
     {"method", "ways to wait, by name", 0, 0, true, "all"}},
    run,
    checks(),
    case_time{20, 10},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::multi_gpu_barrier_experiment
