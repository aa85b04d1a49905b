// What warp-reduction and switch-points make of what a device has measured, by a device made up.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "experiments/zhang_2020/switch_rows.hpp"
#include "harness/answers.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "results/metrics.hpp"
#include "support/known_clock.hpp"
#include "workloads/levels/levels.hpp"
#include "workloads/reduction/reduction.hpp"
#include "workloads/warp_sum/warp_sum.hpp"

namespace gpusync::tool {
namespace {

/// Wrong together where nothing synchronizes, and apart where it races as well.
class made_up_warp_sum : public warp_sum_program {
 public:
  explicit made_up_warp_sum(std::string method) : method_(std::move(method)) {}

  double run() override {
    ++runs_;
    if (method_ == empty_warp_sum) return 2;
    return method_ == "shuffle-tile" ? 201 : method_ == "tile" ? 238 : 363;
  }
  right_sums timed() const override { return {runs_, method_ == "nosync" ? 0 : runs_}; }
  right_sums together() override { return {4096, method_ == "nosync" ? 0u : 4096u}; }
  right_sums apart() override { return {4096, method_ == "nosync" || method_ == "figure-11" ? 0u : 4096u}; }

 private:
  const std::string method_;
  uint64_t runs_ = 0;
};

class made_up_warp_sums : public warp_sums_device {
 public:
  std::unique_ptr<warp_sum_program> prepare(const std::string& method) override {
    return std::make_unique<made_up_warp_sum>(method);
  }
  std::string function_of(const std::string&) const override { return ""; }
  int architecture() const override { return 90; }
};

/// Lines over the size, with the figures of an H200; a factor makes the block of 1024 threads slower for large sums
/// than for few, so that the model is wrong.
class made_up_shared_sum : public shared_sum_program {
 public:
  explicit made_up_shared_sum(const summing_group& group) : group_(group) {}

  static double bend;

  double run(uint32_t elements) override {
    const std::map<uint32_t, std::pair<double, double>> lines{{1, {170, 0.18}},   {32, {384, 5.45}},
                                                              {128, {582, 21.9}}, {256, {587, 43.9}},
                                                              {512, {609, 83.2}}, {1024, {778, 127}}};
    const auto& [at_one, throughput] = lines.at(group_.threads);
    const double more = group_.threads == 1024 && elements > 1 ? bend : 0;
    return at_one + more + 8.0 * (elements - 1) / throughput;
  }
  verification verify() const override { return {true, 100, 0, "made up"}; }

 private:
  const summing_group group_;
};
double made_up_shared_sum::bend = 0;

class made_up_shared_sums : public shared_sums_device {
 public:
  std::unique_ptr<shared_sum_program> prepare(const summing_group& group, sum_ending) override {
    return std::make_unique<made_up_shared_sum>(group);
  }
  uint32_t most_elements() const override { return 28'000; }
};

/// A chain of shuffles of 26 cycles, or of barriers of 28.
class made_up_levels : public levels_device {
 public:
  explicit made_up_levels(const char* method, uint32_t group, long long cycles)
      : method_(method), group_(group), cycles_(cycles) {}

  std::vector<level_variant> variants() const override {
    level_variant variant;
    variant.method = method_;
    variant.group = group_;
    variant.lengths = {64, 192};
    return {variant};
  }
  std::unique_ptr<level_program> prepare(const level_variant&, const level_shape& shape) override {
    class chain : public level_program {
     public:
      chain(size_t warps, long long cycles) : warps_(warps), cycles_(cycles) {}
      std::vector<warp_stamp> run(uint32_t length) override {
        return std::vector<warp_stamp>(warps_, {0, 12 + cycles_ * length, 1, 0});
      }
      verification verify() override { return {true, 1, 0, "made up"}; }

     private:
      const size_t warps_;
      const long long cycles_;
    };
    return std::make_unique<chain>(shape.threads / 32, cycles_);
  }
  std::unique_ptr<repeated_adds> prepare_adds() override { return nullptr; }
  std::string function_of(const level_variant&, uint32_t) const override { return ""; }
  int architecture() const override { return 90; }
  uint32_t threads_per_sm() const override { return 2048; }

