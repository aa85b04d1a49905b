// cluster-first on a CUDA device in launches in clusters: what the tests of all barriers ask of it in clusters of one.
#include <gpusync/grid/cluster_first.cuh>

#include "cuda/barrier_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;
using grid::cluster_first;

static_assert(!cluster_first::bounded && cluster_first::whole_grid_only,
              "deadlines, parts and early leaving would have to be tested here too");

/// The parameter: blocks per cluster.
class CudaClusterFirst : public CudaBarrier<cluster_first>, public ::testing::WithParamInterface<uint32_t> {
 protected:
  void SetUp() override {
    CudaBarrier<cluster_first>::SetUp();
    if (!IsSkipped() && device().properties().major < 9) GTEST_SKIP() << "this device has no clusters";
  }

  /// As many blocks as that, or a few less: whole clusters.
  launch_shape in_clusters(uint64_t blocks, uint32_t threads) const {
    return {static_cast<uint32_t>(blocks) / GetParam() * GetParam(), threads, 0, GetParam()};
  }

  /// Shapes of one cluster, of two, of about one block per multiprocessor, and of all clusters that run at once.
  template <class... Parameters>
  std::vector<launch_shape> shapes(void (*kernel)(Parameters...)) const {
    std::vector<launch_shape> all;
    for (const uint32_t threads : {1u, 33u, 256u, 1024u}) {
      all.push_back(in_clusters(GetParam(), threads));
      all.push_back(in_clusters(2 * GetParam(), threads));
      const uint64_t most = max_co_resident(device(), kernel, in_clusters(sms(), threads)).blocks();
      all.push_back(in_clusters(std::min<uint64_t>(most, sms()), threads));
      if (threads > 1) all.push_back(in_clusters(most, threads));  // one thread would look at thousands of blocks
    }
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(OfBlocks, CudaClusterFirst, ::testing::Values(2u, 4u));

TEST_P(CudaClusterFirst, ReleasesNobodyBeforeAllHaveArrived) {
  std::vector<launch_shape> all = shapes(waits<cluster_first>);
  all.push_back({{2 * GetParam(), 3, 2}, {5, 3, 2}, 0, GetParam()});
  for (const launch_shape& shape : all) {
    cuda_barrier_storage<cluster_first> storage(device(), static_cast<uint32_t>(shape.blocks.count()));
    EXPECT_EQ(early_releases(storage, shape, phases(1000)), 0u)
        << shape.blocks.count() << " blocks of " << shape.threads.count();
  }
}

TEST_P(CudaClusterFirst, PublishesPlainData) {
  for (const launch_shape& shape : shapes(publishes<cluster_first>)) {
    for (const bool split : {false, true}) {
      cuda_barrier_storage<cluster_first> storage(device(), static_cast<uint32_t>(shape.blocks.count()));
      EXPECT_EQ(wrong_words(storage, shape, phases(1000), split), 0u)
          << shape.blocks.count() << " blocks of " << shape.threads.count() << (split ? ", split" : "");
    }
  }
}

TEST_P(CudaClusterFirst, ServesLaunchesThatFollowEachOtherInClustersOfAnySize) {
  const uint32_t blocks = sms() / 8 * 4;
  cuda_barrier_storage<cluster_first> storage(device(), blocks);
  const auto slots = words(blocks);
  const auto early = words(1);
  uint32_t passed = 0;
  for (int round = 0; round < 10; ++round) {
    for (const launch_shape shape :
         {in_clusters(blocks, 64), launch_shape{blocks, 64}, in_clusters(GetParam(), 32), launch_shape{3, 96}}) {
      launch(device(), nullptr, shape, waits<cluster_first>, storage.barrier(), address(slots), address(early), passed,
             50u);
      passed += 50;
    }
  }
  EXPECT_EQ(contents(early)[0], 0u);
}

TEST_P(CudaClusterFirst, PassesTheWrapOfItsPhase) {
  const launch_shape shape = in_clusters(sms() / 2, 32);
  const auto blocks = static_cast<uint32_t>(shape.blocks.count());
  {
    cuda_barrier_storage<cluster_first> storage(device(), blocks);
    EXPECT_EQ(early_releases(storage, shape, phases(70000)), 0u);
  }
  cuda_barrier_storage<cluster_first> storage(device(), blocks, 0u - 50u);
  EXPECT_EQ(early_releases(storage, shape, 500), 0u);
}

TEST_P(CudaClusterFirst, CanBeCapturedIntoAGraphAndReplayed) {
  const launch_shape shape = in_clusters(sms() / 2, 64);
  cuda_barrier_storage<cluster_first> storage(device(), static_cast<uint32_t>(shape.blocks.count()));
  const auto halves = words(6 * shape.blocks.count() * shape.threads.count());
  const auto wrong = words(1);
  replay(10, [&](cudaStream_t stream) {
    for (int i = 0; i < 3; ++i) {
      launch(device(), stream, shape, publishes<cluster_first>, storage.barrier(), address(halves), address(wrong), 50u,
             i == 1);
    }
  });
  EXPECT_EQ(contents(wrong)[0], 0u);
}

TEST_P(CudaClusterFirst, IsNotStartedWithMoreClustersThanRunAtOnceOrWithAPartOfOne) {
  const uint64_t most = max_co_resident(device(), waits<cluster_first>, in_clusters(sms(), 256)).blocks();
  const launch_shape too_many = in_clusters(most + GetParam(), 256);
  launch_shape partial = in_clusters(2 * GetParam(), 256);
  partial.blocks = 2 * GetParam() - 1;
  cuda_barrier_storage<cluster_first> storage(device(), static_cast<uint32_t>(too_many.blocks.count()));
  const auto unused = words(1);
  EXPECT_THROW(launch(device(), nullptr, too_many, waits<cluster_first>, storage.barrier(), address(unused),
                      address(unused), 0u, 1u),
               not_co_resident);
  EXPECT_THROW(launch(device(), nullptr, partial, waits<cluster_first>, storage.barrier(), address(unused),
                      address(unused), 0u, 1u),
               invalid_argument);
}

}  // namespace
}  // namespace gpusync
