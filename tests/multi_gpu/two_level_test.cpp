// Barriers across GPUs on host threads: the text that also runs on GPUs.
#include "support/gpus.hpp"

namespace gpusync {
namespace {

using test::mismatches;

template <class Algorithm>
class AcrossGpus : public ::testing::Test {};
TYPED_TEST_SUITE(AcrossGpus, test::multi_gpu_types, test::algorithm_names);

TYPED_TEST(AcrossGpus, EveryBlockSeesWhatEveryBlockOfEveryGpuHasWritten) {
  for (const uint32_t gpus : {1u, 2u, 3u, 4u}) {
    for (const uint32_t blocks : {1u, 2u, 5u}) {
      for (const uint32_t threads : {1u, 3u}) {
        host_multi_gpu_storage<TypeParam> storage(gpus, blocks);
        EXPECT_EQ(mismatches(storage, std::vector<uint32_t>(gpus, blocks), threads, 20), 0u)
            << gpus << " GPUs, " << blocks << " blocks of " << threads;
      }
    }
  }
}

TYPED_TEST(AcrossGpus, LaunchesFollowEachOtherWithoutAResetWhateverTheirGridsAre) {
  host_multi_gpu_storage<TypeParam> storage(3, 4);
  const std::vector<std::vector<uint32_t>> launches{{4, 1, 2}, {1, 1, 1}, {2, 4, 1}, {1, 3, 4}, {4, 4, 4}};
  for (const auto& blocks : launches) EXPECT_EQ(mismatches(storage, blocks, 2, 7), 0u);
}

TYPED_TEST(AcrossGpus, CountersWrapUnnoticed) {
  for (const uint32_t first : {0xfffffff8u, 0xfff8u}) {
    host_multi_gpu_storage<TypeParam> storage(2, 3, first);
    EXPECT_EQ(mismatches(storage, {3, 2}, 2, 20), 0u) << first;
    EXPECT_EQ(mismatches(storage, {1, 3}, 1, 20), 0u) << first;
  }
}

TYPED_TEST(AcrossGpus, BlocksMayArriveBeforeTheyWait) {
  host_multi_gpu_storage<TypeParam> storage(2, 3);
  EXPECT_EQ(mismatches(storage, {3, 3}, 2, 50, true), 0u);
}

}  // namespace
}  // namespace gpusync
