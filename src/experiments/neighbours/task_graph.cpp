// Experiment task-graph: tasks that need what others have made, inside one kernel by dependency counters, or level by
// level with whatever else lets blocks wait.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "measure/repeat_difference.hpp"
#include "usage_error.hpp"
#include "workloads/task_graph/task_graph.hpp"

namespace gpusync::tool::task_graph_experiment {

namespace {

constexpr const char* name = "task-graph";

struct work_word {
  std::string word;
  task_work work;
};

/// "none", "even-1000", "random-1000".
work_word parse_work(const std::string& word) {
  if (word == "none") return {word, {}};
  for (const bool unlike : {false, true}) {
    const std::string begin = unlike ? "random-" : "even-";
    if (word.rfind(begin, 0) != 0) continue;
    const std::string digits = word.substr(begin.size());
    const bool is_number =
        !digits.empty() && digits.size() <= 6 && digits.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && std::stoul(digits) > 0) return {word, {static_cast<uint32_t>(std::stoul(digits)), unlike}};
  }
  throw usage_error(fmt::format(
      "Axis work does not take '{}': it takes none, and even-N and random-N, where N is 1 to 999999 multiply-adds.",
      word));
}
void require_work(const std::string& word) {
  (void)parse_work(word);
}

struct graph_case {
  int64_t tasks, width;
  std::string form;
  work_word work;
  step_shape shape;
};

std::vector<graph_case> cases_of(const experiment_request& request) {
  const bool on_host = request.device.kind == device_kind::host;
  const auto processors = static_cast<uint32_t>(std::max(2, request.device.compute_units));
  const std::vector<step_shape> shapes = on_host && !has_chosen(request, "shape")
                                             ? std::vector<step_shape>{{processors, 1}}
                                             : shapes_or(request, {"132x256"});
  const auto named_work = request.axes.words.find("work");
  const std::vector<std::string> works =
      named_work != request.axes.words.end()
          ? named_work->second
          : (on_host || request.quick ? std::vector<std::string>{"none"}
                                      : std::vector<std::string>{"none", "random-500"});
  const std::vector<std::string> forms = chosen_words(request, "graph", task_graph_form_names());
  if (has_chosen(request, "width") && std::ranges::find(forms, task_graph_form_names().front()) == forms.end()) {
    throw usage_error(fmt::format("Axis width is of layered graphs alone: leave it out, or add graph={}.",
                                  task_graph_form_names().front()));
  }
  std::vector<graph_case> cases;
  for (const int64_t tasks : chosen_numbers(request, "tasks", {on_host || request.quick ? 2000u : 100000u})) {
    for (const std::string& form : forms) {
      for (const std::string& work : works) {
        for (const step_shape& shape : shapes) {
          // Only a layered graph has a width of its own.
          const std::vector<int64_t> widths = form == task_graph_form_names().front()
                                                  ? chosen_numbers(request, "width", {shape.blocks})
                                                  : std::vector<int64_t>{1};
          for (const int64_t width : widths) cases.push_back({tasks, width, form, parse_work(work), shape});
        }
      }
    }
  }
  return cases;
}

/// The ways that are compared if the user names none.
const std::vector<std::string> ways{
    "relaunch",          "graph",           "graph-pdl", "graph-pdl-late", "cg", method_names::default_barrier,
    task_methods::needs, task_methods::ends};

/// The work alone first, which the others are compared with.
std::vector<step_method> methods_of(const experiment_request& request, const workload& workload) {
  std::vector<std::string> defaults = ways;
  if (request.device.kind == device_kind::host) defaults.insert(defaults.begin(), "launch-wait");
  std::vector<step_method> methods = chosen_methods(request, workload.methods(), defaults);
  std::erase_if(methods, [](const step_method& method) { return method.kind == method_kind::floor; });
  methods.insert(methods.begin(), task_floor_method());
  return methods;
}

/// All that there are: the smallest graph has the same.
std::vector<step_method> methods_on(const device_description& device) {
  const auto side = open_side<task_graph_device>(device);
  return side->running({task_graph_form::chain, 1, 1, {}})->methods();
}

task_graph graph_of(const graph_case& one) {
  const auto& names = task_graph_form_names();
  const auto form = static_cast<task_graph_form>(std::ranges::find(names, one.form) - names.begin());
  return {form, static_cast<uint32_t>(one.tasks), static_cast<uint32_t>(one.width), one.work.work};
}

/// Adds what a task takes, and what an edge takes more than the work alone, in nanoseconds.
void add_costs(std::vector<method_result>& results, const task_graph& graph, bool keep_samples) {
  const double levels = graph.levels();
  const method_result* const floor = results.empty() ? nullptr : find_ok(results, results.front().method.name);
  for (method_result& result : results) {
    if (result.entry.status != row_status::ok) continue;
    result.entry.metrics.emplace_back("task_time",
                                      result.median_of(step_sample, levels / graph.tasks(), "ns", keep_samples));
    if (floor == nullptr || &result == floor || graph.edges() == 0) continue;
    const auto waiting = by_round(result.figures.of(step_sample), floor->figures.of(step_sample), std::minus<>());
    result.entry.metrics.emplace_back(
        "edge_overhead", median_metric(waiting, levels / static_cast<double>(graph.edges()), "ns", keep_samples));
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<task_graph_device>(request.device);
  const auto label = [](const graph_case& one) {
    return fmt::format("{} tasks, {}{}, work {}, {}", one.tasks, one.form,
                       one.form == task_graph_form_names().front() ? fmt::format(" of {}", one.width) : "",
                       one.work.word, to_word(one.shape));
  };
  for_each_case(cases_of(request), sink, label, [&](const graph_case& one, const auto& progress) {
    progress(0, "on the host");
    const task_graph graph = graph_of(one);
    const auto tasks = kept_if_stuck(device->running(graph));
    auto results = compare_steps(*tasks, {name, request, sink}, methods_of(request, *tasks), one.shape, progress);
    add_ratios(results, "step_time", step_sample,
               {"cg", method_names::default_barrier, "graph", "graph-pdl", "graph-pdl-late"});
    add_costs(results, graph, request.keep_samples);
    add_rows(results,
             {{"shape", to_word(one.shape)},
              {"graph", one.form},
              {"tasks", static_cast<int64_t>(graph.tasks())},
              {"levels", static_cast<int64_t>(graph.levels())},
              {"edges", static_cast<int64_t>(graph.edges())},
              {"work", one.work.word}},
             sink);
  });
}

const register_experiment registered({
    name,
    "tasks that need what others have made: dependency counters inside one kernel beside a barrier or a kernel for "
    "each "
    "level",
    {},
    {device_kind::cuda, device_kind::host},
    {shape_axis("132x256; on the host a block on each processor"),
     {"graph", "layered: 1 to 4 random tasks of the level before; wavefront: left and upper neighbours; chain", 0, 0,
      true, "layered,wavefront,chain"},
     {"tasks", "tasks of the graph; a wavefront is the largest square of so many", 1, 1 << 24, false,
      "100000; with --quick and on the host 2000"},
     {"width", "tasks of a level of a layered graph", 1, 1 << 24, false, "as many as blocks"},
     {"work", "of a task on each of its words: none, or N dependent multiply-adds, even-N of each, random-N on average",
      0, 0, true, "none,random-500; with --quick and on the host none", false, false, require_work},
     {"method", "ways to wait, by name", 0, 0, true,
      on_axis(ways) + ", as far as the device has them; on the host launch-wait besides; the work alone always"}},
    run,
    {[](const experiment_request& request) {
       (void)cases_of(request);
       if (has_chosen(request, "method")) (void)chosen_methods(request, methods_on(request.device));
     },
     [](const device_description& device) {
       std::vector<std::string> names;
       for (const step_method& each : methods_on(device)) names.push_back(each.name);
       return names;
     }},
    case_time{60, 10},
});

}  // namespace

}  // namespace gpusync::tool::task_graph_experiment
