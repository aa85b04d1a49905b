// The number of work-groups that run at once is found, and more are refused.
#include "fixture.hpp"

namespace gpusync::opencl::test {

namespace {

class residency : public device_test {
 protected:
  cl::Kernel ring_with(barrier_storage& storage, const std::string& options = "") {
    cl::Kernel ring = kernel(ring_text, "ring", {&lock_based}, options);
    words_ = zeroed_words(2 * 4096);
    ring.setArg(0, storage.buffer());
    ring.setArg(1, words_);
    ring.setArg(2, words_);
    ring.setArg(3, cl_uint{1});
    return ring;
  }

  cl::Buffer words_;
};

TEST_F(residency, is_the_number_of_threads_of_pocl_every_time) {
  if (!is_pocl()) GTEST_SKIP() << "on this device the number is not known beforehand";
  const uint32_t threads = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  for (int i = 0; i < 20; ++i) {
    barrier_storage storage(queue, 1);
    const cl::Kernel ring = ring_with(storage);
    const cl::NDRange local(i % 2 == 0 ? 64 : 1);
    // Searched for each time, and then as a program has it.
    ASSERT_EQ(detail::residency_trials(queue, ring, storage, local).find(), threads) << "trial " << i;
    ASSERT_EQ(resident_groups(queue, ring, storage, local), threads) << "trial " << i;
  }
}

TEST_F(residency, is_searched_for_again_where_as_many_as_were_found_are_not_seen) {
  barrier_storage storage(queue, 1);
  const cl::Kernel ring = ring_with(storage);
  const uint32_t most = detail::residency_trials(queue, ring, storage, cl::NDRange(64)).find();
  EXPECT_TRUE(detail::residency_trials(queue, ring, storage, cl::NDRange(64)).sees(most));
  EXPECT_FALSE(detail::residency_trials(queue, ring, storage, cl::NDRange(64)).sees(most + 1));
  if (!is_pocl()) return;
  auto& cpus = detail::residency_of_cpus::all();
  cpus.note(device, most + 1);
  EXPECT_EQ(resident_groups(queue, ring, storage, cl::NDRange(64)), most);
  EXPECT_EQ(cpus.on(device), most);
}

TEST_F(residency, leaves_the_storage_and_the_data_as_they_were) {
  barrier_storage storage(queue, 2, lock_based, 5);
  const cl::Kernel ring = ring_with(storage);
  resident_groups(queue, ring, storage, cl::NDRange(64));
  EXPECT_EQ(read<cl_uint>(storage.buffer(), storage.bytes() / sizeof(cl_uint) - GPUSYNC_LINE_WORDS), 5u << 16);
  EXPECT_EQ(read<cl_uint>(storage.buffer(), GPUSYNC_AT_TRIAL), 0u);
  for (const size_t i : {0, 64, 4096}) EXPECT_EQ(read<cl_uint>(words_, i), 0u);
}

TEST_F(residency, refuses_one_group_too_many_with_the_numbers) {
  barrier_storage storage(queue, phase_word::max_blocks);
  const cl::Kernel ring = ring_with(storage);
  const uint32_t most = resident_groups(queue, ring, storage, cl::NDRange(64));
  try {
    launch(queue, ring, storage, cl::NDRange(64 * (size_t{most} + 1)), cl::NDRange(64));
    FAIL() << "a launch that would hang was not refused";
  } catch (const not_co_resident& refusal) {
    EXPECT_EQ(refusal.requested(), most + 1);
    EXPECT_EQ(refusal.limit(), most);
    EXPECT_EQ(std::string(refusal.what()),
              std::to_string(most + 1) + " work-groups of 64 work-items cannot all run at once on " + name_of(device) +
                  ": at most " + std::to_string(most) + " (found by trial). Use fewer work-groups.");
  }
}

TEST_F(residency, refuses_a_kernel_that_takes_no_notice_of_trials) {
  barrier_storage storage(queue, 2);
  cl::Kernel deaf = kernel("__kernel void deaf(__global uint* storage) { if (storage == 0) return; }", "deaf");
  deaf.setArg(0, storage.buffer());
  EXPECT_THROW(launch(queue, deaf, storage, cl::NDRange(128), cl::NDRange(64)), invalid_argument);
}

TEST_F(residency, refuses_a_kernel_of_another_algorithm_than_the_storage) {
  for (const barrier_algorithm* built : barrier_algorithms) {
    for (const barrier_algorithm* stored : barrier_algorithms) {
      barrier_storage storage(queue, 2, *stored);
      cl::Kernel idle =
          kernel("__kernel void idle(__global uint* storage) { if (GPUSYNC_TRIAL(storage)) return; }", "idle", {built});
      idle.setArg(0, storage.buffer());
      if (built == stored) {
        EXPECT_NO_THROW(launch(queue, idle, storage, cl::NDRange(2), cl::NDRange(1)));
      } else {
        EXPECT_THROW(launch(queue, idle, storage, cl::NDRange(2), cl::NDRange(1)), invalid_argument)
            << built->family << " in " << stored->family;
      }
    }
  }
}

TEST_F(residency, refuses_shapes_that_are_no_whole_groups_or_too_many_for_the_storage) {
  barrier_storage storage(queue, 1);
  const cl::Kernel ring = ring_with(storage);
  EXPECT_THROW(launch(queue, ring, storage, cl::NDRange(100), cl::NDRange(64)), invalid_argument);
  EXPECT_THROW(launch(queue, ring, storage, cl::NDRange(0), cl::NDRange(64)), invalid_argument);
  EXPECT_THROW(launch(queue, ring, storage, cl::NDRange(64, 2), cl::NDRange(64)), invalid_argument);
  EXPECT_THROW(launch(queue, ring, storage, cl::NDRange(128), cl::NDRange(64)), invalid_argument);
}

TEST_F(residency, passes_on_what_opencl_refuses) {
  barrier_storage storage(queue, 1);
  const cl::Kernel ring = ring_with(storage);
  const size_t too_large = 2 * device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  try {
    launch(queue, ring, storage, cl::NDRange(too_large), cl::NDRange(too_large));
    FAIL() << "a work-group of " << too_large << " work-items was launched";
  } catch (const opencl_failure& failure) {
    EXPECT_EQ(std::string(failure.what()).find("unknown"), std::string::npos) << failure.what();
    EXPECT_NE(std::string(failure.what()).find(failure.name()), std::string::npos) << failure.what();
  }
  EXPECT_EQ(read<cl_uint>(storage.buffer(), GPUSYNC_AT_TRIAL), 0u) << "no trial may be left open";
}

}  // namespace

}  // namespace gpusync::opencl::test
