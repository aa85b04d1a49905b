// Windows over work-groups: what they bound, and that no launch hangs by one.
#include <chrono>
#include <limits>

#include "fixture.hpp"

namespace gpusync::opencl::test {

namespace {

using namespace std::chrono_literals;

/// Work-groups count their epochs; `wrong` are those begun more than the lead ahead of a work-group that takes part.
/// `leaver` says that it leaves after `last` epochs, `absent` ends without a word.
const std::string epochs_text = R"(
__kernel void epochs_of(__global uint* storage, __global uint* ended, __global uint* wrong, uint epochs, uint leaver,
                        uint last, uint absent) {
  if (gpusync_group() == absent) return;
  gpusync_window window = gpusync_window_of(storage);
  for (uint epoch = 0; epoch < epochs; ++epoch) {
    if (gpusync_group() == leaver && epoch == last) {
      if (gpusync_is_first_item()) (void)gpusync_add(ended + gpusync_group(), 1u << 30);
      gpusync_leave_window(&window);
      return;
    }
    for (uint group = gpusync_item(); group < gpusync_groups(); group += gpusync_items()) {
      if (gpusync_load(ended + group) + window.lead <= epoch) (void)gpusync_add(wrong, 1u);
    }
    gpusync_sync_group();
    if (gpusync_is_first_item()) {
      (void)gpusync_add(ended + gpusync_group(), 1u);
      gpusync_fence();
    }
    gpusync_end_epoch(&window);
  }
}
)";

class window : public device_test {
 protected:
  static constexpr cl_uint nobody = std::numeric_limits<cl_uint>::max();

  void SetUp() override {
    device_test::SetUp();
    if (!IsSkipped()) kernel_ = cl::Kernel(build(context, device, pace_source() + epochs_text), "epochs_of");
  }
  struct outcome {
    uint32_t wrong;
    std::vector<cl_uint> ended;
  };
  outcome run(const window_storage& storage, uint32_t groups, uint32_t items, uint32_t epochs, cl_uint leaver = nobody,
              cl_uint last = 0, cl_uint absent = nobody) {
    const cl::Buffer ended = zeroed_words(groups), wrong = zeroed_words(1);
    kernel_.setArg(0, storage.buffer());
    kernel_.setArg(1, ended);
    kernel_.setArg(2, wrong);
    kernel_.setArg(3, cl_uint{epochs});
    kernel_.setArg(4, leaver);
    kernel_.setArg(5, last);
    kernel_.setArg(6, absent);
    launch(queue, kernel_, storage, cl::NDRange(size_t{groups} * items), cl::NDRange(items));
    outcome found{read<cl_uint>(wrong), std::vector<cl_uint>(groups)};
    queue.enqueueReadBuffer(ended, CL_TRUE, 0, groups * sizeof(cl_uint), found.ended.data());
    return found;
  }

  cl::Kernel kernel_;
};

TEST_F(window, bounds_the_lead_of_every_work_group) {
  for (const uint64_t lead : {1u, 2u, 5u}) {
    const window_storage storage(queue, lead, 10s);
    for (const cl_uint leaver : {nobody, cl_uint{1}}) {
      for (int again = 0; again < 2; ++again) {  // on the counters that the launch before has left
        const outcome found = run(storage, 2, 16, 100, leaver, 33);
        EXPECT_EQ(found.wrong, 0u) << lead;
        EXPECT_EQ(found.ended[0], 100u);
        EXPECT_EQ(found.ended[1], leaver == 1 ? 33 + (1u << 30) : 100u);
        EXPECT_EQ(storage.given_up(queue), 0u);
      }
    }
  }
}

TEST_F(window, lets_any_number_of_work_groups_end) {
  const window_storage storage(queue, 2, 1ms);
  const uint32_t groups = 16 * device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  const outcome found = run(storage, groups, 8, 50);
  for (const cl_uint ended : found.ended) EXPECT_EQ(ended, 50u);
}

TEST_F(window, waits_for_an_absent_work_group_no_longer_than_its_limit) {
  const window_storage storage(queue, 1, 5ms);
  EXPECT_EQ(run(storage, 2, 8, 1000, nobody, 0, 1).ended[0], 1000u);
  EXPECT_EQ(storage.given_up(queue), 1u);
}

TEST_F(window, of_one_work_group_or_of_no_epoch_ends) {
  const window_storage storage(queue, 4096);
  EXPECT_EQ(run(storage, 1, 1, 5000).ended[0], 5000u);
  EXPECT_EQ(run(storage, 3, 4, 0).ended[2], 0u);
  EXPECT_EQ(storage.lead(), 4096u);
}

TEST_F(window, refuses_what_cannot_be) {
  EXPECT_THROW(window_storage(queue, 0), invalid_argument);
  EXPECT_THROW(window_storage(queue, 4097), invalid_argument);
  const window_storage storage(queue);
  EXPECT_THROW(launch(queue, kernel_, storage, cl::NDRange(10), cl::NDRange(3)), invalid_argument);
}

TEST_F(window, stands_beside_a_barrier_in_one_program) {
  const std::string both = R"(
__kernel void both(__global uint* storage, __global uint* counters, __global uint* words) {
  if (GPUSYNC_TRIAL(storage)) return;
  gpusync_barrier grid = gpusync_barrier_of(storage);
  gpusync_window window = gpusync_window_of(counters);
  for (uint step = 0; step < 20; ++step) {
    gpusync_end_epoch(&window);
    if (gpusync_is_first_item()) words[gpusync_group()] += 1;
    GPUSYNC_PACE();
    gpusync_sync(&grid);
  }
}
)";
  cl::Kernel kernel(build(context, device, barrier_source() + pace_text() + both), "both");
  barrier_storage storage(queue, 2);
  const window_storage counters(queue, 1, 10s);
  const cl::Buffer words = zeroed_words(2);
  kernel.setArg(0, storage.buffer());
  kernel.setArg(1, counters.buffer());
  kernel.setArg(2, words);
  counters.enqueue_clear(queue);
  launch(queue, kernel, storage, cl::NDRange(16), cl::NDRange(8));
  EXPECT_EQ(read<cl_uint>(words, 0), 20u);
  EXPECT_EQ(read<cl_uint>(words, 1), 20u);
}

}  // namespace

}  // namespace gpusync::opencl::test
