// Experiment pace-model on documents whose counters follow known laws.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/answers.hpp"
#include "harness/experiment.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "results/json.hpp"
#include "results/metrics.hpp"
#include "usage_error.hpp"

namespace gpusync::tool::made_up_counters {
namespace {

constexpr double alpha = 839, beta = 3949, gamma_of_misses = 13185;

row counted(const std::string& method, double accesses, double l1, double l2, bool sectors) {
  row entry;
  entry.experiment = "pace-counters";
  entry.device = "cuda:0";
  entry.method = method;
  entry.axes = {{"workload", "column-walk"}, {"shape", "264x1024"}, {"l1", "small"}};
  const double clocks = alpha + (1 - l1) * beta + (1 - l1) * (1 - l2) * gamma_of_misses;
  entry.metrics = {{"l1_hits", plain_metric(l1, "1", 1)}, {"cycles_per_iteration", plain_metric(clocks, "cycles", 1)}};
  if (sectors) {
    entry.metrics.emplace_back("l2_hits", plain_metric(0.99, "1", 1));  // of writes too: not what is asked for
    entry.metrics.emplace_back("l2_sectors", plain_metric(1000, "1", 1));
    entry.metrics.emplace_back("l2_sectors_hit", plain_metric(1000 * l2, "1", 1));
  } else {
    entry.metrics.emplace_back("l2_hits", plain_metric(l2, "1", 1));
  }
  if (accesses > 0) entry.metrics.emplace_back("accesses", plain_metric(accesses, "1", 1));
  return entry;
}

/// Hits that fall off as a random walk's, at the intervals that column-walk has.
document walk(bool sectors = true) {
  document made;
  made.context = json{{"devices", {{{"id", "cuda:0"}, {"name", "NVIDIA H200"}}}}};
  const auto hits = [](double accesses) { return 0.9 * std::exp(-0.05 * std::sqrt(accesses)); };
  double l2 = 0.9;
  for (const int every : {1, 16, 64, 256}) {
    made.rows.push_back(counted("block-" + std::to_string(every), 4 * every, hits(4 * every), l2, sectors));
    made.rows.push_back(counted("control-" + std::to_string(every), 0, 0.5, 0.5, sectors));  // other code
    l2 = every % 3 == 1 ? 0.1 + 0.2 * l2 : 0.8;
  }
  made.rows.push_back(counted("none", 0, 0.13, 0.4, sectors));
  return made;
}

class PaceModelFits : public testing::Test {
 protected:
  std::string written(const document& what) {
    path_ = (std::filesystem::temp_directory_path() / ("pace_counters_" + std::to_string(getpid()) + ".json")).string();
    std::ofstream(path_) << to_json_text(what);
    return path_;
  }
  void TearDown() override {
    if (!path_.empty()) std::filesystem::remove(path_);
  }

  static document fitted(const std::vector<std::string>& files) {
    experiment_request request;
    request.device.id = "host";
    if (!files.empty()) request.axes.words["from"] = files;
    const experiment& what = find_experiment("pace-model");
    what.request.check(request);
    document results;
    experiment_sink sink;
    sink.add = [&](row entry, bool) { results.rows.push_back(std::move(entry)); };
    sink.progress = [](double, const std::string&) {};
    sink.interrupted = [] { return false; };
    what.run(request, sink);
    return results;
  }

 private:
  std::string path_;
};

double value(const row& entry, const char* metric) {
  return value_of(entry, metric).value_or(NAN);
}

TEST_F(PaceModelFits, FindTheLawsThatTheCountersFollow) {
  for (const bool sectors : {true, false}) {
    const document results = fitted({written(walk(sectors))});
    ASSERT_EQ(results.rows.size(), 4u);
    const row &one = results.rows[0], &two = results.rows[1], &decay = results.rows[2], &drift = results.rows[3];
    EXPECT_EQ(two.method, "two-levels");
    EXPECT_NEAR(value(two, "alpha"), alpha, 1e-3);
    EXPECT_NEAR(value(two, "beta"), beta, 1e-3);
    EXPECT_NEAR(value(two, "gamma"), gamma_of_misses, 1e-3);
    EXPECT_EQ(two.find_metric("alpha")->n, 5u) << "controls are left out";
    ASSERT_TRUE(two.find_metric("alpha")->stddev);
    EXPECT_NEAR(*two.find_metric("alpha")->stddev, 0, 1e-3);
    EXPECT_LT(value(one, "r_squared"), 0.95);
    EXPECT_NE(one.verification->find("does not fit"), std::string::npos) << *one.verification;
    EXPECT_NE(two.verification->find(": fits"), std::string::npos) << *two.verification;
    EXPECT_EQ(decay.method, "equation-4");
    EXPECT_LT(value(decay, "r_squared"), 0.95);
    EXPECT_NE(decay.verification->find("does not fit"), std::string::npos) << *decay.verification;
    EXPECT_NEAR(value(drift, "rate"), 0.05, 1e-9);
    EXPECT_NEAR(value(drift, "at_zero"), 0.9, 1e-9);
    EXPECT_EQ(drift.axes.front().second, axis_value(std::string("NVIDIA H200")));
    ASSERT_EQ(answers(results).size(), 1u);
    EXPECT_EQ(answers(results)[0].rfind("Of the fall of hits equation 4 explains 0.", 0), 0u) << answers(results)[0];
  }
}

TEST_F(PaceModelFits, SayWhatIsWanting) {
  const document nothing = fitted({});
  ASSERT_EQ(nothing.rows.size(), 1u);
  EXPECT_EQ(nothing.rows[0].status, row_status::skipped);
  document others = walk();
  for (row& entry : others.rows) entry.axes[0].second = std::string("transpose");
  EXPECT_THROW((void)fitted({written(others)}), usage_error);
  document few = walk();
  few.rows.resize(1);
  const document results = fitted({written(few)});
  ASSERT_EQ(results.rows.size(), 4u);
  for (const row& entry : results.rows) EXPECT_EQ(entry.status, row_status::skipped) << entry.method;
}

}  // namespace
}  // namespace gpusync::tool::made_up_counters
