#include "experiments/lo_2014/paced_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/lo_2014/paced_code.hpp"
#include "harness/answers.hpp"
#include "harness/shapes.hpp"
#include "measure/statistics.hpp"
#include "models/pace_model.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool {

namespace {

constexpr const char *time_sample = "time", *memory_sample = "memory", *barrier_sample = "barrier",
                     *tree_sample = "tree", *visits_sample = "visits", *lifetime_sample = "lifetime";
constexpr const char *part_of_time = "time", *part_of_clocks = "clocks", *part_of_code = "code";

step_method method_of(const paced_variant& variant) {
  step_method made;
  made.name = variant.name;
  made.title = variant.title;
  made.kind = method_kind::floor;  // no row keeps it: what is compared is no way to wait
  return made;
}

double median_of(const std::vector<double>& values) {
  return summarize(values).median;
}

std::vector<std::string> chosen_parts(const experiment_request& request) {
  const std::vector<std::string> all{part_of_time, part_of_clocks, part_of_code};
  if (request.quick || request.device.kind == device_kind::opencl) {
    return chosen_words(request, "part", all, {part_of_time});
  }
  if (is_gpu(request)) return chosen_words(request, "part", all);
  return chosen_words(request, "part", all, {part_of_time, part_of_clocks});
}

/// The variants that axis `method` names, or all; and always those that the others are compared with.
std::vector<paced_variant> chosen_variants(const experiment_request& request, const std::vector<paced_variant>& all) {
  if (!has_chosen(request, "method")) return all;
  const std::vector<std::string>& words = request.axes.words.at("method");
  const auto is_named = [&](const paced_variant& one) { return std::ranges::find(words, one.name) != words.end(); };
  std::vector<paced_variant> chosen;
  for (const paced_variant& one : all) {
    const bool needed = one.role == paced_role::plain ||
                        (is_control(one.role) && std::ranges::any_of(all, [&](const auto& other) {
                           return is_named(other) && other.every == one.every && is_base_of(other.role, one.role);
                         }));
    if (needed || is_named(one)) chosen.push_back(one);
  }
  return chosen;
}

stop_rule rule_for_kernels(bool quick) {
  return quick ? stop_rule{7, 11, 0.05, 0, 0.5e9, 7} : stop_rule{11, 31, 0.002, 0, 6e9, 7};
}

/// One case: its program, and what its parts share.
class measured_case {
 public:
  measured_case(const paced_experiment& what, const paced_case& one, const experiment_request& request,
                const experiment_sink& sink)
      : what_(what),
        one_(one),
        request_(request),
        sink_(sink),
        device_(open_side<paced_device>(request.device, one.text)),
        program_(kept_if_stuck(device_->program(one.problem))),
        variants_(chosen_variants(request, program_->variants())) {}

  void measure_times(const std::function<void(double)>& progress) {
    std::vector<step_method> methods;
    std::ranges::transform(variants_, std::back_inserter(methods), method_of);
    const auto prepare = [&](const step_method& method) -> prepared_method {
      const paced_variant which = variant(variants_, method.name);
      require_comparable(*program_, which, variants_.front());
      candidate turns;
      turns.run = [program = program_, which]() -> turn_samples { return {{time_sample, program->run(which)}}; };
      return {std::move(turns), [program = program_, which] { return program->verify(which, false); }};
    };
    auto results = compare_methods(setting(what_.items), methods, prepare, rule_for_kernels(request_.quick), progress);
    std::vector<paced_samples> samples;
    for (const method_result& result : results) {
      const paced_variant& which = variant(variants_, result.method.name);
      // What failed or was wrong is compared with nothing.
      const bool usable = result.entry.status == row_status::ok;
      samples.push_back(
          {which.name, which.every, which.role, usable ? result.figures.of(time_sample) : std::vector<double>{}});
    }
    for (size_t i = 0; i < results.size(); ++i) {
      row& entry = results[i].entry;
      entry.kind.reset();
      entry.metrics = {{"kernel_time", results[i].median_of(time_sample, 1e-6, "ms", request_.keep_samples)}};
      const double time = entry.metrics.front().second.value.value_or(0);
      for (auto& one : rho_metrics(samples, i)) {
        if (one.first == "rho_none" && one.second.value) rho_none_[entry.method] = *one.second.value;
        entry.metrics.push_back(std::move(one));
      }
      if (time > 0) {
        entry.metrics.emplace_back("bandwidth", plain_metric(static_cast<double>(program_->bytes()) / time / 1e6,
                                                             "GB/s", results[i].figures.of(time_sample).size()));
      }
      add_resources(entry);
    }
    add_rows(results, axes(part_of_time), sink_);
  }

