// Data written before the barrier is read behind it, whatever the shape and whatever was before.
#include "fixture.hpp"

namespace gpusync::opencl::test {

namespace {

struct shape {
  cl::NDRange global;
  cl::NDRange local;
};

/// Every algorithm with every ordering.
class barrier : public device_test, public testing::WithParamInterface<barrier_method> {
 protected:
  void SetUp() override {
    device_test::SetUp();
    if (IsSkipped()) return;
    ring_ = kernel(ring_text, "ring", GetParam());
  }

  /// Runs the ring and returns how many words were wrong in `count` phases; without ordering 0, for there what was read
  /// proves nothing, and that it ended does.
  uint32_t ring(barrier_storage& storage, const shape& shape, uint32_t count) {
    size_t items = 1;
    for (size_t i = 0; i < shape.global.dimensions(); ++i) items *= shape.global.get()[i];
    const cl::Buffer words = zeroed_words(2 * items), wrong = zeroed_words(1);
    ring_.setArg(0, storage.buffer());
    ring_.setArg(1, words);
    ring_.setArg(2, wrong);
    ring_.setArg(3, cl_uint{count});
    launch(queue, ring_, storage, shape.global, shape.local);
    const uint32_t found = read<cl_uint>(wrong);
    return orders_data(GetParam().order) ? found : 0;
  }

  barrier_storage storage_for(uint32_t groups, uint32_t first_phase = 0) {
    return barrier_storage(queue, groups, *GetParam().algorithm, first_phase);
  }

  static constexpr uint32_t phases = 1000;
  cl::Kernel ring_;
};

INSTANTIATE_TEST_SUITE_P(all, barrier, testing::ValuesIn(barrier_methods()), test_name);

TEST_P(barrier, joins_every_number_of_groups_of_every_size) {
  barrier_storage storage = storage_for(2);
  for (const size_t groups : {1, 2}) {
    for (const size_t items : {1, 2, 7, 64, 256}) {
      EXPECT_EQ(ring(storage, {cl::NDRange(groups * items), cl::NDRange(items)}, phases), 0u)
          << groups << " work-groups of " << items;
    }
  }
}

TEST_P(barrier, joins_as_many_groups_as_the_device_runs_at_once) {
  barrier_storage storage = storage_for(phase_word::max_blocks);
  const cl::Buffer words = zeroed_words(1);
  for (const size_t items : {64, 1}) {
    ring_.setArg(0, storage.buffer());
    ring_.setArg(1, words);
    ring_.setArg(2, words);
    ring_.setArg(3, cl_uint{1});
    const size_t groups = resident_groups(queue, ring_, storage, cl::NDRange(items));
    EXPECT_EQ(ring(storage, {cl::NDRange(items * groups), cl::NDRange(items)}, phases), 0u) << groups;
  }
}

TEST_P(barrier, counts_groups_and_items_of_two_and_three_dimensions) {
  barrier_storage storage = storage_for(2);
  const shape shapes[] = {{cl::NDRange(8, 4), cl::NDRange(4, 4)},
                          {cl::NDRange(4, 8), cl::NDRange(4, 4)},
                          {cl::NDRange(2, 3, 8), cl::NDRange(2, 3, 4)},
                          {cl::NDRange(1, 6, 5), cl::NDRange(1, 3, 5)}};
  for (const shape& each : shapes) EXPECT_EQ(ring(storage, each, phases), 0u);
}

TEST_P(barrier, needs_no_reset_between_launches_of_different_shapes) {
  barrier_storage storage = storage_for(2);
  for (size_t i = 0; i < 20; ++i) {
    const size_t groups = i % 3 == 0 ? 1 : 2, items = 16 >> i % 4;
    EXPECT_EQ(ring(storage, {cl::NDRange(groups * items), cl::NDRange(items)}, 101), 0u) << "launch " << i;
  }
}

TEST_P(barrier, passes_the_wrap_of_its_phases) {
  barrier_storage storage = storage_for(2, 0xfffffff0u);
  EXPECT_EQ(ring(storage, {cl::NDRange(128), cl::NDRange(64)}, 13), 0u);
  EXPECT_EQ(ring(storage, {cl::NDRange(128), cl::NDRange(64)}, 100), 0u);
}

TEST_P(barrier, counts_the_phases_that_have_ended) {
  barrier_storage storage = storage_for(2, 7);
  ring(storage, {cl::NDRange(128), cl::NDRange(64)}, 100);
  ring(storage, {cl::NDRange(64), cl::NDRange(64)}, 10);
  const size_t own = (storage.bytes() - storage.algorithm_bytes()) / sizeof(cl_uint);
  const auto word = read<cl_uint>(storage.buffer(), own);
  EXPECT_EQ(word >= 1u << 16 ? word >> 16 : word, 117u) << "in a phase_word, or in a word of its own";
}

TEST_P(barrier, storage_refuses_numbers_of_groups_that_it_cannot_count) {
  EXPECT_THROW(storage_for(0), invalid_argument);
  EXPECT_THROW(storage_for(65536), invalid_argument);
}

TEST_P(barrier, that_is_left_out_is_found_out_by_the_same_check) {
  if (!orders_data(GetParam().order)) GTEST_SKIP() << "without ordering nothing is compared";
  barrier_storage storage = storage_for(2);
  ring_ = kernel(ring_text, "ring", GetParam(), "-DWITHOUT_BARRIER");
  EXPECT_GT(ring(storage, {cl::NDRange(128), cl::NDRange(64)}, phases), 0u);
}

}  // namespace

}  // namespace gpusync::opencl::test
