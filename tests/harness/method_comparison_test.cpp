// Rows of methods that were compared, with programs whose figures are known.
#include "harness/method_comparison.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include <gpusync/core/error.hpp>
#include "harness/choices.hpp"
#include "results/groups.hpp"
#include "support/known_clock.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

step_method method(const std::string& name, method_kind kind = method_kind::barrier, bool ordered = true) {
  step_method made;
  made.name = name;
  made.kind = kind;
  made.ordered = ordered;
  return made;
}

/// A program whose turns take `first`, twice, three times and so on as long.
prepared_method rising(double first, uint64_t wrong = 0) {
  auto count = std::make_shared<int>(0);
  return {{[=]() -> turn_samples {
             return {{"time", first * ++*count}};
           },
           [] {}},
          [wrong]() -> verification {
            return {true, 100, wrong, "known"};
          }};
}

prepared_method prepared(const step_method& what) {
  if (what.name == "too large") throw not_co_resident("Too many blocks.", 2, 1);
  if (what.name == "not here") throw error("Not on this device.");
  if (what.name == "broken runtime") throw runtime_failure("The runtime failed.", 1);
  prepared_method made = rising(what.name == "twice" ? 2 : 1, what.name.starts_with("wrong") ? 5 : 0);
  if (what.name == "throws") made.program.run = []() -> turn_samples { throw std::runtime_error("Thrown."); };
  if (what.name == "refused late") {
    made.program.run = []() -> turn_samples { throw invalid_argument("Only when it runs."); };
  }
  if (what.name == "sticks") {
    made.program.run = []() -> turn_samples { throw stuck_launch("host", "It never ends."); };
  }
  return made;
}

std::vector<method_result> compared_under(const std::vector<step_method>& methods, bool interrupted = false) {
  experiment_request request;
  request.device.id = "host";
  experiment_sink sink;
  sink.interrupted = [interrupted] { return interrupted; };
  const known_clock clock(device_kind::host, 1500);
  return compare_methods({"known", request, sink, {"X1"}}, methods, prepared, {4, 4, -1, -1, 1e12}, [](double) {});
}

row row_of(const step_method& what) {
  return compared_under({what}).at(0).entry;
}

TEST(MethodComparison, ARowSaysWhatItsMethodIsAndWhatWasFound) {
  const row entry = row_of(method("relaunch", method_kind::launch));
  EXPECT_EQ(entry.experiment, "known");
  EXPECT_EQ(entry.items, std::vector<std::string>{"X1"});
  EXPECT_EQ(entry.device, "host");
  EXPECT_EQ(entry.method, "relaunch");
  EXPECT_EQ(entry.kind, method_kind::launch);
  EXPECT_TRUE(entry.rival);
  EXPECT_TRUE(entry.ordered);
  EXPECT_EQ(entry.clock_mhz, 1500);
  EXPECT_EQ(entry.verified, true);
  EXPECT_EQ(entry.verification, "100 words: known");
  EXPECT_EQ(entry.status, row_status::ok);
}

TEST(MethodComparison, WhatCannotRunIsSkippedAndWhatBreaksHasFailed) {
  const auto status_and_reason = [](const char* name) {
    const row entry = row_of(method(name));
    return std::pair(entry.status, entry.reason.value_or(""));
  };
  EXPECT_EQ(status_and_reason("too large"), std::pair(row_status::skipped, std::string("Too many blocks.")));
  EXPECT_EQ(status_and_reason("not here"), std::pair(row_status::skipped, std::string("Not on this device.")));
  EXPECT_EQ(status_and_reason("refused late"), std::pair(row_status::skipped, std::string("Only when it runs.")));
  EXPECT_EQ(status_and_reason("broken runtime"), std::pair(row_status::failed, std::string("The runtime failed.")));
  EXPECT_EQ(status_and_reason("throws"), std::pair(row_status::failed, std::string("Thrown.")));
}

TEST(MethodComparison, BehindAStuckLaunchNothingIsDoneOnTheDevice) {
  const std::vector<method_result> around = compared_under({method("once"), method("sticks"), method("wrong")});
  const row after = row_of(method("once"));
  stuck_devices().clear();
  EXPECT_EQ(around[1].entry.status, row_status::failed);
  EXPECT_EQ(around[1].entry.reason, "It never ends.");
  for (const row& entry : {around[0].entry, around[2].entry, after}) {
    EXPECT_EQ(entry.status, row_status::skipped);
    EXPECT_EQ(entry.reason, "The device is stuck in a launch before this one.");
    EXPECT_EQ(entry.verified, std::nullopt) << "a check would wait for the launch";
    EXPECT_EQ(entry.clock_mhz, std::nullopt);
  }
}