  void measure_clocks(const std::function<void(double)>& progress) {
    const std::vector<paced_variant> clocked = program_->clocked();
    std::vector<step_method> methods;
    std::ranges::transform(clocked, std::back_inserter(methods), method_of);
    const auto prepare = [&](const step_method& method) -> prepared_method {
      const paced_variant which = variant(clocked, method.name);
      if (which.every > program_->trips()) {
        throw invalid_argument(
            fmt::format("Its loop has {} iterations: no visit behind each {}.", program_->trips(), which.every));
      }
      candidate turns;
      turns.run = [program = program_, which, this]() -> turn_samples {
        const paced_clocks clocks = program->run_clocked(which);
        unit_ = clocks.unit;
        return {{memory_sample, clocks.memory},
                {barrier_sample, clocks.barrier},
                {tree_sample, clocks.tree},
                {visits_sample, clocks.visits},
                {lifetime_sample, clocks.lifetime}};
      };
      return {std::move(turns), [program = program_, which] { return program->verify(which, true); }};
    };
    auto results =
        compare_methods(setting(what_.clocked_items), methods, prepare, rule_for_kernels(request_.quick), progress);
    for (method_result& result : results) {
      row& entry = result.entry;
      entry.kind.reset();
      const bool keep = request_.keep_samples;
      const auto combined = [&](const char* sample, const char* with, const std::string& unit, auto combine) {
        return median_metric(by_round(result.figures.of(sample), result.figures.of(with), combine), 1, unit, false);
      };
      const auto each = [](double all, double visits) { return visits > 0 ? all / visits : 0; };
      entry.metrics = {{memory_sample, result.median_of(memory_sample, 1, unit_, keep)},
                       {barrier_sample, result.median_of(barrier_sample, 1, unit_, keep)},
                       {"accumulation", combined(memory_sample, barrier_sample, unit_, std::plus<>())},
                       {tree_sample, result.median_of(tree_sample, 1, unit_, keep)},
                       {visits_sample, result.median_of(visits_sample, 1, "1", keep)},
                       {lifetime_sample, result.median_of(lifetime_sample, 1, "1", keep)},
                       {"memory_per_visit", combined(memory_sample, visits_sample, unit_, each)},
                       {"barrier_per_visit", combined(barrier_sample, visits_sample, unit_, each)}};
    }
    const std::vector<row> measured = [&] {
      std::vector<row> rows;
      for (const method_result& result : results) rows.push_back(result.entry);
      return rows;
    }();
    for (method_result& result : results) add_prediction(result.entry, measured);
    add_rows(results, axes(part_of_clocks), sink_);
  }

  void read_code() {
    for (row& entry : code_rows(what_.name, request_, *device_, *program_, variants_)) {
      entry.items = what_.code_items;
      entry.axes = axes(part_of_code);
      sink_.add(std::move(entry), true);
    }
  }

 private:
  static const paced_variant& variant(const std::vector<paced_variant>& all, const std::string& name) {
    return *std::ranges::find(all, name, &paced_variant::name);
  }
  comparison_setting setting(const std::vector<std::string>& items) const {
    return {what_.name, request_, sink_, items};
  }
  axis_values axes(const char* part) const {
    axis_values all = one_.axes;
    all.emplace_back("part", std::string(part));
    return all;
  }

  void add_resources(row& entry) const {
    const paced_resources takes = program_->resources(variant(variants_, entry.method));
    if (takes.registers == 0) return;  // host threads
    entry.metrics.emplace_back("registers", count_metric(static_cast<uint64_t>(takes.registers)));
    entry.metrics.emplace_back("shared_memory", count_metric(static_cast<uint64_t>(takes.shared_bytes), "bytes"));
    entry.metrics.emplace_back("resident_blocks", count_metric(static_cast<uint64_t>(takes.resident_blocks)));
    entry.metrics.emplace_back("carve_out", plain_metric(takes.carve_out, "%", 1));
  }

