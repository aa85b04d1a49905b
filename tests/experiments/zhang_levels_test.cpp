// What warp-sync, block-sync and method-check make of what a device has measured, by a device made up.
#include <gtest/gtest.h>

#include "experiments/zhang_2020/level_rows.hpp"
#include "models/fits.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {
namespace {

/// An operation of 30 cycles behind a start of 12, on two multiprocessors; a warp's operations on a full one are 5
/// cycles apart.
class made_up_program : public level_program {
 public:
  explicit made_up_program(const level_shape& shape) : shape_(shape) {}

  std::vector<warp_stamp> run(uint32_t length) override {
    if (shape_.blocks_per_sm == 0) return {{1'000, 1'000 + 12 + 30ll * length, 1, 0}};
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
};

class made_up_device : public levels_device {
 public:
  std::vector<level_variant> variants() const override { return {{"shuffle", 32, false, {"SHFL"}}}; }
  std::unique_ptr<level_program> prepare(const level_variant&, const level_shape& shape) override {
    return std::make_unique<made_up_program>(shape);
  }
  std::unique_ptr<repeated_adds> prepare_adds() override { return nullptr; }
  std::string function_of(const level_variant&, uint32_t) const override { return ""; }
  int architecture() const override { return 90; }
  uint32_t threads_per_sm() const override { return 2048; }
  double clock_mhz() override { return 1'000; }
};

level_variant with_lengths(std::vector<uint32_t> lengths) {
  level_variant variant;
  variant.method = "shuffle";
  variant.lengths = std::move(lengths);
  return variant;
}

TEST(LevelRows, LatencyIsWithoutWhatHappensOncePerChain) {
  made_up_device device;
  const prepared_method latency = prepare_latency(device, with_lengths({64, 192}), {});
  EXPECT_EQ(latency.program.run(), (turn_samples{{latency_sample, 30.0}}));
  EXPECT_EQ(latency.verify().checked, 32u);
}

TEST(LevelRows, ThroughputIsOfAMultiprocessorWhoseBlocksBeginTogether) {
  made_up_device device;
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
  made_up_device device;
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
