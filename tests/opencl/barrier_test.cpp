// Data written before the barrier is read behind it, whatever the shape and whatever was before.
#include "fixture.hpp"

namespace gpusync::opencl::test {

namespace {

struct shape {
  cl::NDRange global;
  cl::NDRange local;
};

class barrier : public device_test {
 protected:
  /// Runs the ring and returns how many words were wrong in `count` phases.
  uint32_t ring(cl::Kernel& kernel, barrier_storage& storage, const shape& shape, uint32_t count) {
    size_t items = 1;
    for (size_t i = 0; i < shape.global.dimensions(); ++i) items *= shape.global.get()[i];
    const cl::Buffer words = zeroed_words(2 * items), wrong = zeroed_words(1);
    kernel.setArg(0, storage.buffer());
    kernel.setArg(1, words);
    kernel.setArg(2, wrong);
    kernel.setArg(3, cl_uint{count});
    launch(queue, kernel, storage, shape.global, shape.local);
    return read<cl_uint>(wrong);
  }

  static constexpr uint32_t phases = 2000;
};

TEST_F(barrier, joins_every_number_of_groups_of_every_size_in_every_ordering_that_promises_it) {
  for (const ordering order : {ordering::fence, ordering::acquire_release}) {
    cl::Kernel kernel = this->kernel(ring_text, "ring", order);
    barrier_storage storage(queue, 2);
    for (const size_t groups : {1, 2}) {
      for (const size_t items : {1, 2, 7, 64, 256}) {
        EXPECT_EQ(ring(kernel, storage, {cl::NDRange(groups * items), cl::NDRange(items)}, phases), 0u)
            << groups << " work-groups of " << items << ", ordering " << gpusync::to_string(order);
      }
    }
  }
}

TEST_F(barrier, without_ordering_still_counts_every_phase) {
  cl::Kernel kernel = this->kernel(ring_text, "ring", ordering::none);
  barrier_storage storage(queue, 2);
  ring(kernel, storage, {cl::NDRange(128), cl::NDRange(64)},
       phases);  // what was read proves nothing; that it ended does
  EXPECT_EQ(read<cl_uint>(storage.buffer(), GPUSYNC_AT_COUNTER), phases << 16);
}

TEST_F(barrier, joins_as_many_groups_as_the_device_runs_at_once) {
  cl::Kernel kernel = this->kernel(ring_text, "ring");
  barrier_storage storage(queue, phase_word::max_blocks);
  const cl::Buffer words = zeroed_words(1);
  kernel.setArg(0, storage.buffer());
  kernel.setArg(1, words);
  kernel.setArg(2, words);
  kernel.setArg(3, cl_uint{1});
  const size_t groups = resident_groups(queue, kernel, storage, cl::NDRange(64));
  EXPECT_EQ(ring(kernel, storage, {cl::NDRange(64 * groups), cl::NDRange(64)}, phases), 0u);
}

TEST_F(barrier, counts_groups_and_items_of_two_and_three_dimensions) {
  cl::Kernel kernel = this->kernel(ring_text, "ring");
  barrier_storage storage(queue, 2);
  const shape shapes[] = {{cl::NDRange(8, 4), cl::NDRange(4, 4)},
                          {cl::NDRange(4, 8), cl::NDRange(4, 4)},
                          {cl::NDRange(2, 3, 8), cl::NDRange(2, 3, 4)},
                          {cl::NDRange(1, 6, 5), cl::NDRange(1, 3, 5)}};
  for (const shape& each : shapes) EXPECT_EQ(ring(kernel, storage, each, phases), 0u);
}

TEST_F(barrier, needs_no_reset_between_launches_of_different_numbers_of_groups) {
  cl::Kernel kernel = this->kernel(ring_text, "ring");
  barrier_storage storage(queue, 2);
  for (int i = 0; i < 20; ++i) {
    const size_t groups = i % 3 == 0 ? 1 : 2;
    EXPECT_EQ(ring(kernel, storage, {cl::NDRange(groups * 16), cl::NDRange(16)}, 101), 0u) << "launch " << i;
  }
}

TEST_F(barrier, passes_the_wrap_of_its_counter) {
  cl::Kernel kernel = this->kernel(ring_text, "ring");
  barrier_storage storage(queue, 2, 0xfff0);
  EXPECT_EQ(ring(kernel, storage, {cl::NDRange(128), cl::NDRange(64)}, 100), 0u);
  EXPECT_EQ(read<cl_uint>(storage.buffer(), GPUSYNC_AT_COUNTER), (0xfff0u + 100u) << 16);
}

TEST_F(barrier, that_is_left_out_is_found_out_by_the_same_check) {
  cl::Kernel kernel = this->kernel(ring_text, "ring", ordering::acquire_release, "-DWITHOUT_BARRIER");
  barrier_storage storage(queue, 2);
  EXPECT_GT(ring(kernel, storage, {cl::NDRange(128), cl::NDRange(64)}, phases), 0u);
}

TEST_F(barrier, storage_refuses_numbers_of_groups_that_it_cannot_count) {
  EXPECT_THROW(barrier_storage(queue, 0), invalid_argument);
  EXPECT_THROW(barrier_storage(queue, 65536), invalid_argument);
}

}  // namespace

}  // namespace gpusync::opencl::test
