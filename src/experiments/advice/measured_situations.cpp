#include "experiments/advice/measured_situations.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace gpusync::tool {

namespace {

/// Draws that are the same with every standard library.
class draws {
 public:
  explicit draws(uint64_t seed) : numbers_(seed) {}

  /// From 0 to below 1.
  double part() { return static_cast<double>(numbers_() >> 11) * 0x1p-53; }
  bool in(double probability) { return part() < probability; }
  /// Evenly over the orders of magnitude.
  double between(double least, double most) { return least * std::pow(most / least, part()); }
  template <class Values>
  auto one_of(const Values& values) {
    return *(std::begin(values) + static_cast<std::ptrdiff_t>(part() * static_cast<double>(std::size(values))));
  }

 private:
  std::mt19937_64 numbers_;
};

/// To whole nanoseconds, as axes of rows have them.
double rounded(double us) {
  return std::round(us * 1000) / 1000;
}

bool has_torus(uint32_t blocks) {
  for (uint32_t rows = 2; rows * rows <= blocks; ++rows) {
    if (blocks % rows == 0) return true;
  }
  return false;
}

void draw_work(draws& any, advice::situation& where, double longest_us) {
  if (any.in(0.15)) return;
  where.step_us = rounded(any.between(0.2, longest_us));
  if (any.in(0.35)) return;
  where.skew = any.in(0.5) ? advice::skew_form::uniform : advice::skew_form::exponential;
  where.skew_us = std::min(where.step_us, rounded(where.step_us * any.between(0.1, 1)));
}

void draw_partners(draws& any, advice::situation& where) {
  if (any.in(0.5)) return;
  where.waits_for = advice::dependence::neighbours;
  where.neighbours = any.in(0.4) && has_torus(where.blocks) ? 4 : 2;
}

advice::situation on_gpu(draws& any, const advice::device_room& room) {
  constexpr uint32_t sizes[] = {32, 64, 128, 256, 512, 1024};
  constexpr double longest_us = 20, longest_run_us = 10000;
  advice::situation where;
  where.threads = any.one_of(sizes);
  const double resident = resident_blocks_of(where, room);
  where.blocks =
      static_cast<uint32_t>(any.in(0.07)  ? any.between(resident + 1, 3 * resident)
                            : any.in(0.3) ? std::min<double>(resident, room.sms * (1 + std::floor(any.part() * 4)))
                                          : any.between(4, resident + 0.5));
  draw_work(any, where, longest_us);
  draw_partners(any, where);
  const bool dense = is_dense(where, room.sms);
  where.stored_bytes = std::floor(any.between(1, most_words_of(dense) * where.threads + 0.5)) * 4;
  if (any.in(0.5)) {
    const auto words = static_cast<uint32_t>(any.between(1, most_kept_words_of(dense) + 0.999));
    where.kept_bytes = 4.0 * words * where.threads;
  }
  const double most_steps = std::clamp(longest_run_us / (8 + 3 * where.step_us), 16.0, 1000.0);
  where.steps = static_cast<uint64_t>(any.between(8, most_steps));
  return where;
}

advice::situation on_host(draws& any, const advice::device_room& room) {
  advice::situation where;
  where.blocks = 2 + static_cast<uint32_t>(any.part() * std::max(1.0, room.sms - 1.0));
  draw_work(any, where, 20);
  draw_partners(any, where);
  where.stored_bytes = any.in(0.5) ? 4 : 8;
  if (any.in(0.5)) where.kept_bytes = 4.0 * std::floor(any.between(1, most_kept_words_of(false) + 0.5));
  where.steps = static_cast<uint64_t>(any.between(16, 200));
  return where;
}

/// Until when: situations are many, and what matters is beyond a few per cent.
stop_rule rule_for_situations(bool quick) {
  return quick ? stop_rule{3, 5, 0.05, 0, 0.2e9, 3} : stop_rule{7, 11, 0.02, 0, 0.3e9, 5};
}

}  // namespace

std::vector<advice::situation> random_situations(uint64_t seed, size_t count, device_kind kind,
                                                 const advice::device_room& room) {
  draws any(seed);
  std::vector<advice::situation> all;
  for (size_t i = 0; i < count; ++i) all.push_back(kind == device_kind::host ? on_host(any, room) : on_gpu(any, room));
  return all;
}

std::vector<method_result> measure_situation(situation_device& device, advice::situation& where,
                                             const comparison_setting& setting,
                                             const std::function<void(double)>& progress) {
  const auto workload = kept_if_stuck(device.in(where));
  std::vector<step_method> methods;
  for (const step_method& method : workload->methods()) {
    if (way_of(method.name)) methods.push_back(method);
  }
  where.resident_blocks = std::min<uint64_t>(workload->max_co_resident(methods, where.threads), UINT32_MAX);
  const step_shape shape{where.blocks, where.threads};
  std::vector<method_result> results =
      compare_runs(*workload, setting, methods, shape, rule_for_situations(setting.request.quick), progress);
  for (method_result& result : results) {
    const double us_of_a_step = 1e3 / static_cast<double>(where.steps);
    result.entry.axes = axes_of(where);
    result.entry.metrics = {
        {step_time_metric, result.median_of(run_sample, us_of_a_step, "us", setting.request.keep_samples)}};
  }
  return results;
}

}  // namespace gpusync::tool
