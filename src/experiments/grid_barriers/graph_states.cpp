// Experiment graph-states: what a step of a CUDA graph takes in processes that have done different things before.
#include <fmt/format.h>

#include "harness/answers.hpp"
#include "harness/method_comparison.hpp"
#include "harness/own_process.hpp"
#include "harness/shapes.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/graph_states/graph_states.hpp"

namespace gpusync::tool::graph_states_experiment {

namespace {

constexpr const char* name = "graph-states";
constexpr const char* history_axis = "history";

std::vector<process_history> chosen_histories(const experiment_request& request) {
  std::vector<std::string> names;
  for (const process_history& each : process_histories) {
    if (each.for_a_look || !request.quick) names.emplace_back(each.name);
  }
  return chosen_of(request, history_axis, process_histories, &process_history::name, names);
}

std::vector<step_method> graphs_of(const workload& workload) {
  std::vector<step_method> graphs = workload.methods();
  std::erase_if(graphs, [](const step_method& method) { return method.kind != method_kind::graph; });
  return graphs;
}

step_shape shape_of(const experiment_request& request) {
  return shapes_or(request, {fmt::format("{}x256", request.device.compute_units)}).front();
}

/// In this process, which has done nothing else but look at its devices and make the graph that documents watch.
void measure_here(const process_history& history, const experiment_request& request, const experiment_sink& sink,
                  const std::function<void(double)>& progress) {
  const auto states = open_side<graph_states_device>(request.device);
  states->carry_out(history);
  const auto workload = open_workload("average", request.device);
  const std::vector<step_method> methods = chosen_methods(request, graphs_of(*workload));
  const std::vector<int64_t> stores = request.axes.numbers_or("stores", {0, 1});
  for (size_t i = 0; i < stores.size() && !sink.interrupted(); ++i) {
    step_shape shape = shape_of(request);
    shape.stores = stores[i] != 0;
    const auto part = part_of(progress, i, stores.size());
    auto results = compare_steps(*workload, {name, request, sink}, methods, shape, part);
    add_rows(results,
             {{history_axis, std::string(history.name)}, {"shape", to_word(shape)}, {"stores", int64_t{shape.stores}}},
             sink);
  }
}

/// In a process of its own. What a process did to its graphs ends with it.
void measure_in_child(const process_history& history, const experiment_request& request, const experiment_sink& sink) {
  own_process_result found =
      measure_in_own_process({name, {{history_axis, history.name}}}, request, std::chrono::minutes(2));
  if (sink.interrupted()) return;
  for (row& entry : found.rows) sink.add(std::move(entry), true);
  if (!found.rows.empty()) return;
  row entry = new_row(name, request, "graph", method_kind::graph);
  entry.axes = {{history_axis, std::string(history.name)}};
  entry.status = row_status::failed;
  entry.reason = found.reason();
  sink.add(std::move(entry), true);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const std::vector<process_history> histories = chosen_histories(request);
  const auto label = [](const process_history& history) { return std::string(history.name); };
  for_each_case(histories, sink, label, [&](const process_history& history, const auto& progress) {
    if (is_own_process()) return measure_here(history, request, sink, progress);
    progress(0, "in a process of its own");
    measure_in_child(history, request, sink);
  });
}

/// The row of a history with idle steps of plain graphs; null if there is none.
const row* find_history(const measured_rows& measured, const std::string& history) {
  for (const row* entry : measured.rows) {
    if (entry->method != "graph" || axis_number(entry->axes, "stores") != 0) continue;
    if (std::ranges::find(entry->axes, std::pair(std::string(history_axis), axis_value(history))) != entry->axes.end())
      return entry;
  }
  return nullptr;
}

std::string histories_in_words() {
  std::string words = "what the process has done before, each in one of its own";
  for (const process_history& each : process_histories) words += fmt::format("; {}: {}", each.name, each.meaning);
  return words;
}

axis one_shape_axis() {
  axis shape = shape_axis("a block of 256 threads for each SM");
  shape.single = true;
  return shape;
}

std::string answer(const measured_rows& measured) {
  const row* const clean = find_history(measured, "clean");
  const row* const uploaded = find_history(measured, "graph-uploaded");
  if (clean == nullptr || uploaded == nullptr || !value_of(*clean, "step_time") || !value_of(*uploaded, "step_time"))
    return "";
  const double before = *value_of(*clean, "step_time"), after = *value_of(*uploaded, "step_time");
  if (after < 1.02 * before) {
    return answer_in(measured, {fmt::format("Uploading a graph costs other graphs nothing: {} us a node, {} us after",
                                            figure(before), figure(after))});
  }
  return answer_in(measured,
                   {fmt::format("Launch every graph that you upload: one that waits makes all nodes take {} us "
                                "instead of {}",
                                figure(after), figure(before))});
}

request_check request_check_of_graphs() {
  request_check made =
      check_methods([](const device_description& device) { return graphs_of(*open_workload("average", device)); });
  made.check = [methods = made.check](const experiment_request& request) {
    (void)chosen_histories(request);
    (void)shape_of(request);
    methods(request);
  };
  return made;
}

const register_experiment registered({
    name,
    "what other graphs, streams and memory of a process do to the steps of a CUDA graph",
    {},
    {device_kind::cuda},
    {one_shape_axis(),
     {"stores", "1: every step writes a word per thread that another block reads and checks", 0, 1, false, "0,1"},
     {history_axis, histories_in_words(), 0, 0, true,
      "all; clean,graph-uploaded,graph-uploaded-launched,kernels-there-16 with --quick"},
     {"method", "graph, graph-pdl or graph-pdl-late", 0, 0, true, "all that the device has"}},
    run,
    request_check_of_graphs(),
    case_time{18, 5},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::graph_states_experiment