TEST(MethodComparison, WhatLivesOnADeviceOutlivesAStuckLaunch) {
  struct counted {
    int& freed;
    ~counted() { ++freed; }
  };
  int freed = 0;
  kept_if_stuck(std::unique_ptr<counted>(new counted{freed})).reset();
  EXPECT_EQ(std::exchange(freed, 0), 1);
  counted* left = nullptr;
  {
    const auto kept = kept_if_stuck(std::unique_ptr<counted>(new counted{freed}));
    left = kept.get();
    EXPECT_THROW(throw stuck_launch("cuda:0", "It never ends."), error);
    EXPECT_THROW(require_not_stuck("cuda:0"), behind_stuck_launch);
    EXPECT_NO_THROW(require_not_stuck("cuda:1"));
  }
  stuck_devices().clear();
  EXPECT_EQ(freed, 0);
  delete left;
}

TEST(MethodComparison, WrongResultsAreAFailureOfWhoClaimsRightOnes) {
  const auto results = compared_under({method("wrong"), method("wrong-none", method_kind::barrier, false)});
  EXPECT_EQ(results[0].entry.status, row_status::failed);
  EXPECT_EQ(results[0].entry.reason, "Wrong results: 5 of 100 checked words (5 %).");
  EXPECT_TRUE(results[0].claims_correctness);
  EXPECT_FALSE(has_usable_times(results[0].entry));
  EXPECT_EQ(results[1].entry.reason,
            "Wrong results: 5 of 100 checked words (5 %). This method orders no data, so it may read stale words.");
  EXPECT_FALSE(results[1].claims_correctness);
  EXPECT_TRUE(has_usable_times(results[1].entry));
}

TEST(MethodComparison, RatiosAreByRoundAndOfWhatIsOk) {
  auto results = compared_under({method("once"), method("too large"), method("twice"), method("wrong")});
  add_ratios(results, "time", "time", {"once", "wrong", "absent"});
  EXPECT_EQ(*value_of(results[2].entry, "time_over_once"), 2);
  EXPECT_EQ(*results[2].entry.find_metric("time_over_once")->stddev, 0) << "what rises in both cancels";
  EXPECT_EQ(results[2].entry.find_metric("time_over_once")->n, 4u);
  EXPECT_EQ(*value_of(results[0].entry, "time_over_once"), 1);
  EXPECT_TRUE(results[1].entry.metrics.empty());
  EXPECT_TRUE(results[3].entry.metrics.empty());
  EXPECT_EQ(results[2].entry.find_metric("time_over_wrong"), nullptr) << "what is wrong is no measure";
}

TEST(MethodComparison, ARatioPassesOverRoundsWhoseBaseIsNothing) {
  const metric ratio = ratio_of({1, 2, 3}, {0, 1, 1});
  EXPECT_EQ(ratio.n, 2u);
  EXPECT_EQ(ratio.value, 2.5);
  EXPECT_EQ(ratio_of({1}, {}).value, std::nullopt);
}

TEST(MethodComparison, WhatIsInterruptedBeforeItIsPreparedHasNoRow) {
  EXPECT_TRUE(compared_under({method("once")}, true).empty());
}

experiment_request choosing(const std::string& axis, const std::vector<std::string>& words) {
  experiment_request request;
  request.device.id = "host";
  request.axes.words[axis] = words;
  return request;
}

TEST(Choices, AreTheUsersOrThoseOfTheDefaultsThatThereAre) {
  EXPECT_EQ(chosen_words({}, "form", {"a", "b"}, {"b", "c"}), std::vector<std::string>{"b"});
  EXPECT_EQ(chosen_words({}, "form", {"a", "b"}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(chosen_words(choosing("form", {"b", "a"}), "form", {"a", "b"}), (std::vector<std::string>{"b", "a"}));
  EXPECT_THROW(chosen_words(choosing("form", {"c"}), "form", {"a", "b"}), usage_error);
  experiment_request two;
  two.axes.numbers["trials"] = {2};
  EXPECT_EQ(chosen_number(two, "trials", 5), 2);
  EXPECT_EQ(chosen_number({}, "trials", 5), 5);
  EXPECT_TRUE(has_chosen(two, "trials"));
  EXPECT_FALSE(has_chosen(two, "form"));
}

TEST(Choices, MethodsAreTakenInTheUsersOrderOrInTheDevices) {
  const std::vector<step_method> all{method("a"), method("b", method_kind::graph), method("c")};
  const auto names = [](const std::vector<step_method>& methods) {
    std::string joined;
    for (const step_method& each : methods) joined += each.name;
    return joined;
  };
  EXPECT_EQ(names(chosen_methods({}, all)), "abc");
  EXPECT_EQ(names(chosen_methods({}, all, std::vector<std::string>{"c", "a", "x"})), "ca");
  EXPECT_EQ(names(chosen_methods(choosing("method", {"c", "b"}), all)), "cb");
  EXPECT_EQ(names(chosen_methods({}, all, [](const step_method& each) { return each.kind == method_kind::graph; })),
            "b");
}

}  // namespace
}  // namespace gpusync::tool
