// What warp-sync, block-sync and method-check make of what a device has measured, by a device made up.
#include <gtest/gtest.h>

#include "experiments/zhang_2020/level_rows.hpp"
#include "harness/answers.hpp"
#include "models/fits.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "results/metrics.hpp"
#include "support/known_clock.hpp"

namespace gpusync::tool {
namespace {

/// An operation of some cycles behind a start of 12, on two multiprocessors; a warp's operations on a full one are 5
/// cycles apart.
class made_up_program : public level_program {
 public:
  made_up_program(const level_shape& shape, long long cycles) : shape_(shape), cycles_(cycles) {}

  std::vector<warp_stamp> run(uint32_t length) override {
    if (shape_.blocks_per_sm == 0) {
      return std::vector<warp_stamp>(shape_.threads / 32, {1'000, 1'000 + 12 + cycles_ * length, 1, 0});
    }
    const long long warps = shape_.blocks_per_sm * shape_.threads / 32;
    std::vector<warp_stamp> all;
    for (unsigned sm = 0; sm < 2; ++sm) {
      for (long long i = 0; i < warps; ++i) all.push_back({i, 100 + 5 * warps * length, 7'000 + sm * 32, sm});
    }
    return all;
  }
  verification verify() override { return {true, 32, 0, "made up"}; }

 private:
  const level_shape shape_;
  const long long cycles_;
};

/// Additions of 4 cycles at 1 GHz.
class made_up_adds : public repeated_adds {
 public:
  double run(uint64_t steps, bool) override { return 3'000 + 4.0 * adds_per_step * static_cast<double>(steps); }
  verification verify() override { return {true, 1, 0, "made up"}; }
};

class made_up_device : public levels_device {
 public:
  explicit made_up_device(std::vector<level_variant> variants = {}, long long cycles = 30)
      : variants_(std::move(variants)), cycles_(cycles) {}

  std::vector<level_variant> variants() const override { return variants_; }
  std::unique_ptr<level_program> prepare(const level_variant&, const level_shape& shape) override {
    if (shape.cluster > 8) throw invalid_argument("No clusters of 16 here.");
    return std::make_unique<made_up_program>(shape, cycles_);
  }
  std::unique_ptr<repeated_adds> prepare_adds() override { return std::make_unique<made_up_adds>(); }
  std::string function_of(const level_variant&, uint32_t) const override { return ""; }
  int architecture() const override { return 90; }
  uint32_t threads_per_sm() const override { return 2048; }

 private:
  const std::vector<level_variant> variants_;
  const long long cycles_;
};

level_variant variant_of(const char* method, uint32_t group, bool in_clusters = false) {
  level_variant variant;
  variant.method = method;
  variant.group = group;
  variant.in_clusters = in_clusters;
  variant.lengths = {64, 192};
  return variant;
}

long long cycles_of_addition = 4;

std::unique_ptr<levels_device> made_up_checked(const device_description&) {
  std::vector<level_variant> all{variant_of("float-add", 0), variant_of("syncthreads", 0),
                                 variant_of("tile-shuffle", 32), variant_of("syncwarp", 32)};
  all[0].is_barrier = false;
  for (level_variant& each : all) each.lengths = {1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 512};
  return std::make_unique<made_up_device>(all, cycles_of_addition);
}

const register_side<levels_device> warp_side(
    device_kind::host,
    [](const device_description&) {
      level_variant apart = variant_of("syncwarp", 32);
      apart.divergent = true;
      return std::make_unique<made_up_device>(
          std::vector<level_variant>{variant_of("tile-sync", 8), variant_of("tile-sync", 32), variant_of("shuffle", 32),
                                     variant_of("syncwarp", 32), apart});
    },
    level_sides::warp);
const register_side<levels_device> block_side(
    device_kind::host,
    [](const device_description&) {
      return std::make_unique<made_up_device>(
          std::vector<level_variant>{variant_of("syncthreads", 0), variant_of("cluster-relaxed", 0, true)});
    },
    level_sides::block);
const register_side<levels_device> checked_side(device_kind::host, made_up_checked, level_sides::checked);

/// What an experiment has measured on the made-up devices.
document measured(const char* name) {
  const known_clock clock(device_kind::host, 1'000);
  document results;
  experiment_request request;
  request.device.id = "host";
  request.quick = true;
  experiment_sink sink;
  sink.add = [&](row entry, bool) { results.rows.push_back(std::move(entry)); };
  sink.progress = [](double fraction, const std::string&) {
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
  };
  sink.interrupted = [] { return false; };
  find_experiment(name).run(request, sink);
  std::erase_if(results.rows, is_published);
  return results;
}

std::vector<const row*> rows_of(const document& results, const std::string& method, const axis_values& axes) {
  std::vector<const row*> found;
  for (const row& entry : results.rows) {
    if (entry.method == method && entry.axes == axes) found.push_back(&entry);
  }
  return found;
}

double value(const row& entry, const char* metric) {
  return value_of(entry, metric).value_or(-1);
}

TEST(WarpSync, HasARowForEachGroupWithLatencyAndTheBestThroughput) {
  const document results = measured("warp-sync");
  EXPECT_EQ(results.rows.size(), 6u) << "five operations, and one row for the machine code";
  EXPECT_EQ(results.rows.front().method, "machine-code");
  const auto tile = rows_of(results, "tile-sync", {{"group", int64_t{8}}, {"lanes", "convergent"}});
  ASSERT_EQ(tile.size(), 1u);
  EXPECT_EQ(tile[0]->items, std::vector<std::string>{"Z6"});
  EXPECT_EQ(tile[0]->status, row_status::ok);
  EXPECT_EQ(tile[0]->verified, true);
  EXPECT_DOUBLE_EQ(value(*tile[0], "latency"), 30);
  EXPECT_DOUBLE_EQ(value(*tile[0], "throughput"), 0.2);
  EXPECT_DOUBLE_EQ(value(*tile[0], "start_spread"), 0.032);
  EXPECT_EQ(rows_of(results, "syncwarp", {{"group", int64_t{32}}, {"lanes", "divergent"}}).size(), 1u);
  ASSERT_EQ(answers(results).size(), 1u);
  EXPECT_EQ(answers(results)[0].substr(0, 63), "A warp's barrier takes 30.0 cycles, 30.0 where lanes diverge; a");
}

TEST(BlockSync, HasLatenciesWithLinesAndThroughputs) {
  const document results = measured("block-sync");
  const auto alone = rows_of(results, "syncthreads", {{"threads", int64_t{256}}});
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_DOUBLE_EQ(value(*alone[0], "latency"), 30);
  EXPECT_EQ(rows_of(results, "syncthreads", {{"fit", "latency over warps"}}).size(), 1u);
  const auto full = rows_of(results, "syncthreads", {{"threads", int64_t{256}}, {"blocks_per_sm", int64_t{8}}});
  ASSERT_EQ(full.size(), 1u);
  EXPECT_DOUBLE_EQ(value(*full[0], "throughput"), 0.2);
  EXPECT_DOUBLE_EQ(value(*full[0], "warps_per_sm"), 64);
  const axis_values of_16{{"cluster", int64_t{16}}, {"threads", int64_t{32}}};
  ASSERT_EQ(rows_of(results, "cluster-relaxed", of_16).size(), 1u);
  EXPECT_EQ(rows_of(results, "cluster-relaxed", of_16)[0]->status, row_status::skipped);
  EXPECT_EQ(rows_of(results, "cluster-relaxed", {{"cluster", int64_t{8}}, {"fit", "latency over warps"}}).size(), 1u);
  ASSERT_EQ(answers(results).size(), 1u);
  EXPECT_EQ(answers(results)[0].substr(0, 70),
            "syncthreads is fastest in a block: 30.0 cycles for 1024 threads, 30.0 ");
}

TEST(MethodCheck, ComparesTheTwoMethodsAndLooksForJumps) {
  const document results = measured("method-check");
  const auto events = rows_of(results, "eq7-events", {{"operation", "float-add"}});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]->verified, true);
  EXPECT_NEAR(value(*events[0], "latency"), 4, 1e-9);
  EXPECT_NEAR(value(*events[0], "difference"), 0, 1e-9);
  EXPECT_NEAR(value(*events[0], "allowed_difference"), 1, 1e-9);
  const auto jumps = rows_of(results, "syncthreads", {{"operation", "syncthreads"}, {"check", "jumps"}});
  ASSERT_EQ(jumps.size(), 1u);
  EXPECT_DOUBLE_EQ(value(*jumps[0], "jumps"), 0);
  const auto first = rows_of(results, "syncwarp", {{"operation", "syncwarp"}, {"repeats", int64_t{1}}});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_DOUBLE_EQ(value(*first[0], "cycles_per_repeat"), 16) << "with what happens once";
  const auto last = rows_of(results, "syncwarp", {{"operation", "syncwarp"}, {"repeats", int64_t{512}}});
  ASSERT_EQ(last.size(), 1u);
  EXPECT_DOUBLE_EQ(value(*last[0], "marginal_latency"), 4);
  ASSERT_EQ(answers(results).size(), 1u);
  EXPECT_EQ(answers(results)[0].substr(0, 19), "Both methods agree:");
}

TEST(MethodCheck, FailsWhereTheMethodsDisagree) {
  cycles_of_addition = 6;
  const document results = measured("method-check");
  cycles_of_addition = 4;
  const auto events = rows_of(results, "eq7-events", {{"operation", "float-add"}});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]->status, row_status::failed);
  EXPECT_EQ(events[0]->verified, false);
  EXPECT_TRUE(answers(results).empty());
}

level_variant with_lengths(std::vector<uint32_t> lengths) {
  level_variant variant;
  variant.method = "shuffle";
  variant.lengths = std::move(lengths);
  return variant;
}

TEST(LevelRows, LatencyIsWithoutWhatHappensOncePerChain) {
  made_up_device device({variant_of("shuffle", 32)});
  const prepared_method latency = prepare_latency(device, with_lengths({64, 192}), {});
  EXPECT_EQ(latency.program.run(), (turn_samples{{latency_sample, 30.0}}));
  EXPECT_EQ(latency.verify().checked, 32u);
}

TEST(LevelRows, ThroughputIsOfAMultiprocessorWhoseBlocksBeginTogether) {
  made_up_device device({variant_of("shuffle", 32)});
  const prepared_method spacing = prepare_throughput(device, with_lengths({64, 192}), {256, 4, 1});
  EXPECT_EQ(spacing.program.run(), (turn_samples{{spacing_sample, 5.0}, {start_sample, 32.0}}));
  method_result result;
  result.figures.samples[spacing_sample] = {5, 5, 4};
  EXPECT_DOUBLE_EQ(*throughput_of(result, false).value, 0.2);
  EXPECT_EQ(throughput_of(result, false).unit, "1/cycle");
}

TEST(LevelRows, ChainsOfManyLengthsAreComparedByThoseThatAllHave) {
  EXPECT_EQ(counts_of(with_lengths({8, 24})).longer, 24u);
  const repeat_counts counts = counts_of(with_lengths({1, 2, 64, 128, 192, 512}));
  EXPECT_EQ(counts.shorter, 64u);
  EXPECT_EQ(counts.longer, 192u);
}

TEST(LevelRows, ShapesFillAMultiprocessorToWhatItHolds) {
  const auto words = [](const std::vector<level_shape>& shapes) {
    std::vector<std::pair<uint32_t, uint32_t>> all;
    for (const level_shape& shape : shapes) all.emplace_back(shape.threads, shape.blocks_per_sm);
    return all;
  };
  using all = std::vector<std::pair<uint32_t, uint32_t>>;
  EXPECT_EQ(words(filling_shapes(1536, {256, 1024}, false)), (all{{256, 1}, {256, 2}, {256, 4}, {256, 6}, {1024, 1}}));
  EXPECT_EQ(words(filling_shapes(2048, {32}, true)), (all{{32, 1}, {32, 32}}));
}

TEST(LevelRows, WhatCouldNotBeCountedHasNoCountsAndIsNotCalledRemoved) {
  made_up_device device({variant_of("shuffle", 32)});
  level_variant variant = with_lengths({64, 192});
  variant.group = 32;
  counted_levels code(device, {variant});
  row entry;
  entry.metrics = {{"latency", plain_metric(30, "cycles", 7)}};
  code.add_to(entry, variant);
  ASSERT_NE(entry.find_metric("own_instructions"), nullptr);
  EXPECT_FALSE(entry.find_metric("own_instructions")->value);
  EXPECT_FALSE(code.is_removed(variant));
  EXPECT_FALSE(entry.verification);
  const row summary = code.summary("warp-sync", {});
  EXPECT_EQ(summary.status, row_status::skipped);
  EXPECT_TRUE(summary.reason);
}

TEST(LevelRows, ARemovedOperationKeepsItsCountsAndNoTimes) {
  row entry;
  entry.metrics = {{"latency", plain_metric(1, "cycles", 7)}, {"own_instructions", plain_metric(0, "1", 128)}};
  mark_removed(entry);
  EXPECT_EQ(entry.status, row_status::skipped);
  EXPECT_EQ(entry.reason->substr(0, 24), "Removed by the compiler:");
  EXPECT_FALSE(entry.find_metric("latency")->value);
  EXPECT_DOUBLE_EQ(*entry.find_metric("own_instructions")->value, 0);
}

TEST(LevelRows, MethodsAgreeWithinTwoSigmaAndACycle) {
  EXPECT_TRUE(methods_agree(4, 4.9, 0));
  EXPECT_TRUE(methods_agree(4, 5.7, 0.4));
  EXPECT_FALSE(methods_agree(4, 5.9, 0.4));
  EXPECT_FALSE(methods_agree(4, 2.9, 0));
}

TEST(LevelRows, AJumpIsMoreThanATenthAndACycle) {
  EXPECT_EQ(count_jumps({}), 0u);
  EXPECT_EQ(count_jumps({28, 28, 28.5, 30}), 0u);
  EXPECT_EQ(count_jumps({4, 4.9, 4}), 0u) << "less than a cycle";
  EXPECT_EQ(count_jumps({28, 40, 40, 28}), 2u);
}

TEST(LevelFits, ABarrierOfABlockIsALineOverItsWarps) {
  std::vector<row> rows;
  for (const int64_t threads : {32, 64, 256, 1024}) {
    row entry;
    entry.experiment = "block-sync";
    entry.method = "syncthreads";
    entry.kind = method_kind::barrier;
    entry.axes = {{"threads", threads}};
    entry.metrics = {{"latency", plain_metric(12 + 2 * static_cast<double>(threads) / 32, "cycles", 11)}};
    entry.verified = true;
    rows.push_back(entry);
  }
  const std::vector<row> fits = fits_of(rows);
  ASSERT_EQ(fits.size(), 1u);
  EXPECT_DOUBLE_EQ(*fits[0].find_metric("cycles_per_warp")->value, 2);
  EXPECT_DOUBLE_EQ(*fits[0].find_metric("intercept")->value, 12);
  EXPECT_EQ(fits[0].find_metric("intercept")->unit, "cycles");
  EXPECT_EQ(fits[0].axes, (axis_values{{"fit", "latency over warps"}}));
}

}  // namespace
}  // namespace gpusync::tool
