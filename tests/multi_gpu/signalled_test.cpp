// Barriers across GPUs whose messages are a communication library's signals, on host threads: one host or several.
#include "support/gpus.hpp"
#include "support/host_cluster.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using test::host_cluster;
using test::host_signals;
using test::launch_on_each;
using test::mismatches;

constexpr auto soon = 60ms;
/// Longer than any test takes: a wait that would hang fails instead.
constexpr auto patience = 20s;

const std::vector<std::vector<int>> machines{
    {0}, {0, 0}, {0, 1}, {0, 0, 1}, {0, 1, 2}, {0, 0, 1, 1}, {0, 0, 0, 1, 2, 2}};

TEST(Signalled, EveryBlockSeesWhatEveryBlockOfEveryHostHasWritten) {
  for (const auto& hosts : machines) {
    const auto gpus = static_cast<uint32_t>(hosts.size());
    for (const uint32_t blocks : {1u, 3u}) {
      for (const uint32_t threads : {1u, 3u}) {
        host_cluster cluster(hosts, blocks);
        EXPECT_EQ(mismatches(cluster, std::vector<uint32_t>(gpus, blocks), threads, 20), 0u)
            << gpus << " GPUs, " << blocks << " blocks of " << threads;
        EXPECT_EQ(mismatches(cluster, std::vector<uint32_t>(gpus, 1), threads, 7, true), 0u);
      }
    }
  }
}

TEST(Signalled, CountersWrapUnnoticed) {
  for (const uint32_t first : {0xfffffff8u, 0xfff8u}) {
    host_cluster cluster({0, 1, 1}, 3, first);
    EXPECT_EQ(mismatches(cluster, {3, 2, 1}, 2, 20), 0u) << first;
    EXPECT_EQ(mismatches(cluster, {1, 3, 2}, 1, 20), 0u) << first;
  }
}

TEST(Signalled, ServesManyGpus) {
  std::vector<int> hosts;
  for (int i = 0; i < 24; ++i) hosts.push_back(i / 5);
  host_cluster cluster(hosts, 1);
  EXPECT_EQ(mismatches(cluster, std::vector<uint32_t>(hosts.size(), 1), 1, 3), 0u);
  EXPECT_EQ(mismatches(cluster, std::vector<uint32_t>(hosts.size(), 1), 2, 3), 0u);
}

/// A message for each GPU out of reach and phase; and each block asks for what came with the messages it has seen.
TEST(Signalled, SendsMessagesOnlyWhereNoStoreReaches) {
  host_cluster near({0, 0, 0}, 2);
  EXPECT_EQ(mismatches(near, {2, 2, 2}, 1, 10), 0u);
  EXPECT_EQ(host_signals::sent, 0u);
  EXPECT_EQ(host_signals::visible, 0u);
  host_cluster far({0, 0, 1}, 2);
  EXPECT_EQ(mismatches(far, {2, 2, 2}, 1, 10), 0u);
  EXPECT_EQ(host_signals::sent, 10u * 4);
  EXPECT_EQ(host_signals::visible, 10u * 3 * 2 * 3);
  EXPECT_EQ(host_signals::early, 0u);
}

