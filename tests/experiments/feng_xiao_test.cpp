// The figures of Feng and Xiao 2010, and the parts of a barrier drawn from figures, theirs or ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "experiments/feng_xiao_2010/decomposition_rows.hpp"
#include "harness/published.hpp"
#include "measure/repeat_difference.hpp"
#include "models/decomposition.hpp"
#include "models/fits.hpp"
#include "results/groups.hpp"

namespace gpusync::tool {
namespace {

const row& find(const std::vector<row>& rows, const std::string& method, const std::string& time_of,
                std::optional<int64_t> blocks) {
  for (const row& entry : rows) {
    const bool same = std::ranges::any_of(
        entry.axes, [&](const auto& axis) { return axis.first == "time_of" && axis.second == axis_value(time_of); });
    if (entry.method == method && same && axis_number(entry.axes, "blocks") == blocks) return entry;
  }
  throw std::logic_error("no row of " + method);
}

double figure(const row& entry, const std::string& metric) {
  return value_of(entry, metric).value();
}

double printed(const std::string& experiment, const std::string& method, const std::string& metric) {
  for (const row& entry : published_rows(paper::feng_xiao_2010, experiment)) {
    if (entry.method == method && entry.find_metric(metric) != nullptr) return figure(entry, metric);
  }
  throw std::logic_error("nothing printed of " + method);
}

TEST(FengXiao2010, PublishedFiguresAreThoseOfTheText) {
  EXPECT_EQ(published_rows(paper::feng_xiao_2010, "cost-decomposition").size(), 5u);
  EXPECT_EQ(printed("cost-decomposition", "published-ts-block-barriers", "intercept"), 0.541);
  EXPECT_EQ(printed("cost-decomposition", "published-ta-atomic-add", "time_per_block"), 2.300);
  EXPECT_EQ(printed("cost-decomposition", "published-tc-check", "intercept"), 5.564);
  EXPECT_EQ(printed("cost-decomposition", "published-tf-fence", "time_per_block"), 0.333);
  EXPECT_EQ(printed("cost-decomposition", "published-tf-fence", "intercept"), 7.267);
  for (const auto& [experiment, based, free, fenced, based_below, free_below] :
       {std::tuple{"smith-waterman", 11.70, 25.47, -23.14, 17, 19}, {"bitonic-sort", 16.64, 40.39, -100.70, 13, 13}}) {
    EXPECT_EQ(published_rows(paper::feng_xiao_2010, experiment).size(), 5u);
    EXPECT_EQ(printed(experiment, "published-lock-based-none", "improvement_over_relaunch"), based);
    EXPECT_EQ(printed(experiment, "published-lock-free-none", "improvement_over_relaunch"), free);
    EXPECT_EQ(printed(experiment, "published-grid-barrier-fence", "improvement_over_relaunch"), fenced);
    EXPECT_EQ(printed(experiment, "published-lock-based-fence", "faster_until"), based_below);
    EXPECT_EQ(printed(experiment, "published-lock-free-fence", "faster_until"), free_below);
  }
}

// 75.1 ms and 92.4 ms for 10,000 calls at 30 blocks; here microseconds for each call.
TEST(FengXiao2010, PublishedConstantsAddUpToTheBarriersAt30Blocks) {
  const std::vector<row> rows = published_decomposition();
  const auto sum = [&](const char* method, int64_t blocks) {
    return figure(find(rows, method, time_of_sums, blocks), "synchronization_time");
  };
  EXPECT_NEAR(sum("published-lock-based-none", 30), 7.5105, 1e-9);
  EXPECT_NEAR(sum("published-lock-based-fence", 30), 9.2362, 1e-9);
  EXPECT_NEAR(sum("published-lock-based-none", 1), 0.8405, 1e-9);
  EXPECT_NEAR(sum("published-lock-based-fence", 1), 1.6005, 1e-9);
  EXPECT_THROW(sum("published-lock-based-acquire-release", 30), std::logic_error) << "there was none in 2010";
}

TEST(FengXiao2010, PublishedLinesAreInMicrosecondsForEachCall) {
  const std::vector<row> rows = published_decomposition();
  const row& fence = find(rows, "published-tf-fence", time_of_parts, std::nullopt);
  EXPECT_NEAR(figure(fence, "time_per_block"), 0.0333, 1e-12);
  EXPECT_NEAR(figure(fence, "intercept"), 0.7267, 1e-12);
  EXPECT_NEAR(figure(find(rows, "published-tf-fence", time_of_parts, 30), "part_time"), 1.7257, 1e-12);
  EXPECT_NEAR(figure(find(rows, "published-ta-atomic-add", time_of_parts, 30), "part_time"), 6.9, 1e-12);
  EXPECT_NEAR(figure(find(rows, "published-ts-block-barriers", time_of_parts, 30), "part_time"), 0.0541, 1e-12);
  for (const row& entry : rows) {
    EXPECT_EQ(entry.device, "published: GeForce GTX 280");
    EXPECT_TRUE(is_published(entry));
    EXPECT_FALSE(is_contender(entry));
    EXPECT_FALSE(entry.verified);
    EXPECT_NE(entry.verification->find("not checked: "), std::string::npos) << *entry.verification;
    EXPECT_EQ(entry.metrics.front().second.n, 3u);
  }
}

/// A result whose rounds took these microseconds.
method_result measured(const std::string& method, int64_t blocks, std::vector<double> rounds) {
  method_result result;
  result.method.name = method;
  result.method.ordered = !method.ends_with("-none");
  result.entry.experiment = "cost-decomposition";
  result.entry.device = "cuda:0";
  result.entry.axes = {{"blocks", blocks},
                       {"threads", int64_t{256}},
                       {"stores", int64_t{1}},
                       {"time_of", std::string(time_of_variants)}};
  result.entry.method = method;
  result.entry.kind = method == "no-barrier" ? method_kind::floor : method_kind::barrier;
  result.entry.ordered = result.method.ordered;
  result.entry.metrics = {{"variant_time", {}}};
  result.entry.metrics[0].second.value = summarize(rounds).median;
  result.entry.verified = true;
  for (double& time : rounds) time *= 1e3;  // nanoseconds
  result.figures.samples[step_sample] = std::move(rounds);
  return result;
}

/// The five programs of a device with the paper's constants, and a clock that drifts from round to round.
std::vector<method_result> gtx_280(int64_t blocks) {
  const auto n = static_cast<double>(blocks);
  const double work = 0.3, atomic_add = 0.23 * n, unfenced = work + 0.0541 + atomic_add + 0.5564;
  std::vector<method_result> results;
  for (const auto& [method, time] :
       std::initializer_list<std::pair<const char*, double>>{{"no-barrier", work},
                                                             {"atomic-awaited", atomic_add},
                                                             {"block-barriers", work + 0.0541},
                                                             {"lock-based-none", unfenced},
                                                             {"lock-based-fence", unfenced + 0.0333 * n + 0.7267}}) {
    std::vector<double> rounds;
    for (int round = 0; round < 7; ++round) rounds.push_back(time * (1 + 0.001 * (round - 3)));
    results.push_back(measured(method, blocks, rounds));
  }
  return results;
}

struct sweep {
  std::vector<row> variants, parts;
};

sweep sweep_of(const std::vector<int64_t>& all) {
  sweep made;
  for (const int64_t blocks : all) {
    const auto results = gtx_280(blocks);
    for (const method_result& result : results) made.variants.push_back(result.entry);
    for (const row& entry : part_rows(results, false)) made.parts.push_back(entry);
  }
  return made;
}

TEST(CostDecomposition, FindsThePapersConstantsAgain) {
  const sweep measurements = sweep_of({1, 8, 30});
  const row& check = find(measurements.parts, "tc-check", time_of_parts, 8);
  EXPECT_NEAR(figure(check, "part_time"), 0.5564, 1e-9);
  EXPECT_NEAR(*check.metrics[0].second.stddev, 0.5564 * 0.00216, 1e-5) << "the drift of a difference, not of its parts";
  EXPECT_EQ(check.metrics[0].second.n, 7u);
  EXPECT_FALSE(check.verified);
  EXPECT_EQ(*check.verification,
            "not checked by itself: lock-based-none - block-barriers - atomic-awaited in each round of the runs that "
            "were");

  const std::vector<row> fits = part_fits(measurements.parts);
  EXPECT_EQ(fits.size(), 5u) << "the four parts and the work; today's were not measured";
  const row& fence = find(fits, "tf-fence", time_of_parts, std::nullopt);
  EXPECT_NEAR(figure(fence, "time_per_block"), 0.0333, 1e-9);
  EXPECT_NEAR(figure(fence, "intercept"), 0.7267, 1e-9);
  EXPECT_NEAR(figure(fence, "r_squared"), 1, 1e-9);
  EXPECT_NEAR(*fence.find_metric("time_per_block")->stddev, 0, 1e-9);
  EXPECT_EQ(axis_number(fence.axes, "threads"), 256);

  const std::vector<row> sums = sum_rows(measurements.variants, measurements.parts);
  EXPECT_EQ(sums.size(), 6u);
  const row& unfenced = find(sums, "lock-based-none", time_of_sums, 30);
  EXPECT_NEAR(figure(unfenced, "synchronization_time"), 7.5105, 1e-9);
  EXPECT_NEAR(figure(unfenced, "predicted_time"), 7.8105, 1e-9);
  EXPECT_NEAR(figure(unfenced, "measured_time"), 7.8105, 1e-9);
  EXPECT_NEAR(figure(unfenced, "relative_error"), 0, 1e-9);
  EXPECT_NEAR(figure(find(sums, "lock-based-fence", time_of_sums, 30), "synchronization_time"), 9.2362, 1e-9);
}

TEST(CostDecomposition, ASumSaysHowFarABarrierIsFromALine) {
  sweep measurements = sweep_of({1, 2, 3});
  for (row& entry : measurements.variants) {
    const bool last = axis_number(entry.axes, "blocks") == 3;
    if (entry.method == "lock-based-none" && last) *entry.metrics[0].second.value *= 2;
  }
  const std::vector<row> sums = sum_rows(measurements.variants, measurements.parts);
  EXPECT_NEAR(figure(find(sums, "lock-based-none", time_of_sums, 3), "relative_error"), -0.5, 1e-9);
  EXPECT_NEAR(figure(find(sums, "lock-based-none", time_of_sums, 2), "relative_error"), 0, 1e-9);
}

TEST(CostDecomposition, ASumStandsBesideTimesThatMayBeUsedOnly) {
  sweep measurements = sweep_of({1, 2, 3});
  for (row& entry : measurements.variants) {
    if (entry.method.rfind("lock-based", 0) != 0) continue;
    entry.verified = false;
    entry.status = row_status::failed;
  }
  const std::vector<row> sums = sum_rows(measurements.variants, measurements.parts);
  EXPECT_EQ(sums.size(), 3u);
  for (const row& entry : sums) {
    EXPECT_EQ(entry.method, "lock-based-none") << "it claims to order nothing; the other one is broken";
  }
}

TEST(CostDecomposition, StaleWordsAreNoReasonToDoubtATimeButFailuresAre) {
  auto results = gtx_280(30);
  method_result& unfenced = results[3];
  unfenced.entry.verified = false;
  unfenced.entry.status = row_status::failed;
  method_result& fenced = results[4];
  fenced.entry.verified = false;
  fenced.entry.status = row_status::failed;
  fenced.entry.reason = "Wrong results.";
  const std::vector<row> parts = part_rows(results, false);
  const row& check = find(parts, "tc-check", time_of_parts, 30);
  EXPECT_EQ(check.status, row_status::ok);
  EXPECT_NE(check.verification->find("lock-based-none orders no data and read stale words"), std::string::npos);
  const row& fence = find(parts, "tf-fence", time_of_parts, 30);
  EXPECT_EQ(fence.status, row_status::skipped);
  EXPECT_EQ(*fence.reason, "It needs the time of lock-based-fence, which there is not: Wrong results.");
  EXPECT_FALSE(value_of(fence, "part_time"));
}

TEST(CostDecomposition, PartsOfProgramsThatWereNotChosenAreLeftOut) {
  auto results = gtx_280(30);
  results.erase(results.begin() + 1);  // atomic-awaited
  std::set<std::string> names;
  for (const row& entry : part_rows(results, false)) names.insert(entry.method);
  EXPECT_EQ(names, (std::set<std::string>{"tcom-work", "ts-block-barriers", "tf-fence"}));
  EXPECT_TRUE(part_rows({}, false).empty());
}

TEST(CostDecomposition, OneRoundSaysNothingOfScatterAndOnePointIsNoLine) {
  std::vector<method_result> results{measured("no-barrier", 4, {1}), measured("block-barriers", 4, {1.5, 1.6})};
  const std::vector<row> parts = part_rows(results, true);
  const metric& time = find(parts, "ts-block-barriers", time_of_parts, 4).metrics[0].second;
  EXPECT_NEAR(*time.value, 0.5, 1e-12);
  EXPECT_EQ(time.n, 1u);
  EXPECT_FALSE(time.stddev);
  ASSERT_TRUE(time.samples);
  EXPECT_EQ(time.samples->size(), 1u);
  const std::vector<row> fits = part_fits(parts);
  EXPECT_EQ(fits.front().status, row_status::skipped);
  EXPECT_TRUE(sum_rows({results[0].entry, results[1].entry}, parts).empty());
}

TEST(CostDecomposition, IsDrawnFromProgramsAndPartsThatThereAre) {
  std::set<std::string> programs, parts;
  for (const step_method& method : open_workload("barrier-parts", find_device("host"))->methods()) {
    programs.insert(method.name);
  }
  for (const decomposed_part& part : decomposed_parts()) {
    EXPECT_TRUE(parts.insert(part.name).second) << part.name;
    for (const cost_term& term : part.formula) EXPECT_TRUE(programs.contains(term.program)) << term.program;
  }
  for (const decomposed_barrier& barrier : decomposed_barriers()) {
    EXPECT_TRUE(programs.contains(barrier.method)) << barrier.method;
    for (const std::string& part : barrier.parts) EXPECT_TRUE(parts.contains(part)) << part;
  }
}

/// What is left of a barrier when its parts are taken off is what the sum of these leaves unexplained.
TEST(CostDecomposition, TheRestAndThePartsOfToday) {
  program_rounds rounds{{"block-barriers", {1}},   {"release-by-one", {4}},   {"relaxed-load", {2}},
                        {"acquire-load", {2.5}},   {"lock-based-none", {10}}, {"lock-based-acquire-release", {14}},
                        {"atomic-unawaited", {7}}, {"fence-by-all", {6}}};
  std::map<std::string, double> expected{{"release-of-one", 3},  {"load", 1},          {"l1-invalidation", 0.5},
                                         {"release-acquire", 4}, {"unawaited-add", 7}, {"release-acquire-rest", 0.5},
                                         {"fence-of-all", 5}};
  for (const decomposed_part& part : decomposed_parts()) {
    if (!expected.contains(part.name)) continue;
    EXPECT_EQ(by_round(part.formula, rounds), std::vector<double>{expected[part.name]}) << part.name;
    expected.erase(part.name);
  }
  EXPECT_TRUE(expected.empty());
}

}  // namespace
}  // namespace gpusync::tool
