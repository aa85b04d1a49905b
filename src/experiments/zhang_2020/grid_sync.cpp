// Experiment grid-sync: a grid barrier's time over the blocks of a multiprocessor and the threads of a block, and what
// launches with a few barriers cost. Zhang et al. 2020, figure 7; item Z8.
#include <fmt/format.h>

#include "harness/method_comparison.hpp"
#include "harness/published.hpp"
#include "harness/shapes.hpp"
#include "measure/repeat_difference.hpp"
#include "workloads/launch_barriers/launch_barriers.hpp"

namespace gpusync::tool::grid_sync_experiment {

namespace {

constexpr const char* name = "grid-sync";
constexpr const char *heat_map = "heat-map", *launches = "launches";

bool is_wanted(const experiment_request& request, const std::string& part) {
  const auto parts = chosen_words(request, "part", {heat_map, launches});
  return std::ranges::find(parts, part) != parts.end();
}

/// Those that both parts take unless the user names others.
bool is_default(const step_method& method) {
  return method.name == "cg" || method.name == method_names::default_barrier;
}

// ---- the heat map

struct map_point {
  uint32_t blocks_per_sm;
  step_shape shape;
};

std::string in_words(const map_point& point) {
  return fmt::format("{} block{} of {} threads per SM, {}", point.blocks_per_sm, point.blocks_per_sm == 1 ? "" : "s",
                     point.shape.threads, point.shape.stores ? "stores in flight" : "idle steps");
}

std::vector<map_point> points_of(const experiment_request& request) {
  const bool quick = request.quick;
  const auto blocks = chosen_numbers(request, "blocks_per_sm",
                                     quick ? std::vector<uint32_t>{1, 8} : std::vector<uint32_t>{1, 2, 4, 8, 16, 32});
  const auto threads = chosen_numbers(
      request, "threads", quick ? std::vector<uint32_t>{256} : std::vector<uint32_t>{32, 64, 128, 256, 512, 1024});
  std::vector<map_point> points;
  for (const int64_t per_sm : blocks) {
    for (const int64_t size : threads) {
      for (const int64_t stores : request.axes.numbers_or("stores", {0, 1})) {
        const auto count = static_cast<uint32_t>(per_sm * request.device.compute_units);
        points.push_back({static_cast<uint32_t>(per_sm), {count, static_cast<uint32_t>(size), stores != 0}});
      }
    }
  }
  return points;
}

void measure_map(const experiment_request& request, const experiment_sink& sink) {
  const auto workload = open_workload("average", request.device);
  const std::vector<step_method> methods = chosen_methods(request, workload->methods(), is_default);
  for_each_case(points_of(request), sink, in_words, [&](const map_point& point, const auto& progress) {
    auto results = compare_steps(*workload, {name, request, sink, {"Z8"}}, methods, point.shape, progress);
    add_ratios(results, "step_time", step_sample, {"cg"});
    add_rows(results,
             {{"blocks_per_sm", int64_t{point.blocks_per_sm}},
              {"threads", int64_t{point.shape.threads}},
              {"stores", int64_t{point.shape.stores}}},
             sink);
  });
}

// ---- launches with a few barriers

struct launch_point {
  bool in_graph;
  uint32_t barriers;
};

std::string in_words_of_launch(const launch_point& point) {
  return fmt::format("{} with {} barrier{}", point.in_graph ? "nodes of a graph" : "launches on a stream",
                     point.barriers, point.barriers == 1 ? "" : "s");
}

std::vector<std::vector<launch_point>> sweeps_of(const experiment_request& request) {
  const auto counts = chosen_numbers(
      request, "barriers", request.quick ? std::vector<uint32_t>{1, 8} : std::vector<uint32_t>{1, 2, 4, 8, 16, 32});
  std::vector<std::vector<launch_point>> sweeps;
  for (const bool in_graph : {true, false}) {
    std::vector<launch_point>& sweep = sweeps.emplace_back();
    for (const int64_t count : counts) sweep.push_back({in_graph, static_cast<uint32_t>(count)});
  }
  return sweeps;
}

/// The floors, and of the barriers that launches are compiled with those that the user has named for the map.
std::vector<step_method> launch_methods_of(const experiment_request& request, const workload& workload) {
  const auto named = request.axes.words.find("method");
  std::vector<step_method> methods = workload.methods();
  std::erase_if(methods, [&](const step_method& method) {
    if (method.kind == method_kind::floor) return false;
    if (named == request.axes.words.end()) return !is_default(method);
    return std::ranges::find(named->second, method.name) == named->second.end();
  });
  return methods;
}

void measure_launches(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<launch_barriers_device>(request.device);
  const step_shape shape = shapes_or(request, {fmt::format("{}x256", request.device.compute_units)}).front();
  for_each_sweep(sweeps_of(request), sink, in_words_of_launch, [&](const launch_point& point, const auto& progress) {
    const auto workload = device->launches(point.barriers, point.in_graph);
    auto results =
        compare_steps(*workload, {name, request, sink, {"Z8"}}, launch_methods_of(request, *workload), shape, progress);
    for (method_result& result : results) {
      if (!result.entry.metrics.empty()) result.entry.metrics.front().first = "launch_time";
    }
    add_ratios(results, "launch_time", step_sample, {"cg"});
    return add_rows(results,
                    {{"launched", std::string(point.in_graph ? "graph" : "stream")},
                     {"shape", to_word(shape)},
                     {"barriers", int64_t{point.barriers}}},
                    sink);
  });
}

/// The progress of one of two parts.
experiment_sink part_of_sink(const experiment_sink& sink, size_t i) {
  experiment_sink own = sink;
  own.progress = part_of(sink.progress, i, 2);
  return own;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  if (is_wanted(request, heat_map)) measure_map(request, part_of_sink(sink, 0));
  if (is_wanted(request, launches)) measure_launches(request, part_of_sink(sink, 1));
  add_all(published_rows(paper::zhang_2020, name), sink);
}

request_check checks() {
  request_check made =
      check_methods([](const device_description& device) { return open_workload("average", device)->methods(); });
  made.check = [methods = made.check](const experiment_request& request) {
    (void)is_wanted(request, heat_map);
    (void)shapes_or(request, {});
    methods(request);
  };
  return made;
}

axis launch_shape_axis() {
  axis shape = shape_axis("a block of 256 threads for each SM");
  shape.meaning = "of launches: " + shape.meaning;
  shape.single = true;
  return shape;
}

const register_experiment registered({
    name,
    "what a grid barrier takes over blocks per SM and threads per block, and a launch with a few of them",
    {"Z8"},
    {device_kind::cuda},
    {{"part", "heat-map: steps over blocks per SM and threads; launches: launches with so many barriers each", 0, 0,
      true, "all"},
     {"blocks_per_sm", "blocks on each multiprocessor; shapes that do not run at once are skipped", 1, 32, false,
      "1,2,4,8,16,32; with --quick 1,8"},
     {"threads", "threads in a block", 1, 1024, false, "32,64,128,256,512,1024; with --quick 256"},
     {"stores", "1: every step writes a word per thread that another block reads and checks", 0, 1, false, "0,1"},
     {"barriers", "barriers in a launch", 1, 1024, false, "1,2,4,8,16,32; with --quick 1,8"},
     launch_shape_axis(),
     {"method", "ways to wait, by name; launches know cg, lock-based-acquire-release, placed-counters-acquire-release",
      0, 0, true, "cg,placed-counters-acquire-release"}},
    run,
    checks(),
});

}  // namespace

}  // namespace gpusync::tool::grid_sync_experiment
