// A wait with a limit ends, and says whom it waited for.
#include <chrono>

#include "fixture.hpp"

namespace gpusync::opencl::test {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// The work-group `absent` leaves when it comes to phase `leaves`; each work-item whose wait timed out counts
/// itself.
const std::string desert_text = R"(
__kernel void desert(__global uint* storage, __global uint* timed_out, uint phases, uint absent, uint leaves,
                     ulong limit) {
  if (GPUSYNC_TRIAL(storage)) return;
  gpusync_barrier grid = gpusync_barrier_of(storage);
  for (uint phase = 0; phase < phases; ++phase) {
    if (gpusync_group() == absent && phase == leaves) break;
    if (gpusync_sync_for(&grid, limit) == GPUSYNC_TIMED_OUT) {
      atomic_inc((volatile __global uint*)timed_out);
      break;
    }
  }
}
)";

class bounded_wait : public device_test, public testing::WithParamInterface<barrier_method> {
 protected:
  void SetUp() override {
    device_test::SetUp();
    if (IsSkipped()) return;
    desert_ = kernel(desert_text, "desert", GetParam());
    timed_out_ = zeroed_words(1);
  }

  /// Two work-groups of 16 go through 10 phases; returns the work-items that timed out.
  uint32_t desert(barrier_storage& storage, uint32_t absent, uint32_t leaves, std::chrono::nanoseconds limit) {
    desert_.setArg(0, storage.buffer());
    desert_.setArg(1, timed_out_);
    desert_.setArg(2, cl_uint{10});
    desert_.setArg(3, cl_uint{absent});
    desert_.setArg(4, cl_uint{leaves});
    desert_.setArg(5, cl_ulong{ticks_for(queue, limit)});
    queue.enqueueFillBuffer(timed_out_, cl_uint{0}, 0, sizeof(cl_uint));
    launch(queue, desert_, storage, cl::NDRange(32), cl::NDRange(16));
    return read<cl_uint>(timed_out_);
  }

  barrier_storage storage_for(uint32_t groups, uint32_t first_phase = 0) {
    return barrier_storage(queue, groups, *GetParam().algorithm, first_phase);
  }

  static constexpr uint32_t nobody = 99;
  cl::Kernel desert_;
  cl::Buffer timed_out_;
};

INSTANTIATE_TEST_SUITE_P(all, bounded_wait, testing::ValuesIn(default_methods()), test_name);

TEST_P(bounded_wait, completes_when_everybody_comes) {
  barrier_storage storage = storage_for(2);
  EXPECT_EQ(desert(storage, nobody, 0, 10s), 0u);
  EXPECT_TRUE(storage.missing().empty());
  EXPECT_NO_THROW(desert(storage, nobody, 0, 10s));
}

TEST_P(bounded_wait, names_the_group_and_the_phase_that_it_waited_for) {
  for (const uint32_t absent : {0u, 1u}) {
    barrier_storage storage = storage_for(2);
    EXPECT_EQ(desert(storage, absent, 3, 50ms), 16u) << "all work-items of the other work-group learn of it";
    EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{absent, 3}}));
  }
}

TEST_P(bounded_wait, counts_phases_from_the_start_of_the_launch_also_across_the_wrap) {
  barrier_storage storage = storage_for(2, 0xfffffffbu);
  EXPECT_EQ(desert(storage, nobody, 0, 10s), 0u);
  EXPECT_EQ(desert(storage, 1, 7, 50ms), 16u);
  EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{1, 7}}));
}

TEST_P(bounded_wait, takes_about_as_long_as_it_may) {
  barrier_storage storage = storage_for(2);
  desert(storage, nobody, 0, 10s);  // compiled, residency known
  const auto start = clock::now();
  desert(storage, 1, 0, 100ms);
  const auto elapsed = clock::now() - start;
  // On processors whose hardware threads share a core, what was measured beside other work is half the speed of now.
  EXPECT_GE(elapsed, 40ms);
  EXPECT_LE(elapsed, 10s);
}

TEST_P(bounded_wait, that_timed_out_makes_the_next_launch_be_refused_until_a_reset) {
  barrier_storage storage = storage_for(2);
  desert(storage, 1, 3, 50ms);
  try {
    desert(storage, nobody, 0, 10s);
    FAIL() << "a broken barrier was launched";
  } catch (const broken_barrier& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("phase 3"), std::string::npos) << refusal.what();
  }
  storage.reset();
  EXPECT_TRUE(storage.missing().empty());
  EXPECT_EQ(desert(storage, nobody, 0, 10s), 0u);
}

}  // namespace

}  // namespace gpusync::opencl::test
