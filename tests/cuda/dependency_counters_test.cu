// Dependency counters on a CUDA device: graphs whose every edge is checked, launches and replays that follow each
// other, waits that are given up.
#include <gpusync/neighbours/dependency_counters.cuh>

#include <random>

#include "cuda/safety_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;
using namespace gpusync::literals;

class DependencyCountersCuda : public CudaTest {
 protected:
  cuda_buffer copy_of(const std::vector<uint32_t>& values) const {
    cuda_buffer made = words(std::max<size_t>(1, values.size()));
    check_cuda(cudaMemcpy(made.address(), values.data(), values.size() * sizeof(uint32_t), cudaMemcpyHostToDevice),
               "cudaMemcpy");
    return made;
  }
};

/// Lists, one behind the other.
struct lists {
  std::vector<uint32_t> first{0}, all;
  explicit lists(const std::vector<std::vector<uint32_t>>& from) {
    for (const auto& each : from) {
      all.insert(all.end(), each.begin(), each.end());
      first.push_back(static_cast<uint32_t>(all.size()));
    }
  }
};
struct lists_on_device {
  const uint32_t* first;
  const uint32_t* all;
  __device__ const uint32_t* of(uint32_t i) const { return all + first[i]; }
  __device__ uint32_t size(uint32_t i) const { return first[i + 1] - first[i]; }
};

__host__ __device__ uint32_t mixed(uint32_t a, uint32_t b) {
  const uint32_t x = (a ^ (b * 0x9e3779b9u)) * 0x85ebca6bu;
  return (x ^ (x >> 15)) + b;
}
__host__ __device__ uint32_t begun(uint32_t task, uint32_t thread, uint32_t epoch) {
  return mixed(task * 1031 + thread, epoch);
}

enum class form : uint32_t {
  counts,  ///< a counter of each task, to which those before it publish
  events   ///< a counter of each task, to which it publishes when it is done
};

/// Tasks 0, 1, …, dealt out to blocks in turn. Each thread mixes what the next thread of the block has made in each of
/// the tasks before. `values`: of each epoch of a launch in an array of its own.
__global__ void run_tasks(dependency_counters counters, form how, uint32_t tasks, lists_on_device before,
                          lists_on_device behind, uint32_t* values, uint32_t epochs, uint32_t most_delay) {
  const cuda_grid grid;
  const uint32_t thread = threadIdx.x, other = (thread + 1) % blockDim.x;
  for (uint32_t i = 0; i < epochs; ++i) {
    if (i != 0) counters.next_epoch();
    const uint32_t epoch = counters.epoch();
    uint32_t* const own = values + size_t{i} * tasks * blockDim.x;
    for (uint32_t t = blockIdx.x; t < tasks; t += gridDim.x) {
      if (how == form::counts) {
        counters.await(t);
      } else {
        counters.await(before.of(t), before.size(t));
      }
      uint32_t value = begun(t, thread, epoch);
      for (uint32_t e = 0; e < before.size(t); ++e) value = mixed(value, own[before.of(t)[e] * blockDim.x + other]);
      if (most_delay != 0 && thread % 32 == 0) grid.delay(mixed(t + thread, epoch) % most_delay);
      own[t * blockDim.x + thread] = value;
      if (how == form::counts) {
        counters.publish(behind.of(t), behind.size(t));
      } else {
        counters.publish(t);
      }
    }
  }
}

