// Phased grids on an OpenCL device: more work-groups than run at once, and every phase's data checked.
#include <chrono>

#include "fixture.hpp"

namespace gpusync::opencl::test {

namespace {

/// Each value follows from three of the phase before, so that one that is read too early or too late changes all that
/// come after it. The values of a virtual work-group pass through local memory, and work-item 0 counts its runs.
const std::string relay_text = R"(
uint mixed(uint a, uint b, uint c, uint phase) {
  const uint value = (a * 0x9e3779b1u ^ (b + 0x85ebca77u) * 0xc2b2ae3du ^ (c << 7 | c >> 25)) + phase;
  return value ^ value >> 15;
}

static void step(__global uint* values, __global uint* runs, __local uint* room, uint groups, uint group, uint phase) {
  const uint items = gpusync_items(), item = gpusync_item();
  __global const uint* before = values + (phase + 1) % 2 * groups * items;
  const uint next = before[(group + 1) % groups * items + item];
  const uint far = before[(group + phase) % groups * items + (item + 1) % items];
  room[item] = mixed(before[group * items + item], next, far, phase);
  gpusync_sync_group();
  const uint other = items - 1 - item;
  values[(phase % 2 * groups + group) * items + other] = room[other];
  if (item == 0) ++runs[group];
}

__kernel void relay(__global uint* storage, __global uint* words, __global uint* values, __global uint* runs,
                    uint phases, uint absent, ulong limit, __local uint* room) {
  __local gpusync_phased_local shared;
  gpusync_phased grid;
  if (!gpusync_phased_enter(storage, words, &shared, &grid)) return;
  grid.limit = limit;
  const uint groups = gpusync_virtual_groups(&grid);
  for (uint phase = 0; phase < phases; ++phase) {
    if (phase == 1 && grid.barrier.part.rank == absent) return;
    GPUSYNC_FOR_EACH_GROUP(&grid, group, step(values, runs, room, groups, group, phase));
    if (gpusync_end_phase(&grid) == GPUSYNC_TIMED_OUT) return;
  }
}
)";

uint32_t mixed(uint32_t a, uint32_t b, uint32_t c, uint32_t phase) {
  const uint32_t value = (a * 0x9e3779b1u ^ (b + 0x85ebca77u) * 0xc2b2ae3du ^ (c << 7 | c >> 25)) + phase;
  return value ^ value >> 15;
}

/// What the phases must have come to.
std::vector<uint32_t> expected(uint32_t groups, uint32_t items, uint32_t phases) {
  std::vector<uint32_t> values(size_t{2} * groups * items);
  for (uint32_t phase = 0; phase < phases; ++phase) {
    const uint32_t* before = values.data() + size_t{(phase + 1) % 2} * groups * items;
    uint32_t* now = values.data() + size_t{phase % 2} * groups * items;
    for (uint32_t group = 0; group < groups; ++group) {
      for (uint32_t item = 0; item < items; ++item) {
        now[group * items + item] = mixed(before[group * items + item], before[(group + 1) % groups * items + item],
                                          before[(group + phase) % groups * items + (item + 1) % items], phase);
      }
    }
  }
  return values;
}

constexpr uint32_t nobody = ~0u;

class phased : public device_test, public testing::WithParamInterface<std::tuple<phased_schedule, barrier_method>> {
 protected:
  void SetUp() override {
    device_test::SetUp();
    if (IsSkipped()) return;
    const auto& [schedule, method] = GetParam();
    relay_ = cl::Kernel(build(context, device, phased_source(schedule, *method.algorithm, method.order) + relay_text),
                        "relay");
  }

  phased_storage storage(uint32_t groups) { return {queue, groups, *std::get<1>(GetParam()).algorithm}; }

  void start(phased_storage& memory, uint32_t groups, uint32_t phases, uint32_t resident = 0, uint32_t absent = nobody,
             uint64_t limit = ~uint64_t{0}) {
    values_ = zeroed_words(size_t{2} * groups * items);
    runs_ = zeroed_words(groups);
    relay_.setArg(2, values_);
    relay_.setArg(3, runs_);
    relay_.setArg(4, cl_uint{phases});
    relay_.setArg(5, cl_uint{absent});
    relay_.setArg(6, cl_ulong{limit});
    relay_.setArg(7, cl::Local(items * sizeof(cl_uint)));
    launch_phased(queue, relay_, memory, groups, cl::NDRange(items), resident);
    queue.finish();
  }

