// What the experiments on Lo et al.'s (2014) loops make of what a device has measured, by a device made up.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/lo_2014/paced_code.hpp"
#include "experiments/lo_2014/paced_rows.hpp"
#include "harness/answers.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"

namespace gpusync::tool::paced_loops {
namespace {

/// A column walk in which a fence for the compiler gains 10 % and the barrier 20 %; lead1-4 takes a block off each
/// multiprocessor, and fence-1 computes a wrong word now and then.
class made_up_walk : public paced_program {
 public:
  static std::vector<paced_variant> all() {
    return {{"none", "none", 1, paced_role::plain},         {"control-1", "control", 1, paced_role::control},
            {"block-1", "block", 1, paced_role::paced},     {"control-4", "control", 4, paced_role::control},
            {"block-4", "block", 4, paced_role::paced},     {"lead1-4", "lead", 4, paced_role::paced},
            {"fence-1", "fence", 1, paced_role::effect},    {"block-1000", "block", 1000, paced_role::paced},
            {"tiled", "another cure", 1, paced_role::rival}};
  }

  std::vector<paced_variant> variants() const override { return all(); }
  std::vector<paced_variant> clocked() const override {
    return {{"none-1", "none", 1, paced_role::plain}, {"block-1", "block", 1, paced_role::paced}};
  }
  uint64_t trips() const override { return 100; }
  uint64_t bytes() const override { return 1'000'000; }
  paced_resources resources(const paced_variant& which) override {
    const bool other = which.name == "lead1-4" || which.name == "tiled";
    return {32, other ? 16 : 0, other ? 7 : 8, 4};
  }
  double run(const paced_variant& which) override {
    ++runs_;
    const double drift = 1 + 0.001 * (runs_ % 5);
    const std::map<std::string, double> times{{"none", 1e6},      {"control-1", 0.9e6}, {"block-1", 0.8e6},
                                              {"control-4", 1e6}, {"block-4", 0.95e6},  {"fence-1", 2e6},
                                              {"tiled", 0.1e6}};
    return times.at(which.name) * drift;
  }
  paced_clocks run_clocked(const paced_variant& which) override {
    if (which.name == "none-1") return {"cycles", 1000, 0, 0, 100, 0.73};
    return {"cycles", 700, 330, 0, 100, 0.94};
  }
  verification verify(const paced_variant& which, bool) const override {
    return {true, 100, which.name == "fence-1" ? 1u : 0u, "made up"};
  }

