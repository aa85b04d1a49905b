// The measuring engine against delays that are known: if its timer were off by 5 %, these tests would fail, and the
// last of them shows that they would.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "measure/host_timer.hpp"
#include "measure/repeat_difference.hpp"

namespace gpusync::tool {
namespace {

/// Nanoseconds of a clock that the engine does not use.
int64_t raw_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// A program whose steps take `step_ns` each, after `once_ns` for the run. What a disturbance (another process) takes
/// is made up for in later steps, so that only the end can be late.
template <class Clock>
candidate known(int64_t step_ns, int64_t once_ns) {
  const auto run = [=](uint64_t steps) {
    const basic_host_timer<Clock> timer;
    const int64_t begin = raw_now();
    for (uint64_t s = 1; s <= steps; ++s) {
      while (raw_now() - begin < once_ns + static_cast<int64_t>(s) * step_ns) {
      }
    }
    return timer.nanoseconds();
  };
  repeat_options how;
  how.target_run_ns = 4e6;
  return by_repeat_difference({run, 4}, how);
}

/// The median nanoseconds per step of each.
std::vector<double> steps_of(const std::vector<candidate>& programs) {
  comparison_options how;
  how.stop = {9, 40, 0.002, 1, 3e9};
  std::vector<double> medians;
  for (const compared& result : compare(programs, how)) medians.push_back(summarize(result.of(step_sample)).median);
  return medians;
}

/// The steady clock, running 5 % fast.
struct clock_off_by_5_percent {
  using duration = std::chrono::duration<double, std::nano>;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<clock_off_by_5_percent>;
  static constexpr bool is_steady = true;
  static time_point now() {
    return time_point(
        duration(1.05 * static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count())));
  }
};

constexpr double tolerance = 0.02;

/// The least of several measurements' errors: a virtual machine whose processors are lent out for half a second spoils
/// one of them, a timer or an engine that is wrong all.
template <class Error>
double least_error(Error&& error) {
  double least = error();
  for (int again = 0; again < 5 && least >= tolerance; ++again) least = std::min(least, error());
  return least;
}

template <class Clock>
double relative_error(int64_t step_ns) {
  return least_error(
      [=] { return std::abs(steps_of({known<Clock>(step_ns, 300'000)}).at(0) / static_cast<double>(step_ns) - 1); });
}

TEST(KnownDelay, IsMeasuredWithinTwoPercentWhateverHappensOncePerRun) {
  EXPECT_LT(relative_error<std::chrono::steady_clock>(2'000), tolerance);
  EXPECT_LT(relative_error<std::chrono::steady_clock>(50'000), tolerance);
}

TEST(KnownDelay, ATimerOffByFivePercentWouldFailTheTestAbove) {
  EXPECT_GT(relative_error<clock_off_by_5_percent>(50'000), tolerance);
}

/// The error of the ratio of two programs that are measured in turns, of which the second is `slower` times as slow.
double error_of_ratio(double slower) {
  using clock = std::chrono::steady_clock;
  return least_error([=] {
    const std::vector<double> steps =
        steps_of({known<clock>(20'000, 0), known<clock>(static_cast<int64_t>(slower * 20'000), 100'000)});
    return std::abs(steps.at(1) / steps.at(0) / 1.5 - 1);
  });
}

TEST(KnownDelay, TwoProgramsMeasuredInTurnsKeepTheirRatio) {
  EXPECT_LT(error_of_ratio(1.5), tolerance);
}

TEST(KnownDelay, ARatioOffByFivePercentWouldFailTheTestAbove) {
  EXPECT_GT(error_of_ratio(1.5 * 1.05), tolerance);
}

}  // namespace
}  // namespace gpusync::tool