 private:
  const char* const method_;
  const uint32_t group_;
  const long long cycles_;
};

/// Sums by three plans: one block up to 32 KiB, a cluster up to 512 KiB, messages.
class made_up_plans : public workload {
 public:
  explicit made_up_plans(uint64_t bytes) : bytes_(bytes) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all;
    for (const char* name : {"gpusync", "one-block.512.4", "cluster.512.4.16", "messages.256.8"}) {
      all.push_back({name, name, {}, method_kind::launch});
    }
    return all;
  }
  std::unique_ptr<program> prepare(const step_method& method, const step_shape&) override {
    class sum : public program {
     public:
      explicit sum(double nanoseconds) : nanoseconds_(nanoseconds) {}
      double run(uint64_t steps) override { return 500 + nanoseconds_ * static_cast<double>(steps); }
      uint64_t steps_unit() const override { return 1; }
      verification verify() override { return {true, 10, 0, "made up"}; }

     private:
      const double nanoseconds_;
    };
    const auto size = static_cast<double>(bytes_);
    if (method.name.starts_with("one-block")) {
      if (bytes_ > 32 * 1024) throw invalid_argument("The plan does not hold the input.");
      return std::make_unique<sum>(1'800 + size / 20);
    }
    if (method.name.starts_with("cluster")) {
      if (bytes_ > 512 * 1024) throw invalid_argument("The plan does not hold the input.");
      return std::make_unique<sum>(2'200 + size / 100);
    }
    return std::make_unique<sum>(2'800 + size / 1'000);
  }
  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t) override { return UINT64_MAX; }

 private:
  const uint64_t bytes_;
};

class made_up_reduction : public reduction_device {
 public:
  std::unique_ptr<workload> summing(const reduction_problem& problem) override {
    return std::make_unique<made_up_plans>(problem.bytes());
  }
  uint64_t most_cached_bytes() const override { return 25 << 20; }
};

// Nothing else has such sides on OpenCL devices.
constexpr auto here = device_kind::opencl;
const register_side<warp_sums_device> warp_sums(here, make_side<made_up_warp_sums>);
const register_side<shared_sums_device> shared_sums(here, make_side<made_up_shared_sums>);
const register_side<reduction_device> reductions(here, make_side<made_up_reduction>);
const register_side<levels_device> warps(
    here, [](const device_description&) { return std::make_unique<made_up_levels>("tile-shuffle", 32, 26); },
    level_sides::warp);
const register_side<levels_device> blocks(
    here, [](const device_description&) { return std::make_unique<made_up_levels>("syncthreads", 0, 28); },
    level_sides::block);

struct measured_document {
  document results;
  uint64_t failures = 0;  ///< failed rows that claim to be right
};

measured_document measured(const char* name, const std::vector<std::string>& parts = {}) {
  const known_clock clock(here, 1'980);
  measured_document found;
  experiment_request request;
  request.device.id = "opencl:0";
  request.device.kind = here;
  request.quick = true;
  if (!parts.empty()) request.axes.words["part"] = parts;
  experiment_sink sink;
  sink.add = [&](row entry, bool claims_correctness) {
    found.failures += claims_correctness && entry.status == row_status::failed ? 1 : 0;
    found.results.rows.push_back(std::move(entry));
  };
  sink.progress = [](double fraction, const std::string&) {
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
  };
  sink.interrupted = [] { return false; };
  find_experiment(name).run(request, sink);
  return found;
}

const row* find_row(const document& results, const std::string& method, const axis_values& axes) {
  for (const row& entry : results.rows) {
    if (entry.method == method && entry.axes == axes) return &entry;
  }
  ADD_FAILURE() << "no row of " << method;
  return nullptr;
}

double value(const row* entry, const char* metric) {
  return entry == nullptr ? NAN : value_of(*entry, metric).value_or(NAN);
}

axis_values switch_from(const char* from) {
  return {{"part", std::string("switch")}, {"from", std::string(from)}};
}

TEST(WarpReduction, SaysOfEachFormWhatItTakesAndHowOftenItIsRight) {
  const measured_document found = measured("warp-reduction");
  const row* const tile = find_row(found.results, "tile", {});
  EXPECT_EQ(value(tile, "latency"), 238);
  EXPECT_EQ(value(tile, "right"), 1);
  EXPECT_EQ(value(tile, "right_apart"), 1);
  EXPECT_EQ(tile->verified, true);
  EXPECT_FALSE(tile->kind) << "a sum is no way to wait";
  EXPECT_EQ(tile->items, std::vector<std::string>{"Z13"});
  const row* const empty = find_row(found.results, "empty", {});
  EXPECT_TRUE(is_floor(*empty));
  EXPECT_EQ(empty->find_metric("right"), nullptr);
}

TEST(WarpReduction, FormsKnownToBeWrongAreFindingsAndNoFailures) {
  const measured_document found = measured("warp-reduction");
  EXPECT_EQ(found.failures, 0u);
  const row* const printed = find_row(found.results, "figure-11", {});
  EXPECT_EQ(value(printed, "right"), 1) << "by luck";
  EXPECT_EQ(value(printed, "right_apart"), 0);
  EXPECT_FALSE(printed->ordered);
  EXPECT_EQ(printed->verified, false);
  EXPECT_NE(printed->verification->find("races"), std::string::npos);
  const row* const without = find_row(found.results, "nosync", {});
  EXPECT_EQ(value(without, "right"), 0);
  EXPECT_NE(without->verification->find("not synchronized"), std::string::npos);
  ASSERT_EQ(answers(found.results).size(), 1u);
  EXPECT_EQ(answers(found.results)[0].substr(0, 92),
            "Sum a warp's values by shuffle-tile: 201 cycles; figure 11 as printed races, and fails (open");
}

TEST(WarpReduction, HasThePapersTable) {
  int printed = 0;
  for (const row& entry : measured("warp-reduction").results.rows) printed += is_published(entry) ? 1 : 0;
  EXPECT_EQ(printed, 12);
}

TEST(WarpSum, InputsDifferAndTheirSumsAreExact) {
  std::set<uint32_t> numbers;
  for (uint32_t input = 0; input < 64; ++input) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
      EXPECT_LT(warp_sum_number(input, lane), 1u << 20);
      numbers.insert(warp_sum_number(input, lane));
    }
  }
  EXPECT_GT(numbers.size(), 2'000u);
}

TEST(SwitchPoints, HaveTable3FromTheLoopAlone) {
  const measured_document found = measured("switch-points", {"proxy"});
  const axis_values axes{{"part", std::string("proxy")}};
  const row* const warp = find_row(found.results, "1-warp", axes);
  EXPECT_NEAR(value(warp, "bandwidth"), 5.45, 1e-6);
  EXPECT_NEAR(value(warp, "latency"), 8 / 0.18, 1e-6) << "of an iteration of a thread";
  EXPECT_NEAR(value(warp, "concurrency"), 5.45 * 8 / 0.18, 1e-6);
  EXPECT_NEAR(value(find_row(found.results, "1-thread", axes), "concurrency"), 8, 1e-6);
  EXPECT_EQ(warp->items, std::vector<std::string>{"Z11"});
}

TEST(SwitchPoints, ArePredictedFromOneElementAndTheSlopesAndMeasured) {
  const measured_document found = measured("switch-points", {"switch"});
  EXPECT_EQ(found.failures, 0u);
  const row* const warp = find_row(found.results, "1-warp", switch_from("1-thread"));
  EXPECT_NEAR(value(warp, "sync_latency"), 214, 1e-9);
  EXPECT_NEAR(value(warp, "switch_point"), 8 + 39.8, 0.1) << "where the made-up lines cross";
  EXPECT_GE(value(warp, "measured_until"), value(warp, "measured_from"));
  EXPECT_EQ(value(warp, "measured_switch_point"), 44);
  EXPECT_EQ(warp->verified, true);
  EXPECT_NEAR(value(warp, "recipe_sync_latency"), 130, 1e-9) << "five shuffles";
  EXPECT_NEAR(value(warp, "recipe_switch_point"), 8 + 130 * 0.18 * 5.45 / 5.27, 0.1);
  const row* const block = find_row(found.results, "1024-threads", switch_from("256-threads"));
  EXPECT_NEAR(value(block, "switch_point"), 12'800, 100);
  EXPECT_EQ(value(find_row(found.results, "1024-threads", {{"part", std::string("levels")}}), "time_at_one"), 778);
  EXPECT_EQ(value(find_row(found.results, "1024-threads", {{"part", std::string("levels")}}), "sync_latency"), 169);
  const axis_values kib{{"part", std::string("curve")}, {"bytes", int64_t{1024}}};
  EXPECT_NEAR(value(find_row(found.results, "1-warp", kib), "latency"), 384 + 1016 / 5.45, 1e-6);
  ASSERT_EQ(answers(found.results).size(), 1u);
  EXPECT_EQ(answers(found.results)[0].substr(0, 58), "Take a warp from 44 B on, 1024 threads from 2.27 KB on; th");
}

TEST(SwitchPoints, FailWhereAPromisedPredictionIsOff) {
  made_up_shared_sum::bend = 400;  // cycles that one element does not show
  const measured_document found = measured("switch-points", {"switch"});
  made_up_shared_sum::bend = 0;
  EXPECT_EQ(found.failures, 1u);
  const row* const block = find_row(found.results, "1024-threads", switch_from("1-warp"));
  EXPECT_EQ(block->verified, false);
  EXPECT_LT(value(block, "prediction_error"), -0.25);
  EXPECT_EQ(find_row(found.results, "1024-threads", switch_from("256-threads"))->status, row_status::ok)
      << "nothing is promised there";
}

TEST(SwitchPoints, OfKernelsStandBesideEachOtherWithoutAPromise) {
  const measured_document found = measured("switch-points", {"kernels"});
  EXPECT_EQ(found.failures, 0u);
  const auto from = [](const char* smaller) -> axis_values {
    return {{"part", std::string("kernel-switch")},
            {"type", std::string("float")},
            {"input", std::string("cold")},
            {"from", std::string(smaller)}};
  };
  const row* const cluster = find_row(found.results, "cluster", from("one-block"));
  EXPECT_NEAR(value(cluster, "switch_point"), 400.0 * 2'000 / 80, 300);
  EXPECT_EQ(value(cluster, "measured_from"), 4'096);
  EXPECT_EQ(value(cluster, "measured_until"), 16'384);
  const row* const grid = find_row(found.results, "messages", from("cluster"));
  EXPECT_NEAR(value(grid, "switch_point"), 600.0 * 100'000 / 900, 300);
  const axis_values at{{"part", std::string("kernels")},
                       {"type", std::string("float")},
                       {"input", std::string("l2")},
                       {"bytes", int64_t{4'096}}};
  const row* const block = find_row(found.results, "one-block", at);
  EXPECT_NE(block->verification->find("one-block.512.4"), std::string::npos);
}

TEST(SwitchRows, AnIntervalAcrossThePromiseDecidesNothing) {
  const auto of = [](const std::vector<double>& errors) { return keeps_promise(median_metric(errors, 1, "1", false)); };
  EXPECT_EQ(of(std::vector<double>(9, 0.1)), true);
  EXPECT_EQ(of(std::vector<double>(9, -0.3)), false);
  EXPECT_EQ(of({0.1, 0.1, 0.2, 0.2, 0.24, 0.3, 0.3, 0.3, 0.3}), std::nullopt);
  EXPECT_EQ(of({0.1}), std::nullopt) << "one round has no interval";
}

TEST(SwitchRows, ClassesThatDoNotCrossHaveNoMeasuredSwitch) {
  const std::vector<curve_point> low{{4, 1}, {1024, 1.1}, {2048, 1.2}}, high{{4, 2}, {1024, 2.1}, {2048, 2.15}};
  const auto found = switch_of_kernels(low, high, 1024);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->measured.crosses());
  row entry;
  fill_in_switch(entry, found);
  EXPECT_FALSE(value_of(entry, "measured_switch_point"));
  EXPECT_NE(entry.verification->find("every size that it holds"), std::string::npos);
  row lacking;
  fill_in_switch(lacking, switch_of_kernels({}, high, 1024));
  EXPECT_EQ(lacking.status, row_status::skipped);
}

TEST(SwitchRows, CurvesHaveEverySizeOfFewAndWhatSharedMemoryHolds) {
  const std::vector<uint32_t> all = sizes_of_curve({"1024-threads", 1024}, 28'000);
  EXPECT_EQ(all.size(), 272u);
  EXPECT_EQ(all[63], 64u);
  EXPECT_EQ(all[64], 72u);
  EXPECT_EQ(all.back(), 24'576u);
  EXPECT_EQ(sizes_of_curve({"1-thread", 1}, 28'000).back(), 1'024u) << "more takes one thread long";
  EXPECT_EQ(sizes_of_curve({"1-warp", 32}, 8'000).back(), 7'680u);
  EXPECT_EQ(sizes_of_proxy({"1024-threads", 1024}, 8'000), (std::vector<uint32_t>{4'096, 6'144}));
  const summing_group warp{"1-warp", 32};
  compared figures;
  figures.samples = {{"10", {5, 6}}, {"9", {3, 4}}};
  const level_curves curves = curves_of(warp, figures);
  ASSERT_EQ(curves.rounds.size(), 2u);
  EXPECT_EQ(curves.rounds[1][0].x, 72) << "by rising size, not by the letters of its name";
  EXPECT_EQ(curves.rounds[1][0].y, 4);
}

TEST(SwitchRows, SizesAreShort) {
  EXPECT_EQ(short_bytes(40), "40 B");
  EXPECT_EQ(short_bytes(2'464), "2.46 KB");
  EXPECT_EQ(short_bytes(13'800), "13.8 KB");
}

}  // namespace
}  // namespace gpusync::tool