  /// To a barrier's row: equations 1 and 2 from its clocks and the plain loop's at the same interval, without and with
  /// how long warps live, and whether their sign is that of what was measured.
  void add_prediction(row& entry, const std::vector<row>& measured) const {
    const size_t dash = entry.method.find('-');
    if (entry.status != row_status::ok || !entry.method.starts_with("block-")) return;
    const auto plain = std::ranges::find(measured, "none" + entry.method.substr(dash), &row::method);
    if (plain == measured.end() || plain->status != row_status::ok) return;
    const auto value = [](const row& from, const char* metric) { return value_of(from, metric).value_or(0); };
    const pace_clocks clocks{value(*plain, memory_sample) + value(*plain, tree_sample),
                             value(entry, memory_sample) + value(entry, tree_sample),
                             value(entry, barrier_sample) - value(*plain, barrier_sample)};
    const double lifetime = value(*plain, lifetime_sample), paced_lifetime = value(entry, lifetime_sample);
    if (!(clocks.memory > 0) || !(lifetime > 0) || !(paced_lifetime > 0)) return;
    const uint64_t n = entry.metrics.front().second.n;
    const double predicted = predicted_rho(clocks);
    entry.metrics.emplace_back("predicted_rho", plain_metric(predicted, "%", n));
    entry.metrics.emplace_back("predicted_rho_lifetime",
                               plain_metric(predicted_rho(clocks, lifetime, paced_lifetime), "%", n));
    const auto found = rho_none_.find(entry.method);
    if (found == rho_none_.end()) return;
    entry.metrics.emplace_back("measured_rho", plain_metric(found->second, "%", n));
    entry.metrics.emplace_back("sign_right", count_metric(predicts_gain(clocks) == (found->second > 0) ? 1 : 0));
  }

  const paced_experiment& what_;
  const paced_case& one_;
  const experiment_request& request_;
  const experiment_sink& sink_;
  const std::shared_ptr<paced_device> device_;
  const std::shared_ptr<paced_program> program_;
  const std::vector<paced_variant> variants_;
  std::map<std::string, double> rho_none_;  ///< by method, of the plain builds
  std::string unit_ = "cycles";
};

std::string label(const paced_case& one) {
  std::string words;
  for (const auto& [axis, value] : one.axes) {
    const std::string word = std::holds_alternative<int64_t>(value) ? std::to_string(std::get<int64_t>(value))
                                                                    : std::get<std::string>(value);
    words += (words.empty() ? "" : ", ") + axis + " " + word;
  }
  return words;
}

}  // namespace

std::vector<std::pair<std::string, metric>> rho_metrics(const std::vector<paced_samples>& all, size_t which) {
  const paced_samples& own = all[which];
  if (own.role == paced_role::plain || own.times.empty()) return {};
  const paced_samples *plain = nullptr, *control = nullptr, *best = nullptr;
  bool has_control = false;
  for (const paced_samples& other : all) {
    if (other.times.empty() || !is_base_of(own.role, other.role)) continue;
    has_control = has_control || is_control(other.role);
    if (other.role == paced_role::plain) plain = &other;
    if (other.role == paced_role::control && other.every == own.every) control = &other;
    if (best == nullptr || median_of(other.times) < median_of(best->times)) best = &other;
  }
  const auto rho = [](const paced_samples& of, const paced_samples& base) {
    return median_metric(rho_by_round(of.times, base.times), 1, "%", false);
  };
  std::vector<std::pair<std::string, metric>> made;
  if (!is_control(own.role)) {
    if (best != nullptr && has_control) made.emplace_back("rho", rho(own, *best));
    if (plain != nullptr) made.emplace_back("rho_none", rho(own, *plain));
    if (control != nullptr && own.role != paced_role::rival) made.emplace_back("rho_control", rho(own, *control));
  }
  if (own.role == paced_role::counted) control = &own;
  if (control != nullptr && plain != nullptr && own.role != paced_role::rival) {
    made.emplace_back("compiler_share", rho(*control, *plain));
  }
  return made;
}