/// Each task needs one to four of the `reach` before it.
std::vector<std::vector<uint32_t>> random_graph(uint32_t tasks, uint32_t reach, uint32_t seed) {
  std::minstd_rand dice(seed);
  std::vector<std::vector<uint32_t>> before(tasks);
  for (uint32_t t = 1; t < tasks; ++t) {
    const uint32_t count = 1 + dice() % 4;
    for (uint32_t i = 0; i < count; ++i) {
      before[t].push_back(t - 1 - static_cast<uint32_t>(dice() % std::min(t, reach)));
    }
  }
  return before;
}
std::vector<std::vector<uint32_t>> reversed(const std::vector<std::vector<uint32_t>>& before) {
  std::vector<std::vector<uint32_t>> behind(before.size());
  for (uint32_t t = 0; t < before.size(); ++t) {
    for (const uint32_t b : before[t]) behind[b].push_back(t);
  }
  return behind;
}
std::vector<uint32_t> expected_of(form how, const std::vector<std::vector<uint32_t>>& before) {
  std::vector<uint32_t> all;
  for (const auto& each : before) all.push_back(how == form::counts ? static_cast<uint32_t>(each.size()) : 1u);
  return all;
}
uint64_t wrong_values(const std::vector<std::vector<uint32_t>>& before, uint32_t threads, uint32_t epoch,
                      const uint32_t* found) {
  std::vector<uint32_t> right(before.size() * threads);
  uint64_t wrong = 0;
  for (uint32_t t = 0; t < before.size(); ++t) {
    for (uint32_t thread = 0; thread < threads; ++thread) {
      uint32_t value = begun(t, thread, epoch);
      for (const uint32_t b : before[t]) value = mixed(value, right[b * threads + (thread + 1) % threads]);
      right[t * threads + thread] = value;
      wrong += found[t * threads + thread] != value ? 1 : 0;
    }
  }
  return wrong;
}

TEST_F(DependencyCountersCuda, OrderAMillionEdgesEpochAfterEpochAndLaunchAfterLaunch) {
  constexpr uint32_t tasks = 16000, epochs = 3, launches = 2;
  uint64_t edges = 0;
  for (const form how : {form::counts, form::events}) {
    for (const auto& [blocks, threads, reach] : {std::tuple{sms(), 64u, 1000u}, {2 * sms(), 96u, 40u}, {3u, 33u, 5u}}) {
      for (const uint32_t delay : {0u, 3000u}) {
        const auto before = random_graph(tasks, reach, reach + delay);
        const lists to(reversed(before)), from(before);
        const cuda_buffer to_first = copy_of(to.first), to_all = copy_of(to.all), from_first = copy_of(from.first),
                          from_all = copy_of(from.all), values = words(size_t{epochs} * tasks * threads);
        // From just before the end of the words.
        const uint32_t first_epoch = delay == 0 ? ~0u - 1 : 0;
        dependency_counter_storage storage(device(), blocks, expected_of(how, before), {},
                                           delay == 0 ? counter_spacing::packed : counter_spacing::lines, first_epoch);
        for (uint32_t l = 0; l < launches; ++l) {
          check_cuda(cudaMemset(values.address(), 0xff, values.bytes()), "cudaMemset");
          launch(device(), nullptr, {blocks, threads}, run_tasks, storage.counters(), how, tasks,
                 lists_on_device{address(from_first), address(from_all)},
                 lists_on_device{address(to_first), address(to_all)}, address(values), epochs, delay);
          synchronize(device());
          const auto found = contents(values);
          for (uint32_t i = 0; i < epochs; ++i) {
            EXPECT_EQ(
                wrong_values(before, threads, first_epoch + l * epochs + i, found.data() + size_t{i} * tasks * threads),
                0u)
                << blocks << " x " << threads << ", delay " << delay << ", launch " << l << ", epoch " << i;
            edges += from.all.size();
          }
        }
        EXPECT_EQ(storage.report(), "");
      }
    }
  }
  EXPECT_GT(edges, 1'000'000u);
  std::printf("%llu edges\n", static_cast<unsigned long long>(edges));
}

TEST_F(DependencyCountersCuda, GoOnWithTheNextEpochAtEachReplayOfAGraph) {
  constexpr uint32_t tasks = 2000, threads = 64, replays = 10;
  const auto before = random_graph(tasks, 100, 7);
  const lists to(reversed(before)), from(before);
  const cuda_buffer to_first = copy_of(to.first), to_all = copy_of(to.all), from_first = copy_of(from.first),
                    from_all = copy_of(from.all), values = words(size_t{tasks} * threads);
  dependency_counter_storage storage(device(), sms(), expected_of(form::counts, before));
  other_stream stream;
  const auto start = [&](cudaStream_t on) {
    launch(device(), on, {sms(), threads}, run_tasks, storage.counters(), form::counts, tasks,
           lists_on_device{address(from_first), address(from_all)}, lists_on_device{address(to_first), address(to_all)},
           address(values), 1u, 0u);
  };
  const tool::cuda_graph graph(stream, [&] { start(stream); });
  for (uint32_t i = 0; i < replays; ++i) {
    graph.replay(stream);
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    EXPECT_EQ(wrong_values(before, threads, i, contents(values).data()), 0u) << i;
  }
  for (uint32_t i = 0; i < replays; ++i) graph.replay(stream);
  start(stream);
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  EXPECT_EQ(wrong_values(before, threads, 2 * replays, contents(values).data()), 0u);
  EXPECT_THROW(start(nullptr), storage_in_use);
  storage.hand_over();
  start(nullptr);
  synchronize(device());
  EXPECT_EQ(wrong_values(before, threads, 2 * replays + 1, contents(values).data()), 0u);
}

