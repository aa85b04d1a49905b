// What tests of grid barriers on a CUDA device have in common.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "boundary/cuda_graph.hpp"
#include "cuda/barrier_kernels.cuh"
#include "cuda/device_fixture.cuh"
#include "support/host_barriers.hpp"

namespace gpusync::test {

/// Phases of a long test; GPUSYNC_TEST_PHASES makes it shorter, for tools that slow kernels down.
inline uint32_t phases(uint32_t usual) {
  const char* most = std::getenv("GPUSYNC_TEST_PHASES");
  return most == nullptr ? usual : std::min(usual, static_cast<uint32_t>(std::strtoul(most, nullptr, 10)));
}

using default_algorithm = grid::placed_counters<ordering::acquire_release>;

/// Whether two barriers differ in nothing but a number at the end of their names, as trees do.
template <class First, class Second>
constexpr bool are_of_one_kind() {
  const auto stem = [](const char* family) {
    std::string_view name(family);
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
  };
  return stem(First::family) == stem(Second::family);
}

/// Of a list, the barriers that order their data by release and acquire and join parts of a grid; the first of each
/// kind.
template <class Kept, class... Rest>
struct kinds_of {
  using type = Kept;
};
template <class... Kept, class First, class... Rest>
struct kinds_of<grid::algorithm_list<Kept...>, First, Rest...> {
  static constexpr bool wanted =
      First::order == ordering::acquire_release && !First::whole_grid_only && !(are_of_one_kind<Kept, First>() || ...);
  using kept = std::conditional_t<wanted, grid::algorithm_list<Kept..., First>, grid::algorithm_list<Kept...>>;
  using type = typename kinds_of<kept, Rest...>::type;
};
template <class... Algorithms>
typename kinds_of<grid::algorithm_list<>, Algorithms...>::type kinds_in(grid::algorithm_list<Algorithms...>);

#ifdef GPUSYNC_NO_GPU_HERE
// Compiled only, and for every barrier by gpu.combinations: of each way in which these tests differ by the barrier,
// one.
using one_of_each_kind = as_gtest_types<grid::algorithm_list<default_algorithm>>::type;
using all_barriers = as_gtest_types<
    grid::algorithm_list<default_algorithm, grid::lock_based<ordering::none>, grid::cooperative_groups>>::type;
#else
/// One of each kind, where a kernel for every algorithm of the registry would take too long to compile.
using one_of_each_kind = as_gtest_types<decltype(kinds_in(grid::portable_algorithms{}))>::type;
using all_barriers = as_gtest_types<grid::cuda_algorithms>::type;
#endif

/// Captures what `start(stream)` launches into a graph, and runs that `times` times.
template <class Start>
void replay(int times, Start&& start) {
  cudaStream_t stream;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  const tool::cuda_graph graph(stream, [&] { start(stream); });
  for (int i = 0; i < times; ++i) graph.replay(stream);
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  check_cuda(cudaStreamDestroy(stream), "destroy");
}

template <class Algorithm>
class CudaBarrier : public CudaTest {
 protected:
  uint64_t most(uint32_t threads) const {
    return max_co_resident(device(), publishes<Algorithm>, {1, threads}).blocks();
  }

  uint32_t early_releases(cuda_barrier_storage<Algorithm>& storage, launch_shape shape, uint32_t phases) {
    const auto slots = words(shape.blocks.count());
    const auto early = words(1);
    launch(device(), nullptr, shape, waits<Algorithm>, storage.barrier(), address(slots), address(early), 0u, phases);
    return contents(early)[0];
  }

