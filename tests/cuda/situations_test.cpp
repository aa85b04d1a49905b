// Situations on a GPU: every way to wait leaves what it should, and without one the check finds it.
#include <gtest/gtest.h>

#include "cuda/described_device.hpp"
#include "experiments/advice/measured_situations.hpp"

namespace gpusync::tool {
namespace {

advice::situation usual(advice::dependence waits_for, uint32_t neighbours, uint32_t blocks, uint32_t threads) {
  advice::situation where;
  where.blocks = blocks;
  where.threads = threads;
  where.stored_bytes = 4.0 * threads;
  where.kept_bytes = 8.0 * threads;
  where.waits_for = waits_for;
  where.neighbours = neighbours;
  where.steps = 200;
  where.step_us = 1;
  where.skew_us = 0.5;
  return where;
}

using SituationsCuda = test::DescribedDevice;

TEST_F(SituationsCuda, EveryWayToWaitIsRightAndNoneIsWrong) {
  const auto side = open_side<situation_device>(device_);
  const uint32_t sms = side->room().sms;
  for (const advice::situation& where :
       {usual(advice::dependence::all, 2, sms, 256), usual(advice::dependence::all, 2, 2 * sms, 1024),
        usual(advice::dependence::neighbours, 2, sms, 512), usual(advice::dependence::neighbours, 4, 64, 256)}) {
    const auto workload = side->in(where);
    const step_shape shape{where.blocks, where.threads};
    for (const step_method& method : workload->methods()) {
      if (!way_of(method.name)) continue;
      const auto program = workload->prepare(method, shape);
      EXPECT_GT(program->run(), 0);
      EXPECT_EQ(program->verify().wrong, 0u) << method.name << ", " << in_words(where);
    }
    step_method none;
    none.name = method_names::none;
    const auto alone = workload->prepare(none, shape);
    EXPECT_GT(alone->run(), 0);
    EXPECT_GT(alone->verify().wrong, 0u) << in_words(where);
  }
}

}  // namespace
}  // namespace gpusync::tool
