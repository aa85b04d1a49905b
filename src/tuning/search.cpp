#include "tuning/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/comparison.hpp"

namespace gpusync::tool {

namespace {

constexpr uint32_t warp = 32;
constexpr uint32_t any = grid::counter_rules::any;

uint16_t narrow(uint32_t value) {
  return static_cast<uint16_t>(value);
}

}  // namespace

double plan_cost::score() const {
  return std::sqrt(idle * stores);
}

std::vector<grid::counter_plan> coarse_plans(const step_shape& shape, uint32_t sm_count, bool has_partitions) {
  const uint32_t per_sm = (shape.blocks + sm_count - 1) / sm_count;
  const uint32_t most_counters = per_sm <= 1 ? 1 : per_sm <= 2 ? 2 : 4;
  const uint32_t most_copies = per_sm <= 1 ? 1 : 2;
  std::vector<grid::counter_plan> plans;
  for (uint32_t partitions = has_partitions ? 2 : 1; partitions <= 2; ++partitions) {
    for (uint32_t counters = 1; counters <= most_counters; counters *= 2) {
      for (uint32_t copies = 1; copies <= most_copies; copies *= 2) {
        for (uint32_t second = 0; second <= (per_sm == 1 && shape.threads > warp ? 1u : 0u); ++second) {
          for (const uint32_t poll_backoff : {0u, 100u, 200u, 300u, 400u, 500u}) {
            plans.push_back({narrow(counters), narrow(copies), narrow(partitions), narrow(second), poll_backoff});
          }
        }
      }
    }
  }
  return plans;
}

std::vector<planned> search_plan(const step_shape& shape, uint32_t sm_count, bool has_partitions,
                                 const cost_of_plan& cost, const std::function<void(size_t, size_t)>& tried) {
  constexpr size_t refined = 4;
  const std::vector<uint32_t> steps = {50, 25};
  std::vector<grid::counter_plan> plans = coarse_plans(shape, sm_count, has_partitions);
  const size_t estimate = plans.size() + refined * 2 * steps.size();
  std::vector<planned> results;
  const auto known = [&](const grid::counter_plan& plan) {
    return std::any_of(results.begin(), results.end(), [&](const planned& one) { return one.plan == plan; });
  };
  const auto measure = [&](const grid::counter_plan& plan) {
    if (known(plan)) return;
    results.push_back({plan, cost(plan, shape)});
    tried(std::min(results.size(), estimate), estimate);
  };
  const auto sort = [&] {
    std::stable_sort(results.begin(), results.end(),
                     [](const planned& a, const planned& b) { return a.cost.score() < b.cost.score(); });
  };
  for (const grid::counter_plan& plan : plans) measure(plan);
  for (const uint32_t step : steps) {
    sort();
    const std::vector<planned> best(results.begin(),
                                    results.begin() + static_cast<long>(std::min(refined, results.size())));
    for (const planned& one : best) {
      grid::counter_plan plan = one.plan;
      plan.poll_backoff = one.plan.poll_backoff + step;
      measure(plan);
      if (one.plan.poll_backoff >= step) {
        plan.poll_backoff = one.plan.poll_backoff - step;
        measure(plan);
      }
    }
  }
  sort();
  return results;
}

planned confirm_best(const std::vector<planned>& found, const step_shape& shape, const cost_of_plan& cost,
                     size_t finalists, size_t times) {
  finalists = std::min(finalists, found.size());
  std::vector<candidate> candidates;
  for (size_t i = 0; i < finalists; ++i) {
    const auto again = [&, i]() -> turn_samples {
      const plan_cost measured = cost(found[i].plan, shape);
      return {{"idle", measured.idle}, {"stores", measured.stores}};
    };
    candidates.push_back({again, [] {}});  // the search has warmed it up
  }
  stop_rule rule;
  rule.min_samples = rule.max_samples = times;
  rule.budget_ns = std::numeric_limits<double>::infinity();
  const std::vector<compared> results = compare(candidates, {rule});
  planned best{};
  for (size_t i = 0; i < finalists; ++i) {
    if (results[i].failure) std::rethrow_exception(results[i].failure);
    std::vector<double> idle = results[i].of("idle"), stores = results[i].of("stores");
    idle.push_back(found[i].cost.idle);
    stores.push_back(found[i].cost.stores);
    const planned one{found[i].plan, {summarize(idle).median, summarize(stores).median}};
    if (i == 0 || one.cost.score() < best.cost.score()) best = one;
  }
  return best;
}

std::vector<tuning_class> tuning_classes(uint32_t sm_count, uint32_t threads_per_sm) {
  std::vector<tuning_class> classes;
  constexpr uint32_t unit = grid::counter_rule::unit;
  for (const uint32_t quarters : {1u, 2u, unit, 2 * unit, 4 * unit, 8 * unit}) {
    const uint32_t blocks = sm_count * quarters / unit;
    if (blocks == 0) continue;
    for (const uint32_t threads : {warp, 256u, 1024u}) {
      const auto fits = [&](uint32_t size) {
        return size <= 1024 && (quarters + unit - 1) / unit * size <= threads_per_sm &&
               (size <= 256 || quarters >= unit);
      };
      if (!fits(threads)) continue;
      const uint32_t limit = threads == warp ? warp : fits(4 * threads) ? 512 : any;
      classes.push_back({{blocks, threads, false}, quarters == 8 * unit ? any : quarters, limit});
    }
  }
  if (!classes.empty()) classes.back().blocks_per_sm = classes.back().threads = any;
  return classes;
}

}  // namespace gpusync::tool
