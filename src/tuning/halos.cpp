#include "tuning/halos.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "harness/method_comparison.hpp"
#include "results/text.hpp"
#include "workloads/halo_exchange/halo_exchange.hpp"

namespace gpusync::tool {

namespace {

/// Microseconds of a step by words and by flags; 0 where that cannot run.
tuned_halo measure_both(workload& exchange, const experiment_request& request, const step_shape& shape) {
  experiment_sink sink;
  sink.interrupted = [] { return false; };
  const std::vector<step_method> forms = {halo_own_method(halo_methods::words), halo_own_method(halo_methods::flags)};
  tuned_halo found;
  for (const method_result& result : compare_steps(exchange, {"tune", request, sink}, forms, shape, [](double) {})) {
    if (result.entry.status == row_status::failed) throw runtime_failure(*result.entry.reason, 0);
    const metric* const time = result.entry.find_metric("step_time");
    if (result.entry.status != row_status::ok || time == nullptr || !time->value) continue;
    (result.method.name == halo_methods::words ? found.by_words : found.by_flags) = *time->value;
  }
  return found;
}

}  // namespace

double worst_of(const halo_rule& rule, const std::vector<tuned_halo>& found) {
  double worst = 1;
  for (const tuned_halo& one : found) {
    const bool words = rule.choose(one.blocks, one.slots, one.words, tuned_word, one.threads) == halo_form::words;
    const double chosen = words ? one.by_words : one.by_flags;
    worst = std::max(worst, chosen / std::min(one.by_words, one.by_flags));
  }
  return worst;
}

halo_rule rule_for(const std::vector<tuned_halo>& found, uint32_t poll_backoff) {
  halo_rule best{0, 1, poll_backoff};
  double least = worst_of(best, found);
  for (const tuned_halo& bytes : found) {
    for (const tuned_halo& words : found) {
      const halo_rule rule{bytes.polled_bytes(), words.words_a_thread(), poll_backoff};
      const double worst = worst_of(rule, found);
      const bool wider =
          rule.most_polled_bytes >= best.most_polled_bytes && rule.most_words_a_thread >= best.most_words_a_thread;
      if (worst > least || (worst == least && !wider)) continue;
      best = rule;
      least = worst;
    }
  }
  return best;
}

std::vector<tuned_halo> tune_halos(const device_description& device,
                                   const std::function<void(double, const std::string&)>& tried) {
  const auto side = open_side<halo_device>(device);
  const auto sms = static_cast<uint32_t>(std::max(1, device.compute_units));
  experiment_request request;
  request.device = device;
  request.quick = true;
  struct trial {
    step_shape shape;
    halo_problem problem;
  };
  std::vector<trial> trials;
  for (const auto& [per_sm, threads] : {std::pair{1u, 256u}, {1u, 1024u}, {2u, 512u}, {4u, 256u}, {8u, 256u}}) {
    for (const uint32_t neighbours : {2u, 4u, 8u}) {
      for (const uint32_t words : {64u, 256u, 1024u}) {
        if ((words + threads - 1) / threads > (neighbours == 8 ? 1u : 4u)) continue;  // what is compiled
        step_shape shape;
        shape.blocks = per_sm * sms / 4 * 4;  // a torus needs rows
        shape.threads = threads;
        // Flags by any rule, so that nothing is to be chosen.
        if (halo_rule::is_crowded(shape.blocks, neighbours, words, tuned_word, threads)) continue;
        trials.push_back({shape, {neighbours, words, halo_work::kind::none, 0, false}});
      }
    }
  }
  std::vector<tuned_halo> found;
  for (size_t i = 0; i < trials.size(); ++i) {
    const auto& [shape, problem] = trials[i];
    tried(static_cast<double>(i) / static_cast<double>(trials.size()),
          fmt::format("halos of {} blocks x {} threads, {} neighbours, {} words", shape.blocks, shape.threads,
                      problem.neighbours, problem.words));
    const auto exchange = kept_if_stuck(side->exchanging(problem));
    tuned_halo one = measure_both(*exchange, request, shape);
    if (one.by_words == 0 || one.by_flags == 0) continue;
    one.blocks = shape.blocks;
    one.slots = problem.neighbours;
    one.words = problem.words;
    one.threads = shape.threads;
    found.push_back(one);
  }
  if (found.empty()) throw runtime_failure("No exchange could be measured in both forms.", 0);
  return found;
}

std::string halo_lines(const halo_rule& rule, const std::vector<tuned_halo>& found) {
  std::ostringstream lines;
  lines << "# polled bytes, words a thread: us by words, by flags\n";
  for (const tuned_halo& one : found) {
    lines << fmt::format("# {}, {}: {}, {}\n", one.polled_bytes(), one.words_a_thread(), figure(one.by_words),
                         figure(one.by_flags));
  }
  lines << fmt::format("# the worst choice of this rule is {:.3f} times the better form\n", worst_of(rule, found));
  rule.write_rule(lines);
  return lines.str();
}

}  // namespace gpusync::tool
