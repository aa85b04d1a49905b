// Device timers against delays that are known.
#include <gpusync/core/cuda_grid.cuh>

#include "cuda/device_fixture.cuh"
#include "measure/cuda_clock.cuh"
#include "measure/cuda_timer.cuh"
#include "measure/repeat_difference.hpp"

namespace gpusync::tool {
namespace {

/// `steps` steps of `span` nanoseconds each by the device's own global timer, counted from one beginning.
__global__ void delay(uint64_t steps, uint64_t span) {
  const cuda_grid grid;
  const uint64_t begin = grid.now();
  while (grid.now() - begin < steps * span) {
  }
}

class CudaKnownDelay : public test::CudaTest {
 protected:
  /// Relative error of the time per step, with the event timer's figure scaled by `scale`.
  double relative_error(uint64_t span, double scale) {
    cuda_timer timer;
    const auto run = [&](uint64_t steps) {
      timer.start(nullptr);
      delay<<<1, 1>>>(steps, span);
      check_cuda(cudaGetLastError(), "launch of delay");
      return scale * timer.stop(nullptr);
    };
    comparison_options how;
    how.stop = {9, 40, 0.002, 1, 3e9};
    const auto results = compare({by_repeat_difference({run, 16}, {})}, how);
    return std::abs(summarize(results.at(0).of(step_sample)).median / static_cast<double>(span) - 1);
  }
};

TEST_F(CudaKnownDelay, IsMeasuredWithinTwoPercent) {
  EXPECT_LT(relative_error(1'000, 1.0), 0.02);
  EXPECT_LT(relative_error(20'000, 1.0), 0.02);
}

TEST_F(CudaKnownDelay, ATimerOffByFivePercentWouldFailTheTestAbove) {
  EXPECT_GT(relative_error(20'000, 1.05), 0.02);
}

TEST_F(CudaKnownDelay, TheClockSeenIsOneThatTheDeviceCanHave) {
  int most_khz = 0;
  check_cuda(cudaDeviceGetAttribute(&most_khz, cudaDevAttrClockRate, device().ordinal()), "cudaDeviceGetAttribute");
  const double mhz = measure_clock_mhz(device(), nullptr);
  EXPECT_GT(mhz, 100);
  EXPECT_LT(mhz, 1.02 * most_khz / 1e3);
}

}  // namespace
}  // namespace gpusync::tool
