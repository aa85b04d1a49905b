// What work-groups find out about each other: how many of a shape run at once, and kernels that go on with those.
#include <chrono>
#include <set>

#include "fixture.hpp"

namespace gpusync::opencl::test {

namespace {

/// Those that take part go through phases of the ring, ranked as they were counted, and say who they are.
const std::string crowd_text = R"(
__kernel void crowd(__global uint* storage, __global uint* words, __global uint* wrong, __global uint* seats,
                    uint phases) {
  __local gpusync_part part;
  if (!gpusync_discover(storage, &part)) return;
  gpusync_barrier grid = gpusync_barrier_of_part(storage, part);
  const uint items = gpusync_items(), item = gpusync_item();
  if (item == 0) {
    atomic_inc((volatile __global uint*)(seats + part.rank));
    seats[4096 + part.rank] = part.count;
  }
  const uint own = part.rank * items + item, next = (part.rank + 1) % part.count * items + item;
  uint found_wrong = 0;
  for (uint phase = 1; phase <= phases; ++phase) {
    __global uint* half_of_words = words + phase % 2 * part.count * items;
    half_of_words[own] = phase * 2654435761u + own;
    gpusync_sync(&grid);
    if (half_of_words[next] != phase * 2654435761u + next) ++found_wrong;
  }
  if (found_wrong != 0) atomic_add((volatile __global uint*)wrong, found_wrong);
}
)";

class discovery : public device_test, public testing::WithParamInterface<barrier_method> {
 protected:
  void SetUp() override {
    device_test::SetUp();
    if (IsSkipped()) return;
    resident_ = discover_groups(queue, cl::NDRange(items));
    crowd_ = kernel(crowd_text, "crowd", GetParam());
  }

  /// Launches `groups` work-groups, checks what those that take part have done, and returns their number.
  uint32_t crowd(barrier_storage& storage, size_t groups) {
    const cl::Buffer words = zeroed_words(2 * groups * items), wrong = zeroed_words(1), seats = zeroed_words(2 * 4096);
    crowd_.setArg(0, storage.buffer());
    crowd_.setArg(1, words);
    crowd_.setArg(2, wrong);
    crowd_.setArg(3, seats);
    crowd_.setArg(4, cl_uint{100});
    launch_any(queue, crowd_, storage, cl::NDRange(groups * items), cl::NDRange(items));
    queue.finish();
    const uint32_t count = storage.participants();
    EXPECT_EQ(read<cl_uint>(wrong), 0u);
    std::vector<cl_uint> taken(2 * 4096);
    queue.enqueueReadBuffer(seats, CL_TRUE, 0, taken.size() * sizeof(cl_uint), taken.data());
    for (uint32_t rank = 0; rank < 4096; ++rank) {
      EXPECT_EQ(taken[rank], rank < count ? 1u : 0u) << "rank " << rank << " of " << count;
      if (rank < count) {
        EXPECT_EQ(taken[4096 + rank], count);
      }
    }
    return count;
  }

  static constexpr size_t items = 64;
  uint32_t resident_ = 0;
  cl::Kernel crowd_;
};

INSTANTIATE_TEST_SUITE_P(all, discovery, testing::ValuesIn(default_methods()), test_name);

TEST_P(discovery, lets_those_take_part_that_run_at_once_whatever_was_launched) {
  barrier_storage storage(queue, 4096, *GetParam().algorithm);
  for (const size_t groups : {size_t{1}, size_t{resident_}, size_t{resident_} + 1, size_t{4} * resident_}) {
    for (int launch = 0; launch < 5; ++launch) {
      const uint32_t count = crowd(storage, groups);
      EXPECT_GE(count, 1u);
      EXPECT_LE(count, std::min<size_t>(groups, resident_)) << groups << " launched, " << resident_ << " run at once";
    }
  }
}

TEST_P(discovery, lets_no_more_take_part_than_the_storage_serves) {
  barrier_storage storage(queue, 1, *GetParam().algorithm);
  EXPECT_EQ(crowd(storage, 2 * size_t{resident_}), 1u);
}

class shapes : public device_test {};

TEST_F(shapes, of_pocl_run_as_often_as_there_are_threads_every_time) {
  if (!is_pocl()) GTEST_SKIP() << "on this device the number is not known beforehand";
  const uint32_t threads = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  for (const size_t items : {1, 64, 256}) EXPECT_EQ(discover_groups(queue, cl::NDRange(items)), threads);
  EXPECT_EQ(discover_groups(queue, cl::NDRange(64), 4096), threads) << "local memory does not limit a processor";
}

/// What CUDA's occupancy rules give for kernels of few registers on an H200: 132 multiprocessors, each of 32
/// work-groups, 2,048 work-items and 228 KiB of local memory, of which 1 KiB goes to each work-group.
TEST_F(shapes, of_an_h200_are_found_in_a_hundred_runs_and_never_more) {
  if (name_of(device).find("H200") == std::string::npos) GTEST_SKIP() << "this is no H200";
  const struct {
    size_t items, local_memory;
    uint32_t expected;
  } known[] = {{256, 0, 132 * 8}, {64, 0, 132 * 32}, {1024, 0, 132 * 2}, {256, 40 * 1024, 132 * 5}};
  for (const auto& shape : known) {
    uint32_t least = UINT32_MAX, most = 0;
    double slowest = 0;
    for (int run = 0; run < 100; ++run) {
      const auto start = std::chrono::steady_clock::now();
      const uint32_t found = discover_groups(queue, cl::NDRange(shape.items), shape.local_memory);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      slowest = std::max(slowest, elapsed.count());
      least = std::min(least, found);
      most = std::max(most, found);
    }
    std::printf("%zu work-items, %zu bytes: %u to %u of %u, at most %.3f s\n", shape.items, shape.local_memory, least,
                most, shape.expected, slowest);
    EXPECT_GE(least, 0.95 * shape.expected);
    EXPECT_LE(most, shape.expected);
  }
}

}  // namespace

}  // namespace gpusync::opencl::test