 private:
  int runs_ = 0;
};

class made_up_walks : public paced_device {
 public:
  std::vector<paced_variant> variants() const override { return made_up_walk::all(); }
  std::unique_ptr<paced_program> program(const paced_problem& problem) override {
    if (problem.elements > 1000) throw invalid_argument("It needs more memory than there is.");
    return std::make_unique<made_up_walk>();
  }
};

// Nothing else has such a side on OpenCL devices.
constexpr auto here = device_kind::opencl;
const register_side<paced_device> walks(here, make_side<made_up_walks>, "column-walk");

struct measured_document {
  document results;
  uint64_t failures = 0;
};

measured_document measured(const std::vector<std::string>& parts, const std::vector<std::string>& methods = {},
                           std::vector<int64_t> rows = {64}) {
  measured_document found;
  experiment_request request;
  request.device.id = "opencl:0";
  request.device.kind = here;
  request.quick = true;
  request.axes.words["part"] = parts;
  if (!methods.empty()) request.axes.words["method"] = methods;
  request.axes.numbers["rows"] = std::move(rows);
  experiment_sink sink;
  sink.add = [&](row entry, bool claims) {
    found.failures += claims && entry.status == row_status::failed ? 1 : 0;
    found.results.rows.push_back(std::move(entry));
  };
  sink.progress = [](double fraction, const std::string&) {
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
  };
  sink.interrupted = [] { return false; };
  find_experiment("column-walk").run(request, sink);
  return found;
}

const row& row_of(const measured_document& found, const std::string& method, const std::string& part = "time") {
  for (const row& entry : found.results.rows) {
    const bool is_part = !entry.axes.empty() && entry.axes.back().second == axis_value(part);
    if (entry.method == method && is_part) return entry;
  }
  ADD_FAILURE() << "no row of " << method;
  static const row none;
  return none;
}

double value(const row& entry, const char* metric) {
  return value_of(entry, metric).value_or(NAN);
}

TEST(PacedRows, TellTheBarriersGainFromTheCompilers) {
  const measured_document found = measured({"time"});
  const row& block = row_of(found, "block-1");
  EXPECT_NEAR(value(block, "kernel_time"), 0.8, 0.01);
  EXPECT_NEAR(value(block, "rho_none"), 20, 0.5) << "the paper's figure";
  EXPECT_NEAR(value(block, "rho"), 11.1, 0.5) << "against the fastest that waits for nothing";
  EXPECT_NEAR(value(block, "rho_control"), 11.1, 0.5);
  EXPECT_NEAR(value(block, "compiler_share"), 10, 0.5);
  EXPECT_NEAR(value(block, "bandwidth"), 1.25, 0.01);
  EXPECT_EQ(block.find_metric("rho")->unit, "%");
  EXPECT_TRUE(block.find_metric("rho")->bounds);
  EXPECT_FALSE(block.kind) << "a paced loop is no way to wait";
  EXPECT_EQ(block.items, (std::vector<std::string>{"L1", "L17"}));
  EXPECT_EQ(row_of(found, "none").find_metric("rho"), nullptr);
  EXPECT_EQ(row_of(found, "none").find_metric("compiler_share"), nullptr);
  EXPECT_NEAR(value(row_of(found, "control-1"), "compiler_share"), 10, 0.5);
  EXPECT_EQ(row_of(found, "control-1").find_metric("rho"), nullptr);
}

TEST(PacedRows, AGainOverTheLoopAloneMayBeALoss) {
  const measured_document found = measured({"time"});
  const row& block = row_of(found, "block-4");
  EXPECT_NEAR(value(block, "rho_none"), 5, 0.5);
  EXPECT_NEAR(value(block, "rho_control"), 5, 0.5);
  EXPECT_LT(value(block, "rho"), -5) << "another interval's fence for the compiler is faster";
}

TEST(PacedRows, RefuseWhatIsNotTheSameButForItsPace) {
  const measured_document found = measured({"time"});
  const row& lead = row_of(found, "lead1-4");
  EXPECT_EQ(lead.status, row_status::skipped);
  EXPECT_NE(lead.reason.value().find("7 of its blocks run on a multiprocessor"), std::string::npos);
  EXPECT_EQ(lead.find_metric("rho"), nullptr);
  EXPECT_EQ(value(lead, "resident_blocks"), 7) << "and say what it takes";
  const row& rare = row_of(found, "block-1000");
  EXPECT_EQ(rare.status, row_status::skipped);
  EXPECT_EQ(rare.reason, "Its loop has 100 iterations: no visit behind each 1000.");
  const row& tiled = row_of(found, "tiled");
  EXPECT_EQ(tiled.status, row_status::ok) << "another cure may take what it likes";
  EXPECT_GT(value(tiled, "rho"), 85);
}

TEST(PacedRows, AWrongWordFailsTheRow) {
  const measured_document found = measured({"time"});
  EXPECT_EQ(row_of(found, "fence-1").status, row_status::failed);
  EXPECT_EQ(row_of(found, "fence-1").find_metric("rho"), nullptr);
  EXPECT_EQ(found.failures, 1u);
}

TEST(PacedRows, AProblemThatDoesNotFitIsSkippedInWords) {
  const measured_document found = measured({"time"}, {}, {2000});
  EXPECT_EQ(row_of(found, "none").status, row_status::skipped);
  EXPECT_EQ(row_of(found, "none").reason, "It needs more memory than there is.");
  EXPECT_EQ(found.failures, 0u);
}

TEST(PacedRows, AlwaysHaveWhatAVariantIsComparedWith) {
  const measured_document found = measured({"time"}, {"block-1"});
  std::vector<std::string> methods;
  for (const row& entry : found.results.rows) methods.push_back(entry.method);
  EXPECT_EQ(methods, (std::vector<std::string>{"none", "control-1", "block-1"}));
}

TEST(PacedRows, PredictFromClocksAndSayWhetherTheSignWasRight) {
  const measured_document found = measured({"time", "clocks"});
  const row& block = row_of(found, "block-1", "clocks");
  EXPECT_EQ(value(block, "memory"), 700);
  EXPECT_EQ(value(block, "accumulation"), 1030);
  EXPECT_NEAR(value(block, "barrier_per_visit"), 3.3, 1e-9);
  EXPECT_NEAR(value(block, "predicted_rho"), -3, 1e-9);
  EXPECT_NEAR(value(block, "predicted_rho_lifetime"), 20, 0.1);
  EXPECT_NEAR(value(block, "measured_rho"), 20, 0.5);
  EXPECT_EQ(value(block, "sign_right"), 0) << "the mean warp does not know the tail";
  EXPECT_EQ(row_of(found, "none-1", "clocks").find_metric("predicted_rho"), nullptr);
}

TEST(PacedRows, MachineCodeThatCannotBeReadIsSaid) {
  const measured_document found = measured({"code"});
  EXPECT_EQ(row_of(found, "machine-code", "code").status, row_status::skipped);
}

TEST(PacedCode, CountsWhatABarrierAdds) {
  const counted_code found = count_code(
      {"LDG.E", "LDG.E.64", "BAR.SYNC.DEFER_BLOCKING", "BAR.ARV", "MEMBAR.SC.GPU", "IADD3", "EXIT", "NOP", "NOP"});
  EXPECT_EQ(found.instructions, 7u);
  EXPECT_EQ(found.barriers, 2u);
  EXPECT_EQ(found.arrivals, 1u);
  EXPECT_EQ(found.fences, 1u);
  EXPECT_EQ(found.loads, 2u);
}

TEST(PacedAnswer, SaysWhetherABarrierGains) {
  const measured_document found = measured({"time"});
  const std::vector<std::string> said = answers(found.results);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said.front().find("Pacing by block-1 gains 11"), 0u) << said.front();
}

TEST(RhoMetrics, AreTakenRoundByRoundAgainstTheFastestThatWaitsForNothing) {
  const std::vector<paced_samples> all{{"none", 1, paced_role::plain, {100, 200, 100, 100, 100, 100, 100}},
                                       {"control-1", 1, paced_role::control, {80, 160, 80, 80, 80, 80, 80}},
                                       {"block-1", 1, paced_role::paced, {72, 144, 72, 72, 72, 72, 72}},
                                       {"arrive-1", 1, paced_role::effect, {10, 20, 10, 10, 10, 10, 10}}};
  const auto metrics = rho_metrics(all, 2);
  ASSERT_EQ(metrics.size(), 4u);
  EXPECT_EQ(metrics[0].first, "rho");
  EXPECT_NEAR(*metrics[0].second.value, 10, 1e-9) << "an effect alone is never what others are compared with";
  EXPECT_NEAR(metrics[0].second.bounds->low, 10, 1e-9) << "what drifts from round to round is in both";
  EXPECT_NEAR(*metrics[1].second.value, 28, 1e-9);
  EXPECT_NEAR(*metrics[3].second.value, 20, 1e-9);
  EXPECT_TRUE(rho_metrics(all, 0).empty());
  std::vector<paced_samples> failed = all;
  failed[0].times.clear();
  failed[1].times.clear();
  EXPECT_TRUE(rho_metrics(failed, 2).empty()) << "with nothing to compare it with";
  std::vector<paced_samples> uncontrolled = all;
  uncontrolled.erase(uncontrolled.begin() + 1);
  const auto alone = rho_metrics(uncontrolled, 1);
  ASSERT_EQ(alone.size(), 1u) << "without a control nobody can say what is waiting's doing";
  EXPECT_EQ(alone.front().first, "rho_none");
}

TEST(RhoMetrics, OfLeadsAreAgainstWhatOnlyCountsToo) {
  const std::vector<paced_samples> all{{"none", 4, paced_role::plain, {100, 100, 100, 100, 100, 100, 100}},
                                       {"control-4", 4, paced_role::control, {98, 98, 98, 98, 98, 98, 98}},
                                       {"counted1-4", 4, paced_role::counted, {80, 80, 80, 80, 80, 80, 80}},
                                       {"lead1-4", 4, paced_role::lead, {76, 76, 76, 76, 76, 76, 76}},
                                       {"block-4", 4, paced_role::paced, {49, 49, 49, 49, 49, 49, 49}}};
  EXPECT_NEAR(*rho_metrics(all, 3).front().second.value, 5, 1e-9) << "the counting's code gains 20 % by itself";
  EXPECT_NEAR(*rho_metrics(all, 4).front().second.value, 50, 1e-9) << "a block's barrier counts nothing";
  const auto of_control = rho_metrics(all, 2);
  ASSERT_EQ(of_control.size(), 1u) << "a control is no offer";
  EXPECT_EQ(of_control.front().first, "compiler_share");
  EXPECT_NEAR(*of_control.front().second.value, 20, 1e-9);
}

/// The printed figure of a device and method, where the axes say so.
double printed(const char* experiment, const std::string& device, const std::string& method, const char* metric,
               const axis_values& axes) {
  for (const row& entry : published_rows(paper::lo_2014, experiment)) {
    bool here_too = entry.device == published_device + device && entry.method == published_method + method;
    for (const auto& axis : axes) here_too = here_too && std::ranges::find(entry.axes, axis) != entry.axes.end();
    if (here_too && entry.find_metric(metric) != nullptr) return *value_of(entry, metric);
  }
  return NAN;
}

TEST(Lo2014, PublishedFiguresAreThoseOfTheTables) {
  const std::string old = "GeForce GTX 295", middle = "GeForce GTX 480", young = "GeForce GTX 690";
  EXPECT_EQ(printed("memory-test", old, "none", "kernel_time", {}), 5.624);
  EXPECT_EQ(printed("memory-test", young, "block-1024", "kernel_time", {}), 3.409);
  EXPECT_EQ(printed("vector-add", middle, "none-1", "memory_per_visit", {}), 2440);
  EXPECT_EQ(printed("vector-add", young, "block-1", "barrier_per_visit", {}), 503);
  EXPECT_EQ(printed("vector-add", old, "block-1", "rho_none", {}), 22.0);
  const axis_values irregular{{"kind", std::string("irregular")}}, regular{{"kind", std::string("regular")}};
  EXPECT_EQ(printed("scalar-product", middle, "block-1", "tree", irregular), 111333);
  EXPECT_EQ(printed("scalar-product", middle, "none-1", "accumulation", irregular), 2889167);
  EXPECT_EQ(printed("scalar-product", old, "none-1", "memory", {{"length", int64_t{16384}}, regular[0]}), 1121866);
  EXPECT_EQ(printed("scalar-product", middle, "block-1", "rho_none", irregular), 15.8);
  EXPECT_EQ(printed("scalar-product", young, "block-1", "rho_none", regular), 0.1);
}

TEST(Lo2014, PublishedMethodsAndAxesAreOursToo) {
  for (const char* name : {"memory-test", "vector-add", "scalar-product"}) {
    const experiment& what = find_experiment(name);
    std::vector<std::string> axes;
    for (const axis& one : what.axes) axes.push_back(one.name);
    const auto rows = published_rows(paper::lo_2014, name);
    EXPECT_FALSE(rows.empty());
    for (const row& entry : rows) {
      for (const auto& [axis, word] : entry.axes) EXPECT_NE(std::ranges::find(axes, axis), axes.end()) << axis;
      for (const std::string& item : entry.items) {
        EXPECT_NE(std::ranges::find(what.items, item), what.items.end()) << item;
      }
    }
  }
}

}  // namespace
}  // namespace gpusync::tool::paced_loops
