// Experiment block-sync: what it takes the threads of a block, and of a cluster, to wait for each other (Zhang et al.
// 2020, item Z7, Figure 6).
#include <fmt/format.h>

#include <algorithm>

#include "experiments/zhang_2020/level_rows.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/published.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool::block_sync_experiment {

namespace {

constexpr const char* name = "block-sync";

/// The barriers that are known without a device, for what is asked before one is opened.
const std::vector<std::string> methods{"syncthreads", "named-barrier",   "syncthreads-or",         "cuda-barrier",
                                       "mbarrier",    "cluster-relaxed", "cluster-acquire-release"};
const std::vector<uint32_t> cluster_sizes{1, 2, 4, 8, 16};

std::vector<int64_t> chosen_threads(const experiment_request& request) {
  std::vector<uint32_t> defaults{32, 64, 128, 256, 512, 1024};
  if (request.quick) defaults = {32, 256, 1024};
  const std::vector<int64_t> threads = chosen_numbers(request, "threads", defaults);
  for (const int64_t each : threads) {
    if (each % 32 != 0) throw usage_error(fmt::format("Axis threads takes multiples of 32, not {}.", each));
  }
  return threads;
}

std::vector<int64_t> chosen_clusters(const experiment_request& request) {
  const std::vector<int64_t> sizes = chosen_numbers(request, "cluster", cluster_sizes);
  for (const int64_t each : sizes) {
    if ((each & (each - 1)) != 0) throw usage_error(fmt::format("Axis cluster takes 1, 2, 4, 8, 16, not {}.", each));
  }
  return sizes;
}

/// Blocks alone, or clusters of one size.
std::vector<level_variant> chosen_variants(const experiment_request& request, const std::vector<level_variant>& all,
                                           bool in_clusters) {
  std::vector<level_variant> chosen;
  for (const std::string& method : chosen_words(request, "method", methods)) {
    std::ranges::copy_if(all, std::back_inserter(chosen), [&](const level_variant& one) {
      return one.method == method && one.in_clusters == in_clusters;
    });
  }
  return chosen;
}

/// What the cases of a run have in common.
struct block_levels {
  const comparison_setting& setting;
  levels_device& device;
  counted_levels& code;

  std::vector<method_result> compare(const std::vector<level_variant>& variants, const level_shape& shape,
                                     const std::function<void(double)>& progress) const {
    return compare_variants(setting, device, variants, shape, progress);
  }

