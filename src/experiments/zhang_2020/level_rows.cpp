#include "experiments/zhang_2020/level_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/text.hpp"

namespace gpusync::tool {

namespace {

/// Warps that each multiprocessor has.
size_t warps_of(const level_shape& shape) {
  return size_t{shape.blocks_per_sm} * ((shape.threads + 31) / 32);
}

prepared_method prepare(levels_device& device, const level_variant& variant, const level_shape& shape,
                        const std::function<turn_samples(level_program&)>& turn) {
  const auto program = kept_if_stuck(device.prepare(variant, shape));
  candidate turns;
  turns.run = [program, turn] { return turn(*program); };
  return {turns, [program] { return program->verify(); }};
}

}  // namespace

counted_levels::counted_levels(levels_device& device, std::vector<level_variant> variants)
    : device_(device), variants_(std::move(variants)) {}

void counted_levels::read() {
  if (read_) return;
  read_ = true;
  std::vector<std::string> functions;
  for (const level_variant& variant : variants_) {
    const repeat_counts counts = counts_of(variant);
    for (const uint64_t length : {counts.shorter, counts.longer}) {
      const std::string function = device_.function_of(variant, static_cast<uint32_t>(length));
      if (std::ranges::find(functions, function) == functions.end()) functions.push_back(function);
    }
  }
  architecture_ = device_.architecture();
  const own_machine_code found = disassemble_this_program(functions, architecture_);
  why_not_ = found.why_not;
  const auto code_of = [&](const level_variant& variant, uint64_t length) -> std::optional<timed_code> {
    const auto function = found.functions.find(device_.function_of(variant, static_cast<uint32_t>(length)));
    return function == found.functions.end() ? std::nullopt : split_at_clocks(function->second);
  };
  for (const level_variant& variant : variants_) {
    const repeat_counts counts = counts_of(variant);
    const auto longer = code_of(variant, counts.longer), shorter = code_of(variant, counts.shorter);
    if (!longer || !shorter) continue;
    codes_[name_of(variant)] = code_of_operation(*longer, *shorter, counts.longer - counts.shorter, variant.own);
  }
}

row counted_levels::summary(const char* experiment, const experiment_request& request) {
  read();
  row entry = new_row(experiment, request, "machine-code", method_kind::floor);
  entry.kind.reset();
  entry.metrics = {{"operations_counted", plain_metric(static_cast<double>(codes_.size()), "1", variants_.size())}};
  if (!why_not_.empty()) {
    mark_skipped(entry, why_not_);
  } else if (codes_.size() < variants_.size()) {
    mark_skipped(entry, fmt::format("Of {} operations the machine code for sm_{} shows {}.", variants_.size(),
                                    architecture_, codes_.size()));
  } else {
    entry.verification = fmt::format("machine code for sm_{}, by cuobjdump", architecture_);
  }
  return entry;
}

std::optional<operation_code> counted_levels::of(const level_variant& variant) {
  read();
  const auto found = codes_.find(name_of(variant));
  return found == codes_.end() ? std::nullopt : std::optional(found->second);
}

void counted_levels::add_to(row& entry, const level_variant& variant) {
  const std::optional<operation_code> code = of(variant);
  const repeat_counts counts = counts_of(variant);
  const auto add = [&](const char* name, double value) {
    metric figure = empty_metric("1");
    if (code) {
      figure.value = value;
      figure.n = counts.longer - counts.shorter;
    }
    entry.metrics.emplace_back(name, figure);
  };
  add("own_instructions", code ? code->own : 0);
  add("other_path_instructions", code ? code->elsewhere : 0);
  add("all_instructions", code ? code->all : 0);
  if (!code) return;
  const std::string said = fmt::format(
      "{:g} of {} in line and {:g} where divergent lanes go, of {:.3g} instructions for each of {} more "
      "operations (sm_{})",
      code->own, join_words(variant.own), code->elsewhere, code->all, counts.longer - counts.shorter, architecture_);
  entry.verification = entry.verification ? *entry.verification + "; " + said : said;
}

bool counted_levels::is_removed(const level_variant& variant) {
  const std::optional<operation_code> code = of(variant);
  return code && !is_there(*code, variant.divergent);
}

void mark_removed(row& entry) {
  for (auto& [name, figure] : entry.metrics) {
    if (!name.ends_with("_instructions")) figure = empty_metric(figure.unit);
  }
  if (entry.status != row_status::ok) return;
  mark_skipped(
      entry,
      "Removed by the compiler: the operation's instruction is not in the machine code that was timed, so that "
      "what it took is not its cost.");
}

step_method method_of(const level_variant& variant) {
  step_method method;
  method.name = name_of(variant);
  method.title = method.name;
  method.ordered = variant.ordered;
  return method;
}

void name_by(row& entry, const level_variant& variant) {
  entry.method = variant.method;
  if (!variant.is_barrier) entry.kind.reset();
}

repeat_counts counts_of(const level_variant& variant) {
  const auto has = [&](uint32_t length) { return std::ranges::find(variant.lengths, length) != variant.lengths.end(); };
  // Where there are many, those that all operations of few instructions have.
  if (variant.lengths.size() > 2 && has(64) && has(192)) return {64, 192};
  return {variant.lengths.front(), variant.lengths.back()};
}

prepared_method prepare_latency(levels_device& device, const level_variant& variant, const level_shape& shape) {
  return prepare(device, variant, shape, [counts = counts_of(variant), shape](level_program& program) -> turn_samples {
    const size_t warps = (shape.threads + 31) / 32;
    const auto cycles = [&](uint64_t length) {
      return slowest_cycles(program.run(static_cast<uint32_t>(length)), warps);
    };
    const double shorter = cycles(counts.shorter);
    return {{latency_sample, repeat_difference(cycles(counts.longer), shorter, counts)}};
  });
}

prepared_method prepare_throughput(levels_device& device, const level_variant& variant, const level_shape& shape) {
  return prepare(device, variant, shape, [counts = counts_of(variant), shape](level_program& program) -> turn_samples {
    const size_t warps = warps_of(shape);
    const std::vector<warp_stamp> shorter = program.run(static_cast<uint32_t>(counts.shorter));
    const std::vector<warp_stamp> longer = program.run(static_cast<uint32_t>(counts.longer));
    const double cycles = repeat_difference(busy_cycles(longer, warps), busy_cycles(shorter, warps), counts);
    return {{spacing_sample, cycles / static_cast<double>(warps)}, {start_sample, start_spread_ns(longer)}};
  });
}

metric throughput_of(const method_result& result, bool keep_samples) {
  std::vector<double> rates;
  for (const double spacing : result.figures.of(spacing_sample)) {
    if (spacing > 0) rates.push_back(1 / spacing);
  }
  metric rate = median_metric(rates, 1, "1/cycle", keep_samples);
  if (result.figures.stop != stop_reason::running) rate.stop = std::string(to_string(result.figures.stop));
  return rate;
}

stop_rule rule_for_cycles(bool quick) {
  return quick ? stop_rule{7, 9, 0.01, 0.01, 0.5e9, 1} : stop_rule{11, 31, 0.002, 0.01, 2e9, 7};
}

std::vector<method_result> compare_variants(const comparison_setting& setting, levels_device& device,
                                            const std::vector<level_variant>& variants, const level_shape& shape,
                                            const std::function<void(double)>& progress) {
  std::vector<step_method> all;
  for (const level_variant& one : variants) all.push_back(method_of(one));
  const auto prepare = [&](const step_method& method) {
    const auto variant = std::ranges::find(variants, method.name, [](const auto& one) { return name_of(one); });
    return shape.blocks_per_sm == 0 ? prepare_latency(device, *variant, shape)
                                    : prepare_throughput(device, *variant, shape);
  };
  return compare_methods(setting, all, prepare, rule_for_cycles(setting.request.quick), progress);
}

std::vector<level_shape> filling_shapes(uint32_t threads_per_sm, const std::vector<int64_t>& threads, bool quick) {
  constexpr uint32_t most_blocks = 32;
  std::vector<level_shape> shapes;
  for (const int64_t each : threads) {
    const auto wanted = static_cast<uint32_t>(each);
    const uint32_t most = std::min(most_blocks, threads_per_sm / wanted);
    for (uint32_t blocks = 1; blocks < most; blocks *= 2) {
      if (!quick || blocks == 1) shapes.push_back({wanted, blocks, 1});
    }
    if (most != 0) shapes.push_back({wanted, most, 1});
  }
  return shapes;
}

bool methods_agree(double chain_cycles, double difference_cycles, double sigma_cycles) {
  return std::abs(chain_cycles - difference_cycles) <= 2 * sigma_cycles + 1;
}

uint64_t count_jumps(const std::vector<double>& latencies) {
  uint64_t jumps = 0;
  for (size_t i = 1; i < latencies.size(); ++i) {
    const double change = std::abs(latencies[i] - latencies[i - 1]);
    const double usual = std::min(std::abs(latencies[i]), std::abs(latencies[i - 1]));
    if (change > 1 && change > 0.1 * usual) ++jumps;
  }
  return jumps;
}

}  // namespace gpusync::tool
