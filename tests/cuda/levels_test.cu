// Chains of operations on a device: known latencies, blocks that begin together, values that are right.
#include <algorithm>

#include <gpusync/core/cuda_code.cuh>

#include "boundary/device_clock.hpp"
#include "cuda/device_fixture.cuh"
#include "measure/cuda_chain.cuh"
#include "measure/repeat_difference.hpp"
#include "measure/statistics.hpp"
#include "workloads/levels/levels.hpp"

namespace gpusync::tool {
namespace {

class CudaLevels : public test::CudaTest {
 protected:
  static device_description first_device() {
    device_description description;
    description.kind = device_kind::cuda;
    description.id = "cuda:0";
    return description;
  }
  std::shared_ptr<levels_device> open(const char* side) { return open_side<levels_device>(first_device(), side); }
  static level_variant find(const levels_device& levels, const std::string& name) {
    for (const level_variant& variant : levels.variants()) {
      if (name_of(variant) == name) return variant;
    }
    throw invalid_argument("There is no " + name + ".");
  }
  /// Cycles of one operation in a block alone; the median of some launches.
  static double latency(levels_device& levels, const std::string& name, uint32_t threads = 32) {
    const level_variant variant = find(levels, name);
    const auto program = levels.prepare(variant, {threads, 0, 1});
    const uint32_t shorter = variant.lengths.size() == 2 ? variant.lengths[0] : 64;
    const uint32_t longer = variant.lengths.size() == 2 ? variant.lengths[1] : 192;
    std::vector<double> found;
    for (int i = 0; i < 7; ++i) {
      const double fewer = slowest_cycles(program->run(shorter), threads / 32);
      found.push_back(repeat_difference(slowest_cycles(program->run(longer), threads / 32), fewer, {shorter, longer}));
    }
    const verification checked = program->verify();
    EXPECT_EQ(checked.wrong, 0u) << name;
    return summarize(found).median;
  }
};

TEST_F(CudaLevels, AnAdditionTakesAFewCyclesByAChain) {
  const auto levels = open(level_sides::checked);
  const double cycles = latency(*levels, "float-add");
  EXPECT_GE(cycles, 3);
  EXPECT_LE(cycles, 8);
}

TEST_F(CudaLevels, ABlocksBarrierTakesLongerForMoreWarps) {
  const auto levels = open(level_sides::block);
  const double few = latency(*levels, "syncthreads", 32), many = latency(*levels, "syncthreads", 1024);
  EXPECT_GT(few, 3);
  EXPECT_GT(many, few + 20);
  EXPECT_LT(many, 1'000);
}

TEST_F(CudaLevels, EveryOperationOfAWarpIsRight) {
  const auto levels = open(level_sides::warp);
  for (const level_variant& variant : levels->variants()) {
    for (const uint32_t threads : {32u, 96u}) {
      std::unique_ptr<level_program> program;
      try {
        program = levels->prepare(variant, {threads, 0, 1});
      } catch (const invalid_argument&) {
        continue;  // the device has no such operation
      }
      for (const uint32_t length : variant.lengths) (void)program->run(length);
      const verification found = program->verify();
      EXPECT_TRUE(found.performed) << name_of(variant);
      EXPECT_GT(found.checked, 0u) << name_of(variant);
      EXPECT_EQ(found.wrong, 0u) << name_of(variant) << " of " << threads << " threads";
    }
  }
}

TEST_F(CudaLevels, EveryBarrierOfABlockAndAClusterIsRight) {
  const auto levels = open(level_sides::block);
  for (const level_variant& variant : levels->variants()) {
    for (const uint32_t cluster : {1u, 2u, 8u}) {
      if (cluster != 1 && !variant.in_clusters) continue;
      std::unique_ptr<level_program> program;
      try {
        program = levels->prepare(variant, {256, 0, cluster});
      } catch (const invalid_argument&) {
        continue;
      }
      for (const uint32_t length : variant.lengths) (void)program->run(length);
      EXPECT_EQ(program->verify().wrong, 0u) << name_of(variant) << ", clusters of " << cluster;
    }
  }
}

/// Lets everybody through.
struct no_barrier {
  __device__ static bool takes_part(const chain_setting&) { return true; }
  __device__ explicit no_barrier(const chain_setting&) {}
  __device__ void once(unsigned int) { asm volatile("" ::: "memory"); }
  __device__ static unsigned int partner() { return (threadIdx.x + blockDim.x / 2 + 1) % blockDim.x; }
  __device__ static unsigned int read(const unsigned int* word) { return *word; }
};

TEST_F(CudaLevels, WordsHandedOverWithoutABarrierAreFoundWrong) {
  const cuda_buffer wrong(device(), sizeof(unsigned long long));
  const chain_setting setting{0, 1, static_cast<unsigned long long*>(wrong.address()), nullptr, 0};
  exchange_words<no_barrier><<<1, 256, 2 * 256 * sizeof(unsigned int)>>>(setting, 256);
  check_cuda(cudaGetLastError(), "launch of an exchange");
  check_cuda(cudaDeviceSynchronize(), "an exchange");
  EXPECT_NE(contents(wrong)[0], 0u);
}

TEST_F(CudaLevels, BlocksBeginTogether) {
  const auto levels = open(level_sides::block);
  const level_variant barrier = find(*levels, "syncthreads");
  for (const level_shape& shape : {level_shape{256, 2, 1}, level_shape{64, 4, 1}}) {
    const auto program = levels->prepare(barrier, shape);
    std::vector<double> spreads;
    for (int i = 0; i < 9; ++i) {
      const std::vector<warp_stamp> stamps = program->run(64);
      ASSERT_EQ(stamps.size(), size_t{sms()} * shape.blocks_per_sm * shape.threads / 32);
      spreads.push_back(start_spread_ns(stamps));
      EXPECT_GT(busy_cycles(stamps, size_t{shape.blocks_per_sm} * shape.threads / 32), 0);
    }
    EXPECT_LT(summarize(spreads).median, 2'000);
  }
}

TEST_F(CudaLevels, AdditionsByTwoLengthsAndByAChainTakeTheSame) {
  const auto levels = open(level_sides::checked);
  const auto adds = levels->prepare_adds();
  (void)adds->run(10'000, true);  // the clock rises
  std::vector<double> found;
  for (int i = 0; i < 9; ++i) {
    const double fewer = adds->run(100, true);
    found.push_back(repeat_difference(adds->run(4'100, true), fewer, {100, 4'100}));
  }
  const double cycles = summarize(found).median * clock_mhz_of(first_device()) * 1e-3 / repeated_adds::adds_per_step;
  EXPECT_NEAR(cycles, latency(*levels, "float-add"), 1);
  EXPECT_EQ(adds->verify().wrong, 0u);
}

TEST_F(CudaLevels, FunctionsHaveNamesInTheMachineCode) {
  const auto levels = open(level_sides::checked);
  const level_variant addition = find(*levels, "float-add");
#if CUDART_VERSION >= 12030
  EXPECT_NE(levels->function_of(addition, 64).find("timed_chain"), std::string::npos);
  EXPECT_NE(levels->function_of(addition, 64), levels->function_of(addition, 192));
#endif
  EXPECT_GE(levels->architecture(), 70);
}

TEST_F(CudaLevels, WhatTheCodeHereLacksIsRefusedWithTheReason) {
  const auto levels = open(level_sides::block);
  const level_variant barrier = find(*levels, "mbarrier");
  if (code_for(device()) >= 90) GTEST_SKIP() << "the code here has all operations";
  EXPECT_THROW(levels->prepare(barrier, {256, 0, 1}), invalid_argument);
}

}  // namespace
}  // namespace gpusync::tool