  void expect_right(phased_storage& memory, uint32_t groups, uint32_t phases, uint32_t resident = 0) {
    start(memory, groups, phases, resident);
    std::vector<cl_uint> values(size_t{2} * groups * items), runs(groups);
    queue.enqueueReadBuffer(values_, CL_TRUE, 0, values.size() * sizeof(cl_uint), values.data());
    queue.enqueueReadBuffer(runs_, CL_TRUE, 0, runs.size() * sizeof(cl_uint), runs.data());
    EXPECT_EQ(runs, std::vector<cl_uint>(groups, phases)) << groups << " virtual work-groups, " << phases << " phases";
    EXPECT_TRUE(values == expected(groups, items, phases)) << groups << " virtual work-groups, " << phases << " phases";
    EXPECT_GE(memory.resident(), 1u);
    EXPECT_LE(memory.resident(), resident == 0 ? groups : std::min(groups, resident));
  }

  static constexpr uint32_t items = 16;
  cl::Kernel relay_;
  cl::Buffer values_, runs_;
};

std::string name_of_case(const testing::TestParamInfo<phased::ParamType>& info) {
  std::string name = std::string(to_string(std::get<0>(info.param))) + "_" + std::get<1>(info.param).name();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// A barrier of one hop, the thesis's, and one in whose waits work-groups meet.
INSTANTIATE_TEST_SUITE_P(all, phased,
                         testing::Combine(testing::ValuesIn(phased_schedules),
                                          testing::Values(barrier_method{&lock_based}, barrier_method{&centralized},
                                                          barrier_method{&decentralized})),
                         name_of_case);

TEST_P(phased, runs_more_work_groups_than_there_is_room_for_in_any_number_of_phases) {
  phased_storage memory = storage(128);
  for (const uint32_t groups : {1u, 2u, 3u, 8u, 127u, 128u}) {
    for (const uint32_t phases : {0u, 1u, 2u, 25u}) expect_right(memory, groups, phases);
  }
  expect_right(memory, 128, 25, 1);
  if (!is_pocl()) return;
  // Whoever has been given no processor in time is left out of a launch, but not of all.
  const uint32_t threads = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  for (int launch = 0; launch == 0 || (launch < 20 && memory.resident() < threads); ++launch) {
    expect_right(memory, 128, 25);
  }
  EXPECT_EQ(memory.resident(), threads);
}

TEST_P(phased, names_the_missing_work_group_and_is_refused_until_the_reset) {
  phased_storage memory = storage(40);
  const uint64_t limit = ticks_for(queue, std::chrono::milliseconds(50));
  for (int launch = 0; launch == 0 || (launch < 20 && memory.resident() < 2); ++launch) {
    start(memory, 40, 4, 2, 1, limit);
  }
  if (memory.resident() < 2) GTEST_SKIP() << "only one work-group runs at once";
  const auto missing = memory.missing();
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].block, 1u);
  EXPECT_EQ(missing[0].phase, std::get<0>(GetParam()) == phased_schedule::flag_claiming ? 2u : 1u);
  EXPECT_THROW(start(memory, 40, 1), broken_barrier);
  memory.reset(queue);
  expect_right(memory, 40, 10);
}

class phased_launch : public device_test {};

TEST_F(phased_launch, refuses_an_empty_grid_and_one_beyond_its_storage) {
  cl::Kernel relay(build(context, device, phased_source() + relay_text), "relay");
  phased_storage memory(queue, 4);
  EXPECT_THROW(launch_phased(queue, relay, memory, 0, cl::NDRange(16)), invalid_argument);
  EXPECT_THROW(launch_phased(queue, relay, memory, 5, cl::NDRange(16)), invalid_argument);
}

}  // namespace

}  // namespace gpusync::opencl::test