TEST(Signalled, RefusesWhatIsNoRankAndTooManyGpus) {
  const auto refusal = [](uint32_t gpu, uint32_t gpus) {
    try {
      test::cluster_part<> part(gpu, gpus, 1, 0);
    } catch (const invalid_argument& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(127, 128), "");
  EXPECT_NE(refusal(0, 129).find("joins 1 to 128 GPUs"), std::string::npos);
  EXPECT_NE(refusal(2, 2).find("GPU 2 of 2 was asked for"), std::string::npos);
  EXPECT_NE(refusal(0, 0).find("GPU 0 of 0 was asked for"), std::string::npos);
}

TEST(Signalled, NamesTheBlocksOfAGpuInReachAndTheGpuOutOfIt) {
  host_cluster cluster({0, 0, 1}, 2);
  std::atomic<uint32_t> timed_out{0};
  launch_on_each(cluster, {2, 2, 2}, 2, [&](auto& b, uint32_t gpu, uint32_t block) {
    for (int phase = 0; phase < 3; ++phase) b.sync();
    if (gpu != 0 && block == 1) return;
    timed_out += b.sync_for(soon) == wait_status::timed_out;
  });
  EXPECT_EQ(timed_out, 8u);
  constexpr uint32_t unknown = timeout_report::unknown_block;
  // Of the other host a GPU knows by its word alone how far it is; GPU 0 is there.
  const auto expect = [&](uint32_t gpu, const std::vector<missing_gpu_block>& missing, const std::string& words) {
    EXPECT_EQ(cluster.part(gpu).missing(), missing) << gpu;
    EXPECT_NE(cluster.part(gpu).report().find(words), std::string::npos) << cluster.part(gpu).report();
  };
  expect(
      0, {{1, 1, 3, true}, {2, unknown, 3, true}},
      "timed out in phase 3 of an earlier launch, missing block 1 of GPU 1, missing GPU 2, whose own report tells the "
      "blocks, so its count");
  expect(2, {{1, unknown, 3, true}, {2, 1, 3, true}},
         "missing GPU 1, whose own report tells the blocks, missing block 1 of GPU 2");
}

TEST(Signalled, TellsAGpuThatWasNeverLaunchedFromOneThatIsLate) {
  host_cluster cluster({0, 1, 2}, 2);
  launch_on_each(cluster, {2, 2, 0}, 1,
                 [&](auto& b, uint32_t, uint32_t) { EXPECT_EQ(b.sync_for(soon), wait_status::timed_out); });
  for (const uint32_t gpu : {0u, 1u}) {
    EXPECT_EQ(cluster.part(gpu).missing().back(), (missing_gpu_block{2, timeout_report::unknown_block, 0, false}));
    EXPECT_NE(
        cluster.part(gpu).report().find("missing GPU 2, of which no block was seen in that launch: it may not have "
                                        "been launched yet"),
        std::string::npos)
        << cluster.part(gpu).report();
    EXPECT_EQ(cluster.part(gpu).report().find("missing GPU " + std::to_string(1 - gpu)), std::string::npos);
  }
}

/// Beyond 32, where the bits of GPUs that were not seen fill more than a word.
TEST(Signalled, NamesGpusBeyondTheThirtySecond) {
  host_cluster cluster(std::vector<int>(70, 0), 1);
  std::vector<uint32_t> blocks(70, 0);
  blocks[40] = 1;
  launch_on_each(cluster, blocks, 1, [&](auto& b, uint32_t, uint32_t) { (void)b.sync_for(soon); });
  EXPECT_EQ(cluster.part(40).missing().size(), 69u);
  for (const uint32_t gpu : {0u, 31u, 32u, 39u, 41u, 63u, 64u, 69u}) {
    EXPECT_NE(cluster.part(40).report().find("missing GPU " + std::to_string(gpu) + ","), std::string::npos) << gpu;
  }
  EXPECT_EQ(cluster.part(40).report().find("missing GPU 40,"), std::string::npos);
  EXPECT_EQ(cluster.part(40).report().find("missing GPU 70,"), std::string::npos);
}

TEST(Signalled, ATimeOutEndsTheWaitsOfAllHosts) {
  host_cluster cluster({0, 0, 1, 2}, 1);
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<uint32_t> timed_out{0};
  launch_on_each(cluster, {1, 1, 1, 0}, 2, [&](auto& b, uint32_t gpu, uint32_t) {
    timed_out += b.sync_for(gpu == 0 ? timeout(soon) : timeout(patience)) == wait_status::timed_out;
  });
  EXPECT_EQ(timed_out, 6u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_NE(cluster.part(0).report().find("missing GPU 3"), std::string::npos);
}

}  // namespace
}  // namespace gpusync