void run_paced(const paced_experiment& what, const experiment_request& request, const experiment_sink& sink) {
  const std::vector<std::string> parts = chosen_parts(request);
  const auto wants = [&](const char* part) { return std::ranges::find(parts, part) != parts.end(); };
  std::set<std::string> read;  // a text's code is the same in all cases
  for_each_case(what.cases(request), sink, label, [&](const paced_case& one, const auto& progress) {
    std::optional<measured_case> measured;
    row refused = new_row(what.name, request, "none", method_kind::floor);
    refused.kind.reset();
    refused.items = what.items;
    refused.axes = one.axes;
    refused.axes.emplace_back("part", parts.front());
    try {
      require_not_stuck(request.device.id);
      measured.emplace(what, one, request, sink);
    } catch (const error&) {
      mark_not_prepared(refused, std::current_exception());
      sink.add(refused, true);
      return;
    }
    const double share = wants(part_of_time) && wants(part_of_clocks) ? 0.5 : 1;
    if (wants(part_of_time)) {
      measured->measure_times([&](double fraction) { progress(share * fraction); });
    }
    if (wants(part_of_clocks) && !sink.interrupted()) {
      measured->measure_clocks([&](double fraction) { progress(1 - share + share * fraction, "clocks"); });
    }
    if (wants(part_of_code) && !sink.interrupted() && read.insert(one.text).second) measured->read_code();
  });
  if (!sink.interrupted()) add_all(published_rows(paper::lo_2014, what.name), sink);
}

std::vector<axis> paced_axes(std::vector<axis> own, const std::string& default_shapes) {
  std::vector<axis> all{shape_axis(default_shapes + "; elsewhere as many threads as cores")};
  all.insert(all.end(), own.begin(), own.end());
  all.push_back({"l1", "large: as much as can be of what L1 and shared memory share is L1; small: as little", 0, 0,
                 true, "large"});
  all.push_back({"part", "time; clocks: where a warp's time goes, in instrumented builds; code: instructions", 0, 0,
                 true, "all three; on the host time,clocks; with --quick and on OpenCL time"});
  all.push_back(
      {"method", "variants by name; none and the controls of their intervals are always measured", 0, 0, true, "all"});
  return all;
}

request_check check_paced(std::function<std::vector<paced_case>(const experiment_request&)> cases,
                          const std::vector<std::string>& texts) {
  const auto names = [texts](const device_description& device) {
    std::vector<std::string> all;
    for (const std::string& text : texts) {
      if (!side_openers<paced_device>().contains({text, device.kind})) continue;
      for (const paced_variant& one : open_side<paced_device>(device, text)->variants()) {
        if (std::ranges::find(all, one.name) == all.end()) all.push_back(one.name);
      }
    }
    return all;
  };
  request_check made;
  made.check = [cases = std::move(cases), names](const experiment_request& request) {
    (void)cases(request);
    (void)chosen_parts(request);
    if (has_chosen(request, "method")) (void)chosen_words(request, "method", names(request.device));
  };
  made.method_names = names;
  return made;
}

std::string paced_answer(const measured_rows& measured) {
  const row* best = nullptr;
  const auto rho = [](const row& entry) { return value_of(entry, "rho"); };
  uint64_t gains = 0, all = 0;
  for (const row* entry : measured.rows) {
    const metric* const found = entry->find_metric("rho");
    if (found == nullptr || !found->value || entry->method == "tiled") continue;
    const bool effect =
        entry->method.starts_with("arrive") || entry->method.starts_with("fence") || entry->method.starts_with("delay");
    if (effect) continue;
    ++all;
    gains += found->bounds && found->bounds->low > 1 ? 1 : 0;
    if (best == nullptr || *rho(*entry) > *rho(*best)) best = entry;
  }
  if (best == nullptr) return "";
  if (gains == 0) {
    return answer_in(measured,
                     {fmt::format("No pacing gains more than 1 % for certain; the best, {}, {} %", best->method,
                                  figure(*rho(*best))),
                      "No pacing gains more than 1 % for certain"},
                     best);
  }
  return answer_in(measured,
                   {fmt::format("Pacing by {} gains {} %; {} of {} gain more than 1 %", best->method,
                                figure(*rho(*best)), gains, all),
                    fmt::format("Pacing by {} gains {} %", best->method, figure(*rho(*best)))},
                   best);
}

std::string shape_of_units(const experiment_request& request, uint32_t blocks_per_unit, uint32_t threads) {
  const int units = std::max(1, request.device.compute_units);
  return fmt::format("{}x{}", static_cast<uint32_t>(units) * blocks_per_unit, threads);
}

std::string host_shape(const experiment_request& request) {
  const int cores = std::max(1, request.device.compute_units), threads = std::min(cores, 4);
  return fmt::format("{}x{}", cores / threads, threads);
}

bool is_gpu(const experiment_request& request) {
  return request.device.kind == device_kind::cuda;
}

}  // namespace gpusync::tool
