// Sums in a warp and in shared memory on a device: right where they must be, found wrong where they race.
#include "cuda/device_fixture.cuh"
#include "workloads/shared_sum/shared_sum.hpp"
#include "workloads/warp_sum/warp_sum.hpp"

namespace gpusync::tool {
namespace {

class CudaSums : public test::CudaTest {
 protected:
  template <class Side>
  std::shared_ptr<Side> open() {
    device_description description;
    description.kind = device_kind::cuda;
    description.id = "cuda:0";
    return open_side<Side>(description);
  }
};

TEST_F(CudaSums, OfAWarpAreRightInEveryFormThatMustBe) {
  const auto sums = open<warp_sums_device>();
  for (const warp_sum_form& form : warp_sum_forms()) {
    const auto program = sums->prepare(form.method);
    const double cycles = program->run();
    EXPECT_GT(cycles, 20) << form.method;
    EXPECT_LT(cycles, 20'000) << form.method;
    const right_sums together = program->together(), apart = program->apart();
    EXPECT_GT(together.inputs, 1'000u);
    if (!form.fault.empty()) continue;
    EXPECT_EQ(program->timed().right, 1u) << form.method;
    EXPECT_EQ(together.right, together.inputs) << form.method;
    EXPECT_EQ(apart.right, apart.inputs) << form.method;
  }
}

TEST_F(CudaSums, AsFigure11PrintsThemAreWrongOnceLanesComeApart) {
  const auto sums = open<warp_sums_device>();
  for (const char* method : {"figure-11", "nosync-volatile"}) {
    const right_sums apart = sums->prepare(method)->apart();
    EXPECT_LT(apart.right, apart.inputs / 10) << method;
  }
}

TEST_F(CudaSums, OfAWarpTakeLongerThanNoSum) {
  const auto sums = open<warp_sums_device>();
  const auto nothing = sums->prepare(empty_warp_sum), tile = sums->prepare("tile");
  (void)nothing->run();
  (void)tile->run();
  EXPECT_LT(nothing->run() + 50, tile->run());
}

TEST_F(CudaSums, InSharedMemoryAreRightForEveryGroupAndSize) {
  const auto sums = open<shared_sums_device>();
  for (const summing_group& group : summing_groups()) {
    for (const sum_ending ending : {sum_ending::each_its_own, sum_ending::one_sum}) {
      const auto program = sums->prepare(group, ending);
      uint64_t runs = 0;
      for (const uint32_t elements : {1u, 2u, 31u, 32u, 33u, 1000u, 1025u, 4096u, sums->most_elements()}) {
        EXPECT_GT(program->run(elements), 0);
        ++runs;
      }
      const verification found = program->verify();
      EXPECT_EQ(found.checked, runs);
      EXPECT_EQ(found.wrong, 0u) << group.method;
    }
  }
}

TEST_F(CudaSums, InSharedMemoryTakeAsLongAsTheirLoopHasRounds) {
  const auto sums = open<shared_sums_device>();
  const auto thread = sums->prepare(summing_groups()[0], sum_ending::one_sum);
  (void)thread->run(1000);
  const double few = thread->run(100), more = thread->run(200), most = thread->run(1000);
  EXPECT_NEAR((most - few) / (more - few), 9, 0.9);
}

}  // namespace
}  // namespace gpusync::tool