  /// Completes the rows and hands them over.
  std::vector<row> add(const std::vector<level_variant>& variants, std::vector<method_result>& results,
                       const axis_values& axes) const {
    for (size_t i = 0; i < results.size(); ++i) {
      name_by(results[i].entry, variants[i]);
      code.add_to(results[i].entry, variants[i]);
      if (code.is_removed(variants[i])) mark_removed(results[i].entry);
    }
    return add_rows(results, axes, setting.sink);
  }
};

std::vector<row> measure_latency(const block_levels& what, const std::vector<level_variant>& variants,
                                 const level_shape& shape, const std::function<void(double)>& progress) {
  std::vector<method_result> results = what.compare(variants, shape, progress);
  for (method_result& result : results) {
    result.entry.metrics = {
        {"latency", result.median_of(latency_sample, 1, "cycles", what.setting.request.keep_samples)}};
  }
  axis_values axes{{"threads", int64_t{shape.threads}}};
  if (!variants.empty() && variants.front().in_clusters) axes.insert(axes.begin(), {"cluster", int64_t{shape.cluster}});
  return what.add(variants, results, axes);
}

void measure_throughput(const block_levels& what, const std::vector<level_variant>& variants, const level_shape& shape,
                        const std::function<void(double)>& progress) {
  const bool keep = what.setting.request.keep_samples;
  std::vector<method_result> results = what.compare(variants, shape, progress);
  for (method_result& result : results) {
    const std::vector<double>& starts = result.figures.of(start_sample);
    result.entry.metrics = {{"time_per_operation", result.median_of(spacing_sample, 1, "cycles", keep)},
                            {"throughput", throughput_of(result, keep)},
                            {"warps_per_sm", count_metric(uint64_t{shape.threads} / 32 * shape.blocks_per_sm)},
                            {"start_spread", median_metric(starts, 1e-3, "us", keep)}};
  }
  what.add(variants, results, {{"threads", int64_t{shape.threads}}, {"blocks_per_sm", int64_t{shape.blocks_per_sm}}});
}

std::string in_words(const level_shape& shape) {
  if (shape.blocks_per_sm == 0) return fmt::format("clusters of {} x {} threads", shape.cluster, shape.threads);
  return fmt::format("{} blocks of {} threads per SM", shape.blocks_per_sm, shape.threads);
}

/// Each sweep is over the threads; the first of blocks alone, the others of clusters of one size.
std::vector<std::vector<level_shape>> latency_sweeps(const experiment_request& request,
                                                     const std::vector<level_variant>& all) {
  std::vector<std::vector<level_shape>> sweeps;
  const auto add = [&](int64_t cluster) {
    std::vector<level_shape>& sweep = sweeps.emplace_back();
    for (const int64_t threads : chosen_threads(request)) {
      sweep.push_back({static_cast<uint32_t>(threads), 0, static_cast<uint32_t>(cluster)});
    }
  };
  if (!chosen_variants(request, all, false).empty()) add(0);
  if (chosen_variants(request, all, true).empty()) return sweeps;
  for (const int64_t cluster : chosen_clusters(request)) add(cluster);
  return sweeps;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const std::shared_ptr<levels_device> device = open_side<levels_device>(request.device, level_sides::block);
  const std::vector<level_variant> all = device->variants();
  counted_levels code(*device, all);
  const std::vector<level_variant> alone = chosen_variants(request, all, false);
  const std::vector<level_variant> in_clusters = chosen_variants(request, all, true);

  constexpr size_t parts = 2;
  experiment_sink part = sink;
  const auto of_part = [&](size_t i) {
    part.progress = part_of(sink.progress, i, parts);
    return comparison_setting{name, request, part, {"Z7"}};
  };
  const auto label = [](const level_shape& shape) {
    return shape.cluster == 0 ? fmt::format("a block of {} threads", shape.threads) : in_words(shape);
  };

  const comparison_setting first = of_part(0);
  for_each_case(
      std::vector<std::string>{"machine code"}, part, [](const std::string& one) { return one; },
      [&](const std::string&, const auto&) { sink.add(code.summary(name, request), true); });
  for_each_sweep(latency_sweeps(request, all), part, label, [&](level_shape shape, const auto& progress) {
    const std::vector<level_variant>& variants = shape.cluster == 0 ? alone : in_clusters;
    shape.cluster = std::max(shape.cluster, 1u);
    return measure_latency({first, *device, code}, variants, shape, progress);
  });
  const comparison_setting second = of_part(1);
  const std::vector<int64_t> threads = alone.empty() ? std::vector<int64_t>{} : chosen_threads(request);
  for_each_case(filling_shapes(device->threads_per_sm(), threads, request.quick), part, label,
                [&](const level_shape& shape, const auto& progress) {
                  measure_throughput({second, *device, code}, alone, shape, progress);
                });
  if (!sink.interrupted()) add_all(joined(published_rows(paper::zhang_2020, name)), sink);
}

std::string answer(const measured_rows& measured) {
  const auto in_blocks = [](const row& entry, const std::string& method, int64_t threads) {
    return entry.method == method && axis_number(entry.axes, "threads") == threads &&
           !axis_number(entry.axes, "cluster");
  };
  const auto latency = [&](const std::string& method, int64_t threads) -> std::optional<double> {
    const row* const found =
        least(measured, "latency", [&](const row& entry) { return in_blocks(entry, method, threads); });
    return found == nullptr ? std::nullopt : value_of(*found, "latency");
  };
  const row* const best =
      least(measured, "latency", [&](const row& entry) { return in_blocks(entry, entry.method, 1024); });
  if (best == nullptr) return "";
  const std::string head = fmt::format("{} is fastest in a block: {} cycles for 1024 threads", best->method,
                                       figure(*value_of(*best, "latency")));
  const auto few = latency(best->method, 32);
  if (!few) return answer_in(measured, {head});
  return answer_in(measured, {fmt::format("{}, {} for 32", head, figure(*few)), head});
}

const register_experiment registered({
    name,
    "what barriers of a block and of a cluster take, alone and with the multiprocessor full of them",
    {"Z7"},
    {device_kind::cuda},
    {{"threads", "per block, multiples of 32", 32, 1024, false, "32,64,128,256,512,1024; 32,256,1024 with --quick"},
     {"cluster", "blocks of a cluster: 1, 2, 4, 8, 16", 1, 16, false, "all"},
     {"method",
      "syncthreads, named-barrier, syncthreads-or, cuda-barrier, mbarrier, cluster-relaxed, cluster-acquire-release", 0,
      0, true, "all"}},
    run,
    {[](const experiment_request& request) {
       (void)chosen_words(request, "method", methods);
       (void)chosen_threads(request);
       (void)chosen_clusters(request);
     },
     [](const device_description&) { return methods; }},
    case_time{2, 0.5},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::block_sync_experiment
