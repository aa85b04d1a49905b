// Kernel fusion on launches that are only counted: overheads that are known must come out.
#include "measure/kernel_fusion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "measure/statistics.hpp"

namespace gpusync::tool {
namespace {

/// A stream: the host queues launches, the device carries them out one after the other.
struct simulated_stream {
  double overhead = 1400;  ///< of the device, between two kernels
  double host = 3500;      ///< of the host, for a launch
  double synchronization = 4000;
  double unit = 5000;
  double first_unit = 5000;  ///< of a kernel
  double noise = 0;
  std::minstd_rand chance{1};

  double run(uint64_t launches, uint64_t units) {
    double queued = 0, ended = 0;
    for (uint64_t i = 0; i < launches; ++i) {
      queued += host;
      ended = std::max(ended, queued) + overhead + first_unit + static_cast<double>(units - 1) * unit;
    }
    return ended + synchronization + noise * static_cast<double>(chance() % 1000) / 1000;
  }
};

double found_overhead(const simulated_stream& stream, const fusion_counts& counts = {}) {
  const auto kept = std::make_shared<simulated_stream>(stream);
  int warm_ups = 0, runs = 0;
  const candidate one = by_kernel_fusion({[=, &runs](uint64_t launches, uint64_t units) {
                                            ++runs;
                                            return kept->run(launches, units);
                                          },
                                          [&warm_ups] { ++warm_ups; }},
                                         counts);
  comparison_options how;
  how.stop = {101, 101, 0, 0, 1e12};
  const compared result = compare({one}, how).front();
  EXPECT_EQ(warm_ups, runs);
  return summarize(result.of(overhead_sample)).median;
}

TEST(KernelFusion, FindsTheOverheadOfALaunch) {
  EXPECT_NEAR(found_overhead({}), 1400, 1e-6);
  EXPECT_NEAR(found_overhead({}, {32, 4}), 1400, 1e-6);
  simulated_stream cheap;
  cheap.overhead = 240;
  EXPECT_NEAR(found_overhead(cheap), 240, 1e-6);
}

TEST(KernelFusion, FindsItUnderNoise) {
  simulated_stream noisy;
  noisy.noise = 2000;
  EXPECT_NEAR(found_overhead(noisy), 1400, 2000.0 / 15);
}

TEST(KernelFusion, FindsTheHostWhereAUnitIsShorterThanTheHostTakesForALaunch) {
  simulated_stream stream;
  stream.unit = stream.first_unit = 1000;
  EXPECT_GT(found_overhead(stream), 2000) << "the device waits for the host between two kernels";
  EXPECT_LT(stream.unit, least_fusion_unit(stream.host));
  EXPECT_EQ(least_fusion_unit(3500), 5000);
  EXPECT_EQ(least_fusion_unit(7000), 7000);
}

TEST(KernelFusion, AFirstUnitOfAnotherLengthBiasesItByAsMuchAsIsSaid) {
  simulated_stream sleeping;
  sleeping.first_unit = 4600;
  const double bias = fusion_bias(4600, 4600 + 15 * 5000.0, {});
  EXPECT_NEAR(bias, -400, 1e-6);
  EXPECT_NEAR(found_overhead(sleeping) - bias, 1400, 1e-6);
  EXPECT_NEAR(fusion_bias(5000, 80000, {}), 0, 1e-9);
}

TEST(KernelFusion, TakesEitherSequenceFirstInTurn) {
  std::vector<uint64_t> launches;
  const candidate one = by_kernel_fusion({[&launches](uint64_t count, uint64_t) {
                                            launches.push_back(count);
                                            return 1.0;
                                          },
                                          [] {}},
                                         {8, 2});
  for (int turn = 0; turn < 3; ++turn) (void)one.run();
  EXPECT_EQ(launches, (std::vector<uint64_t>{8, 2, 2, 8, 8, 2}));
}

TEST(KernelTimes, TotalLatencyIsExecutionAndOverhead) {
  EXPECT_EQ((kernel_times{10000, 1081}.total()), 11081);
  EXPECT_EQ(kernel_times::of_total(11081, 10000).overhead, 1081);
}

}  // namespace
}  // namespace gpusync::tool
