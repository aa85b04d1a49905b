// What hangs and what is wrong must be seen to be so: too many work-groups, and the texts of the thesis as printed. All
// in child processes that are ended when they take too long.
#include "fixture.hpp"
#include "support/watched_child.hpp"

namespace gpusync::opencl::test {

namespace {

using gpusync::test::outcome;
using gpusync::test::watch;

bool right(const outcome& found) {
  return !found.hung && found.output.find("wrong 0\n") != std::string::npos;
}
bool early(const outcome& found) {
  return !found.hung && found.output.find("wrong ") != std::string::npos && !right(found);
}

/// On PoCL, which runs as many work-groups at once as it is told to.
class watched : public device_test {
 protected:
  void SetUp() override {
    device_test::SetUp();
    if (!IsSkipped() && !is_pocl()) GTEST_SKIP() << "only on PoCL can be said how many work-groups run at once";
  }

  static outcome run(const char* scenario, const std::string& sync, int groups, int items, int threads,
                     std::chrono::milliseconds limit = std::chrono::seconds(5)) {
    return watch({"env", "POCL_MAX_PTHREAD_COUNT=" + std::to_string(threads), GPUSYNC_WATCHED, scenario, sync,
                  std::to_string(groups), std::to_string(items)},
                 limit);
  }
  /// What ends at all ends within a second.
  static outcome run_to_hang(const char* scenario, const std::string& sync, int groups, int items, int threads) {
    return run(scenario, sync, groups, items, threads, std::chrono::seconds(3));
  }
};

TEST_F(watched, barriers_hold_where_the_printed_texts_do_not) {
  for (const barrier_algorithm* algorithm : barrier_algorithms) {
    const auto three = run("late", algorithm->family, 3, 4, 3);
    EXPECT_TRUE(right(three)) << algorithm->family << ": " << three.output;
    const auto alone = run("late", algorithm->family, 3, 1, 3);
    EXPECT_TRUE(right(alone)) << algorithm->family << ": " << alone.output;
  }
}

TEST_F(watched, printed_centralized_barrier_lets_go_while_others_are_missing) {
  const auto found = run("late", "printed:centralized", 3, 4, 3);
  EXPECT_TRUE(early(found)) << found.output;
}

TEST_F(watched, printed_decentralized_barrier_hangs_with_fewer_work_items_than_groups) {
  const auto found = run_to_hang("late", "printed:decentralized", 2, 1, 2);
  EXPECT_TRUE(found.hung) << found.output;
}

TEST_F(watched, no_barrier_is_found_out_too) {
  const auto found = run("late", "none", 2, 4, 2);
  EXPECT_TRUE(early(found)) << found.output;
}

TEST_F(watched, more_groups_than_run_at_once_are_refused_in_words_and_hang_when_forced) {
  for (const barrier_algorithm* algorithm : barrier_algorithms) {
    const auto refused = run("checked", algorithm->family, 4, 16, 2);
    EXPECT_NE(refused.output.find("4 work-groups of 16 work-items cannot all run at once on"), std::string::npos)
        << refused.output;
    EXPECT_NE(refused.output.find("at most 2"), std::string::npos) << refused.output;
  }
  for (const char* family : {"lock-based", "decentralized"}) {
    const auto forced = run_to_hang("late", family, 4, 16, 2);
    EXPECT_TRUE(forced.hung) << family << ": " << forced.output;
  }
  EXPECT_TRUE(right(run("late", "lock-based", 4, 16, 4))) << "with a thread for each they end";
  EXPECT_TRUE(right(run("checked", "lock-based", 2, 16, 2)));
}

TEST_F(watched, phased_grids_complete_where_the_plain_barrier_hangs) {
  for (const char* family : {"lock-based", "centralized"}) {
    const auto plain = run_to_hang("late", family, 128, 4, 2);
    EXPECT_TRUE(plain.hung) << family << ": " << plain.output;
    const auto phased = run("phased", family, 128, 4, 2);
    EXPECT_TRUE(right(phased)) << family << ": " << phased.output;
  }
}

/// Oclgrind knows the barrier of a work-group, but no order between work-groups: with two it takes for a race whatever
/// one writes and the other reads, whatever the atomics in between. So it is asked about one.
class oclgrind : public testing::Test {
 protected:
  void SetUp() override {
    if (watch({"oclgrind", "--version"}).output.find("Oclgrind") == std::string::npos) {
      GTEST_SKIP() << "there is no oclgrind (on Debian: apt-get install oclgrind)";
    }
  }

  // Unoptimized, for Oclgrind 21.10 does not know all that its compiler's optimizer leaves in a program.
  static std::string race(const std::string& sync) {
    return watch({"oclgrind", "--data-races", "--uniform-writes", "--build-options", "-cl-opt-disable", GPUSYNC_WATCHED,
                  "race", sync})
        .output;
  }
  static outcome late(const std::string& sync) {
    return watch({"oclgrind", "--num-threads", "2", "--build-options", "-cl-opt-disable", GPUSYNC_WATCHED, "late", sync,
                  "2", "4", "100000"});
  }
};

TEST_F(oclgrind, finds_no_race_in_any_barrier) {
  for (const barrier_algorithm* algorithm : barrier_algorithms) {
    const std::string output = race(algorithm->family);
    EXPECT_NE(output.find("wrong 0\n"), std::string::npos) << algorithm->family << ": " << output;
    EXPECT_EQ(output.find("race at"), std::string::npos) << algorithm->family << ": " << output;
  }
}

TEST_F(oclgrind, finds_the_race_where_there_is_no_barrier) {
  EXPECT_NE(race("none").find("data race at"), std::string::npos);
}

/// On Oclgrind, which runs a work-item until it comes to a barrier and then the next. PoCL 3.1 makes wrong code of the
/// printed text, whose barrier stands under a condition.
TEST_F(oclgrind, shows_that_the_printed_decentralized_barrier_lets_go_while_work_items_are_writing) {
  const auto printed = late("printed:decentralized");
  EXPECT_TRUE(early(printed)) << printed.output;
  const auto ours = late("decentralized");
  EXPECT_TRUE(right(ours)) << ours.output;
}

}  // namespace

}  // namespace gpusync::opencl::test
