#include "measure/repeat_difference.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace gpusync::tool {

double repeat_difference(double longer_time, double shorter_time, const repeat_counts& counts) {
  return (longer_time - shorter_time) / static_cast<double>(counts.longer - counts.shorter);
}

double repeat_difference_sigma(double longer_stddev, double shorter_stddev, const repeat_counts& counts) {
  return std::hypot(longer_stddev, shorter_stddev) / static_cast<double>(counts.longer - counts.shorter);
}

repeat_counts choose_counts(const repeated_program& program, const repeat_options& options) {
  const uint64_t shorter = 2 * program.unit;
  const uint64_t most = std::max(options.max_steps / program.unit * program.unit, program.unit);
  // The least of a few runs: a disturbance only ever makes a run longer, and one long run must not look like growth.
  const auto least_of = [&program](int runs, uint64_t steps) {
    double least = program.run(steps);
    for (int i = 1; i < runs; ++i) least = std::min(least, program.run(steps));
    return least;
  };
  const double first = program.run(shorter);  // first touch: module load, page faults, caches
  // Where a unit takes much longer than is wanted, nothing is gained by more of them, and every run counts. If it was
  // the first touch that took long, the next run does not grow.
  const double long_unit = 4 * options.target_run_ns;
  if (first > 2 * long_unit) {
    const double grown = program.run(shorter + program.unit) - first;
    if (grown > long_unit && grown > 0.2 * first) return {shorter, shorter + program.unit};
  }
  const double base = least_of(3, shorter);
  uint64_t extra = program.unit;
  for (;;) {
    const double grown = least_of(2, shorter + extra) - base;
    const bool measurable = grown > 0.25 * options.target_run_ns || grown > 2 * base;
    if (measurable || extra >= most || options.interrupted()) {
      const double per_step = std::max(grown, 1.0) / static_cast<double>(extra);
      const double wanted = options.target_run_ns / per_step / static_cast<double>(program.unit);
      // Without a measurable difference the most allowed is the best that can be done.
      const uint64_t units = measurable ? static_cast<uint64_t>(std::clamp(std::ceil(wanted), 1.0, 1e12)) : UINT64_MAX;
      const uint64_t chosen = units > most / program.unit ? most : units * program.unit;
      return {shorter, shorter + chosen};
    }
    extra = std::min(extra * 4, most);
  }
}

candidate by_repeat_difference(repeated_program program, const repeat_options& options) {
  struct state {
    repeated_program program;
    repeat_options options;
    repeat_counts counts{0, 1};
  };
  const auto one = std::make_shared<state>(state{std::move(program), options});
  candidate made;
  made.warm_up = [one] { one->counts = choose_counts(one->program, one->options); };
  made.run = [one]() -> turn_samples {
    const double shorter = one->program.run(one->counts.shorter);
    const double longer = one->program.run(one->counts.longer);
    return {{step_sample, repeat_difference(longer, shorter, one->counts)},
            {longer_sample, longer},
            {shorter_sample, shorter},
            {longer_steps_sample, static_cast<double>(one->counts.longer)},
            {shorter_steps_sample, static_cast<double>(one->counts.shorter)}};
  };
  return made;
}

double repeat_sigma(const compared& result) {
  if (result.of(step_sample).empty()) return 0;
  const repeat_counts counts{static_cast<uint64_t>(result.of(shorter_steps_sample).front()),
                             static_cast<uint64_t>(result.of(longer_steps_sample).front())};
  return repeat_difference_sigma(summarize(result.of(longer_sample)).stddev,
                                 summarize(result.of(shorter_sample)).stddev, counts);
}

}  // namespace gpusync::tool
