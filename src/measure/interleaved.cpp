#include "measure/interleaved.hpp"

#include <algorithm>
#include <cmath>

#include "measure/host_timer.hpp"

namespace gpusync::tool {

repeat_counts choose_counts(const candidate& program, const interleaved_options& options) {
  const uint64_t shorter = 2 * program.unit;
  const uint64_t most = std::max(options.max_steps / program.unit * program.unit, program.unit);
  // The least of a few runs: a disturbance only ever makes a run longer, and one long run must not look like growth.
  const auto least_of = [&program](int runs, uint64_t steps) {
    double least = program.run(steps);
    for (int i = 1; i < runs; ++i) least = std::min(least, program.run(steps));
    return least;
  };
  (void)program.run(shorter);  // first touch: module load, page faults, caches
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

std::vector<measured> measure_interleaved(const std::vector<candidate>& candidates,
                                          const interleaved_options& options) {
  std::vector<measured> results(candidates.size());
  const auto active = [&](size_t i) { return results[i].stop == stop_reason::running && !results[i].failure; };
  const auto guarded = [&](size_t i, auto&& work) {
    try {
      work();
    } catch (...) {
      results[i].failure = std::current_exception();
    }
  };

  const auto count = static_cast<double>(std::max<size_t>(candidates.size(), 1));
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (options.interrupted()) break;
    guarded(i, [&] { results[i].samples = repeat_samples(choose_counts(candidates[i], options)); });
    options.progress(0.3 * static_cast<double>(i + 1) / count);
  }

  const host_timer clock;
  for (size_t round = 0;; ++round) {
    bool any = false;
    for (size_t turn = 0; turn < candidates.size(); ++turn) {
      const size_t i = (turn + round) % candidates.size();
      if (!active(i)) continue;
      if (options.interrupted()) {
        results[i].stop = stop_reason::interrupted;
        continue;
      }
      guarded(i, [&] {
        const repeat_counts counts = results[i].samples.counts();
        const double shorter = candidates[i].run(counts.shorter);
        const double longer = candidates[i].run(counts.longer);
        results[i].samples.add(longer, shorter);
        results[i].stop = options.stop.judge(results[i].samples.summary(), clock.nanoseconds());
      });
      any = any || active(i);
    }
    const double done = static_cast<double>(round + 1) / static_cast<double>(options.stop.max_samples);
    options.progress(0.3 + 0.7 * std::min(1.0, std::max(done, clock.nanoseconds() / options.stop.budget_ns)));
    if (!any) break;
  }
  return results;
}

}  // namespace gpusync::tool