/// Blocks 0 and 1 publish to counter 3 in each epoch; block `absent` does not in epoch `last`. Told: threads that gave
/// up.
__global__ void misses_one(dependency_counters counters, uint32_t absent, uint32_t last, uint32_t* told,
                           uint32_t* passed) {
  counters.enter();
  for (uint32_t epoch = 0; epoch < 3; ++epoch) {
    if (epoch != 0) counters.next_epoch();
    if (blockIdx.x < 2) {
      if (blockIdx.x == absent && epoch == last) return;
      if (counters.publish_for(3, 50_ms) == wait_status::timed_out) return;
    } else {
      const uint32_t both[] = {0, 3};
      if (counters.await_for(both, 2, 50_ms) == wait_status::timed_out) {
        atomicAdd(told, 1u);
        if (counters.await_for(0, 50_ms) == wait_status::timed_out) atomicAdd(told, 1u);
        return;
      }
      atomicAdd(passed, 1u);
    }
  }
}

TEST_F(DependencyCountersCuda, NameTheCounterThatAWaitMissesAndStayLostForLaunchesQueuedBehind) {
  constexpr uint32_t threads = 64;
  const uint32_t blocks = 4;
  dependency_counter_storage storage(device(), blocks, {0, 1, 1, 2}, {{}, {1}, {1}, {0, 1}});
  const cuda_buffer told = words(1), passed = words(1);
  const auto start = [&](uint32_t absent, uint32_t last) {
    launch(device(), nullptr, {blocks, threads}, misses_one, storage.counters(), absent, last, address(told),
           address(passed));
  };
  start(~0u, 0);
  synchronize(device());
  EXPECT_EQ(contents(passed)[0], 3 * 2 * threads);
  EXPECT_EQ(contents(told)[0], 0u);
  start(1, 1);
  for (int i = 0; i < 3; ++i) start(~0u, 0);  // queued before the first one has given up
  synchronize(device());
  EXPECT_EQ(contents(passed)[0], 4 * 2 * threads);
  EXPECT_EQ(contents(told)[0], 4 * 2 * 2 * threads);
  const auto missed = storage.missed();
  ASSERT_TRUE(missed);
  EXPECT_EQ(missed->counter, 3u);
  EXPECT_EQ(missed->epoch, 1u);
  EXPECT_EQ(missed->published, 1u);
  EXPECT_EQ(missed->expected, 2u);
  EXPECT_NE(storage.report().find("dependency counter 3 timed out in epoch 1 of an earlier launch: 1 of 2 publishes"),
            std::string::npos)
      << storage.report();
  EXPECT_THROW(start(~0u, 0), broken_barrier);
  storage.reset();
  start(~0u, 0);
  synchronize(device());
  EXPECT_EQ(contents(passed)[0], 7 * 2 * threads);
}

TEST_F(DependencyCountersCuda, AreRefusedForAnotherGridThanTheirs) {
  dependency_counter_storage storage(device(), 4, {0, 1, 1, 2});
  const cuda_buffer told = words(1), passed = words(1);
  for (const uint32_t blocks : {3u, 5u}) {
    EXPECT_THROW(launch(device(), nullptr, {blocks, 64}, misses_one, storage.counters(), ~0u, 0u, address(told),
                        address(passed)),
                 invalid_argument);
  }
  dependency_counter_storage many(device(), 100000, {0, 1, 1, 2});
  EXPECT_THROW(
      launch(device(), nullptr, {100000, 64}, misses_one, many.counters(), ~0u, 0u, address(told), address(passed)),
      not_co_resident);
}

}  // namespace
}  // namespace gpusync