  uint32_t wrong_words(cuda_barrier_storage<Algorithm>& storage, launch_shape shape, uint32_t phases, bool split) {
    const auto halves = words(6 * shape.blocks.count() * shape.threads.count());
    const auto wrong = words(1);
    launch(device(), nullptr, shape, publishes<Algorithm>, storage.barrier(), address(halves), address(wrong), phases,
           split);
    return contents(wrong)[0];
  }
};

/// Calls `check(storage, text)` with a storage for so many blocks under every plan that a table may hold: with places
/// as they are, and as after a change of the physical pages, with lines and SMs on other partitions than the table
/// says.
template <class Check>
void under_any_plan(const cuda_device& device, uint32_t blocks, Check&& check) {
  for (const bool misplaced : {false, true}) {
    for (const uint16_t counters : {1, 2, 4, 8}) {
      for (const uint16_t copies : {1, 2, 4, 8}) {
        for (const uint16_t partitions : {1, 2}) {
          if (counters * copies > 8) continue;
          barrier_tuning tuning;
          tuning.rules.count = 1;
          const uint16_t second_warp = counters == copies ? 1 : 0;
          tuning.rules.rules[0] = {grid::counter_rules::any,
                                   grid::counter_rules::any,
                                   {counters, copies, partitions, second_warp, 100u * counters}};
          cuda_barrier_storage<default_algorithm> storage(device, blocks, tuning);
          if (misplaced) {
            grid::counter_places& places = storage.places();
            for (uint32_t i = 0; i < grid::counter_places::most_lines; i += 2) {
              places.line[i] = places.line[i] << 16 | places.line[i] >> 16;
            }
            for (uint32_t& bits : places.partitions.bits) bits = 0x33333333u;
          }
          check(storage, std::to_string(counters) + " x " + std::to_string(copies) + ", " + std::to_string(partitions) +
                             " partitions" + (misplaced ? ", misplaced" : ""));
        }
      }
    }
  }
}

/// Launches of shrinks() in which block b leaves in phase leaves[b], or never if that is 0.
class shrinking {
 public:
  shrinking(const cuda_device& device, std::vector<uint32_t> leaves, uint32_t threads)
      : device_(&device),
        last_(std::move(leaves)),
        threads_(threads),
        leaves_(device, last_.size() * sizeof(uint32_t)),
        slots_(device, last_.size() * sizeof(uint32_t)),
        halves_(device, 2 * last_.size() * threads * sizeof(uint32_t)),
        faults_(device, 2 * sizeof(uint32_t)) {
    check_cuda(cudaMemcpy(leaves_.address(), last_.data(), leaves_.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }

  /// Forgets what an earlier launch has written, and launches.
  template <class Algorithm>
  void start(cuda_barrier_storage<Algorithm>& storage, cudaStream_t stream, uint32_t phases) {
    for (const cuda_buffer* buffer : {&slots_, &halves_}) {
      check_cuda(cudaMemsetAsync(buffer->address(), 0, buffer->bytes(), stream), "cudaMemsetAsync");
    }
    for (uint32_t& last : last_) last = last == 0 ? phases : last;
    launch(*device_, stream, {static_cast<uint32_t>(last_.size()), threads_}, shrinks<Algorithm>,
           storage.dropping_barrier(), static_cast<const uint32_t*>(leaves_.address()), words_of(slots_),
           words_of(halves_), words_of(faults_), words_of(faults_) + 1, phases);
  }

  /// Waits for what was started. Nobody was early or read a wrong word, and each block came to its last phase.
  void expect_clean() const {
    uint32_t faults[2];
    std::vector<uint32_t> slots(last_.size());
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check_cuda(cudaMemcpy(faults, faults_.address(), sizeof(faults), cudaMemcpyDeviceToHost), "cudaMemcpy");
    check_cuda(cudaMemcpy(slots.data(), slots_.address(), slots_.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    EXPECT_EQ(faults[0], 0u) << "released early";
    EXPECT_EQ(faults[1], 0u) << "wrong words";
    EXPECT_EQ(slots, last_);
  }

 private:
  static uint32_t* words_of(const cuda_buffer& buffer) { return static_cast<uint32_t*>(buffer.address()); }

  const cuda_device* device_;
  std::vector<uint32_t> last_;
  uint32_t threads_;
  cuda_buffer leaves_, slots_, halves_, faults_;
};

}  // namespace gpusync::test
