#include "results/verdict.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "results/metrics.hpp"
#include "sample_rows.hpp"

namespace gpusync::tool {
namespace {

constexpr const char* where = "(NVIDIA H200, 132 blocks of 256 threads, stores in flight).";

verdict verdict_on_rows(std::vector<row> rows) {
  const auto found = main_verdicts(h200_document(std::move(rows)));
  return found.empty() ? verdict{} : found.front();
}

std::string decision_on(std::vector<row> rows) {
  return verdict_on_rows(std::move(rows)).text;
}

/// A row that has kept its rounds.
row with_rounds(row entry, std::vector<double> rounds) {
  entry.metrics.front().second = median_metric(rounds, 1, "us", true);
  return entry;
}

TEST(verdict, says_what_to_use_first_and_what_it_is_better_than) {
  const verdict found =
      verdict_on_rows({barrier_row("no-barrier", 0.3), barrier_row("relaunch", 3.49), barrier_row("graph", 1.28),
                       wrong_row("lock-based-none", 0.9), barrier_row("lock-based-acquire-release", 1.2)});
  EXPECT_EQ(found.text,
            std::string("Use lock-based-acquire-release: 1.20 us a step, 1.07x faster than a CUDA graph ") + where);
  EXPECT_EQ(
      found.behind,
      "lock-based-acquire-release takes 1.20 us a step (the work alone: 0.300 us); a CUDA graph takes 1.28 us (1.07x), "
      "stream relaunch 3.49 us (2.9x); wrong results: lock-based-none.");
}

TEST(verdict, whole_runs_are_judged_like_steps) {
  const auto whole = [](row entry) {
    entry.experiment = "smith-waterman";
    entry.metrics.front().first = "run_time";
    entry.metrics.front().second.unit = "ms";
    return entry;
  };
  EXPECT_EQ(decision_on({whole(barrier_row("graph", 12.8)), whole(barrier_row("cg", 3))}),
            std::string("Use cooperative groups' grid sync: 3.00 ms a run, 4.3x faster than a CUDA graph ") + where);
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
  const verdict found = verdict_on_rows({barrier_row("lock-based-none", 0.5), barrier_row("cg", 1)});
  EXPECT_EQ(found.text, std::string("Use cooperative groups' grid sync: 1.00 us a step ") + where);
  EXPECT_NE(found.behind.find("ordering nothing and so not to be trusted: lock-based-none."), std::string::npos);
}

TEST(verdict, unverified_failed_and_skipped_rows_never_win) {
  row unverified = barrier_row("graph", 0.5);
  unverified.verified.reset();
  row failed = barrier_row("relaunch", 0.4);
  failed.status = row_status::failed;
  const verdict found = verdict_on_rows({unverified, failed, skipped_row("cooperative-relaunch", "no")});
  EXPECT_EQ(found.text, std::string("No method has verified results ") + where);
  EXPECT_EQ(found.behind, "Failed: relaunch; not verified: graph; skipped: cooperative-relaunch.");
}

TEST(verdict, what_differs_by_less_than_two_percent_for_certain_is_called_the_same) {
  const verdict found = verdict_on_rows({with_rounds(barrier_row("a", 0), {1.20, 1.21, 1.20, 1.21, 1.20, 1.21, 1.20}),
                                         with_rounds(barrier_row("b", 0), {1.21, 1.22, 1.21, 1.22, 1.20, 1.22, 1.21}),
                                         with_rounds(barrier_row("c", 0), {2, 2, 2, 2, 2, 2, 2})});
  EXPECT_EQ(found.text, std::string("Use a: 1.20 us a step, 1.67x faster than c ") + where);
  EXPECT_NE(found.behind.find("; the same within 2 %: b (1.21 us); c takes 2.00 us (1.67x)."), std::string::npos)
      << found.behind;
}

TEST(verdict, what_may_be_faster_for_all_that_the_rounds_say_is_too_noisy) {
  const verdict found = verdict_on_rows({with_rounds(barrier_row("a", 0), {1.0, 1.4, 0.9, 1.5, 1.2, 0.8, 1.1}),
                                         with_rounds(barrier_row("b", 0), {1.3, 1.0, 1.2, 1.0, 1.3, 1.1, 1.2})});
  EXPECT_EQ(found.text, std::string("Too noisy to say whether a or b is fastest; measure again, idle ") + where);
  EXPECT_NE(found.behind.find("; not told apart from it: b (1.20 us)."), std::string::npos) << found.behind;
}

TEST(verdict, which_kind_to_use_is_said_even_where_noise_hides_which_of_them) {
  EXPECT_EQ(decision_on({with_rounds(barrier_row("tree-2-fence", 0), {1.0, 1.4, 0.9, 1.5, 1.2, 0.8, 1.1}),
                         with_rounds(barrier_row("lock-based-fence", 0), {1.3, 1.0, 1.2, 1.0, 1.3, 1.1, 1.2}),
                         with_rounds(barrier_row("launch-wait", 0), {50, 51, 48, 49, 50, 52, 47})}),
            std::string("Use a barrier such as tree-2-fence: 1.10 us a step; noise hides the best ") + where);
}

TEST(verdict, overlapping_quartiles_do_not_make_forty_times_as_much_the_same) {
  // What a busy machine once gave: 0.816 us against 38.0, with quartiles that overlap.
  row noisy = barrier_row("launch-wait", 38.0);
  noisy.metrics.front().second.q1 = 0.7;
  noisy.metrics.front().second.q3 = 95.0;
  noisy.metrics.front().second.n = 7;
  const verdict found = verdict_on_rows({barrier_row("replicated-4", 0.816, 0.3), noisy});
  EXPECT_EQ(found.text.find("as fast as"), std::string::npos);
  EXPECT_EQ(found.behind.find("the same"), std::string::npos) << found.behind;
  EXPECT_TRUE(found.text.starts_with("Too noisy to say")) << found.text;
}

TEST(verdict, without_quick_is_advised_only_to_whom_used_it) {
  document results = h200_document({with_rounds(barrier_row("a", 0), {1.0, 1.4, 0.9, 1.5, 1.2, 0.8, 1.1}),
                                    with_rounds(barrier_row("b", 0), {1.3, 1.0, 1.2, 1.0, 1.3, 1.1, 1.2})});
  results.context["command"] = {"gpusync", "run", "barrier-cost", "--quick"};
  EXPECT_EQ(main_verdicts(results).front().text,
            "Too noisy to say whether a or b is fastest; measure again, idle and without --quick "
            "(cuda:0, 132 blocks of 256 threads, stores in flight).");
  results.context["command"] = {"gpusync", "run", "barrier-cost"};
  EXPECT_EQ(main_verdicts(results).front().text.find("--quick"), std::string::npos);
}

TEST(verdict, too_few_rounds_are_not_called_noise) {
  document results = h200_document({with_rounds(barrier_row("relaunch", 0), {5.1, 5.2}),
                                    with_rounds(barrier_row("lock-based-acquire-release", 0), {4100, 4472})});
  EXPECT_EQ(main_verdicts(results).front().text,
            "Too few rounds (2) to be certain: stream relaunch 5.15 us, lock-based-acquire-release 4286 us "
            "(NVIDIA H200, 132 blocks of 256 threads, stores in flight).");
  results.context["command"] = {"gpusync", "--quick"};
  for (row& entry : results.rows) entry.axes = {{"elements", int64_t{64}}};
  EXPECT_EQ(main_verdicts(results).front().text,
            "Too few rounds (2) to be certain: stream relaunch 5.15 us, lock-based-acquire-release 4286 us; measure "
            "without --quick (NVIDIA H200, elements 64).");
  const std::vector<double> five{1, 1, 1, 1, 1};
  EXPECT_EQ(decision_on({with_rounds(barrier_row("a", 0), five), with_rounds(barrier_row("b", 0), {2, 2, 2, 2, 2}),
                         with_rounds(barrier_row("c", 0), {3, 3, 3, 3, 3})}),
            std::string("Too few rounds (5) to be certain: a 1.00 us, b 2.00 us and 1 more (cuda:0, 132 blocks of 256 "
                        "threads, stores in flight)."));
  // Where one of them has rounds enough it is the noise.
  EXPECT_TRUE(decision_on({with_rounds(barrier_row("a", 0), {1.0, 1.4, 0.9, 1.5, 1.2, 0.8, 1.1}),
                           with_rounds(barrier_row("b", 0), {1.3, 1.0, 1.2, 1.0, 1.3, 1.1, 1.2}),
                           with_rounds(barrier_row("c", 0), {3, 3, 3, 3, 3})})
                  .starts_with("Too noisy to say"));
}

TEST(verdict, says_why_there_is_nothing_to_recommend) {
  EXPECT_EQ(decision_on({barrier_row("no-barrier", 1)}),
            std::string("Nothing to choose: only the work alone was measured ") + where);
  row lost = barrier_row("cg", 1);
  lost.status = row_status::skipped;
  lost.reason = "Not above the noise: longer runs did not take longer for certain.";
  lost.metrics.front().second.value.reset();
  for (const std::vector<row>& some : {std::vector{lost}, {barrier_row("no-barrier", 1), lost}}) {
    EXPECT_EQ(decision_on(some), std::string("Nothing rose above the noise; measure again, idle ") + where);
  }
  const auto refused = [](const char* method) {
    row entry = barrier_row(method, 1, 0.01, 40000, 1);
    entry.status = row_status::skipped;
    entry.verified.reset();
    entry.metrics = {{"step_time", empty_metric("us")}};
    entry.reason = "40000 blocks of 1 threads cannot all run at once on the host: at most 32765. Use fewer blocks.";
    return entry;
  };
  row floor = barrier_row("no-barrier", 1, 0.01, 40000, 1);
  EXPECT_EQ(decision_on({floor, refused("cg"), refused("tree-2-fence")}),
            "No way to wait was measured: 40000 blocks of 1 threads cannot all run at once on the host (cuda:0).");
  for (const std::vector<row>& some : {std::vector{refused("cg")}, {refused("no-barrier"), refused("cg")}}) {
    EXPECT_EQ(
        decision_on(some),
        "Nothing was measured: 40000 blocks of 1 threads cannot all run at once on the host (cuda:0, 40000 blocks "
        "of 1 thread, stores in flight).");
  }
  EXPECT_EQ(decision_on({barrier_row("lock-based-none", 1), barrier_row("no-barrier", 1)}),
            std::string("Nothing to choose: only what orders nothing was measured ") + where);
  EXPECT_EQ(decision_on({wrong_row("cg", 1), barrier_row("no-barrier", 1)}),
            std::string("No method has verified results ") + where);
}

TEST(verdict, keeps_within_twenty_five_words_whatever_the_device_is_called) {
  document results = h200_document({barrier_row("graph", 12.8), barrier_row("cg", 3)});
  results.context["devices"][0]["name"] = "A Device With Quite A Long Name @ 2.70 GHz and More";
  const std::string text = main_verdicts(results).front().text;
  EXPECT_LE(std::ranges::count(text, ' '), 24) << text;
  EXPECT_NE(text.find("(cuda:0, 132 blocks of 256 threads, stores in flight)"), std::string::npos) << text;
}

TEST(verdict, the_answer_is_about_the_largest_shape_of_the_first_device) {
  row elsewhere = barrier_row("cg", 9, 0.01, 4096, 1024);
  elsewhere.device = "host";
  const std::string text =
      decision_on({barrier_row("cg", 1, 0.01, 1, 256), barrier_row("cg", 2, 0.01, 132, 256, 0),
                   barrier_row("cg", 3, 0.01, 132, 256, 1), barrier_row("cg", 4, 0.01, 16, 64), elsewhere});
  EXPECT_NE(text.find("3.00 us"), std::string::npos) << text;
}

TEST(verdict, the_answer_is_about_the_usual_shape_where_it_was_measured) {
  document results = h200_document({barrier_row("cg", 1, 0.01, 264, 1024), barrier_row("cg", 2, 0.01, 132, 256, 0),
                                    barrier_row("cg", 3, 0.01, 132, 256, 1)});
  results.context["devices"][0]["compute_units"] = 132;
  EXPECT_NE(main_verdicts(results).front().text.find("3.00 us"), std::string::npos)
      << main_verdicts(results).front().text;
}

TEST(verdict, there_is_none_without_step_times) {
  EXPECT_TRUE(main_verdicts({}).empty());
  row other = barrier_row("cg", 1);
  other.metrics[0].first = "bandwidth";
  EXPECT_EQ(decision_on({other}), "");
}

}  // namespace
}  // namespace gpusync::tool
