#include "results/verdict.hpp"

#include <gtest/gtest.h>

#include "sample_rows.hpp"

namespace gpusync::tool {
namespace {

constexpr const char* where = "NVIDIA H200, 132 blocks of 256 threads, stores in flight: ";

std::string verdict_on_rows(std::vector<row> rows) {
  return answer(h200_document(std::move(rows)));
}

TEST(verdict, names_the_winner_its_rivals_and_the_wrong) {
  EXPECT_EQ(verdict_on_rows({barrier_row("no-barrier", 0.3), barrier_row("relaunch", 3.49), barrier_row("graph", 1.28),
                             wrong_row("lock-based-none", 0.9), barrier_row("lock-based-acquire-release", 1.2)}),
            std::string(where) +
                "lock-based-acquire-release is the cheapest way to wait, 1.20 us a step (the work alone: "
                "0.300 us); a "
                "CUDA graph takes 1.28 us (1.07x), stream relaunch 3.49 us (2.9x); wrong results: "
                "lock-based-none.");
}

TEST(verdict, whole_runs_are_judged_like_steps) {
  const auto whole = [](row entry) {
    entry.experiment = "smith-waterman";
    entry.metrics.front().first = "run_time";
    entry.metrics.front().second.unit = "ms";
    return entry;
  };
  EXPECT_EQ(verdict_on_rows({whole(barrier_row("graph", 12.8)), whole(barrier_row("cg", 3))}),
            std::string(where) +
                "cooperative groups' grid sync is the cheapest way to wait, 3.00 ms a run; a CUDA graph "
                "takes 12.8 ms (4.3x).");
}

TEST(verdict, wrong_results_never_win_however_fast) {
  row wrong_but_ok = wrong_row("cg", 0.1);
  wrong_but_ok.status = row_status::ok;  // a document from elsewhere may contradict itself
  const auto found = verdicts(h200_document({wrong_but_ok, wrong_row("graph", 0.2), barrier_row("relaunch", 3.5)}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].winner, "relaunch");
}

TEST(verdict, the_work_alone_never_wins) {
  EXPECT_EQ(verdicts(h200_document({barrier_row("no-barrier", 0.1), barrier_row("cg", 1)}))[0].winner, "cg");
}

TEST(verdict, a_method_that_orders_nothing_never_wins_even_if_its_results_came_out_right) {
  EXPECT_EQ(verdict_on_rows({barrier_row("lock-based-none", 0.5), barrier_row("cg", 1)}),
            std::string(where) +
                "cooperative groups' grid sync is the cheapest way to wait, 1.00 us a step; ordering "
                "nothing and so not to be trusted: lock-based-none.");
}

TEST(verdict, unverified_failed_and_skipped_rows_never_win) {
  row unverified = barrier_row("graph", 0.5);
  unverified.verified.reset();
  row failed = barrier_row("relaunch", 0.4);
  failed.status = row_status::failed;
  EXPECT_EQ(verdict_on_rows({unverified, failed, skipped_row("cooperative-relaunch", "no")}),
            std::string(where) +
                "no method has verified results; failed: relaunch; not verified: graph; skipped: "
                "cooperative-relaunch.");
}

TEST(verdict, methods_whose_quartiles_overlap_are_as_fast_as_each_other) {
  EXPECT_EQ(verdict_on_rows({barrier_row("a", 1.2, 0.02), barrier_row("b", 1.21, 0.02), barrier_row("c", 2)}),
            std::string(where) +
                "a is as fast as b, 1.20 us a step against 1.21 us with overlapping quartiles; no way "
                "to wait is cheaper; c takes 2.00 us (1.67x).");
}

TEST(verdict, the_answer_is_about_the_largest_shape_of_the_first_device) {
  row elsewhere = barrier_row("cg", 9, 0.01, 4096, 1024);
  elsewhere.device = "host";
  const std::string text =
      verdict_on_rows({barrier_row("cg", 1, 0.01, 1, 256), barrier_row("cg", 2, 0.01, 132, 256, 0),
                       barrier_row("cg", 3, 0.01, 132, 256, 1), barrier_row("cg", 4, 0.01, 16, 64), elsewhere});
  EXPECT_TRUE(text.starts_with(where)) << text;
}

TEST(verdict, there_is_none_without_step_times) {
  EXPECT_EQ(answer({}), "");
  row other = barrier_row("cg", 1);
  other.metrics[0].first = "bandwidth";
  EXPECT_EQ(verdict_on_rows({other}), "");
}

}  // namespace
}  // namespace gpusync::tool
