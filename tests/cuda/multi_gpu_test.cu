// Barriers across GPUs on real ones: skipped where there are fewer than two that reach each other's memory.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gpusync/gpusync.cuh>
#include <gpusync/multi_gpu/cuda.cuh>

#include "cuda/barrier_kernels.cuh"

namespace gpusync::test {
namespace {

using namespace gpusync::literals;

/// Words on every GPU that threads of all GPUs write and read.
struct field {
  uint32_t* half[2][multi_gpu::most_gpus];  ///< by parity of the phase, by GPU: a part for each GPU's threads
  uint32_t blocks[multi_gpu::most_gpus];    ///< of the grids
  uint32_t part;                            ///< words of a GPU's threads
  uint32_t gpu, gpus;
  uint32_t hops;  ///< where a GPU's words lie: on itself, or so many GPUs further
  uint32_t* wrong;

  /// What a thread of GPU `of` writes in a phase.
  __device__ uint32_t* word(uint32_t phase, uint32_t of, uint32_t block) const {
    return half[phase % 2][(of + hops) % gpus] + of * part + block * blockDim.x + threadIdx.x;
  }
  __device__ void write(uint32_t phase) const { *word(phase, gpu, blockIdx.x) = word_of(phase, gpu + blockIdx.x); }
  /// Looks at a block of every GPU, another one in each phase.
  __device__ uint32_t count_wrong(uint32_t phase) const {
    uint32_t count = 0;
    for (uint32_t i = 0; i < gpus; ++i) {
      const uint32_t block = (blockIdx.x * 7 + phase * 29) % blocks[i];
      count += *word(phase, i, block) == word_of(phase, i + block) ? 0 : 1;
    }
    return count;
  }
};

/// Plain words through barriers; every third block arrives and waits apart if `split`.
template <class Algorithm>
__global__ void __launch_bounds__(512, 2) crosses(typename cuda_multi_gpu_storage<Algorithm>::barrier_type barrier,
                                                  field data, uint32_t first, uint32_t phases, bool split) {
  uint32_t random = blockIdx.x * 747796405u + data.gpu, wrong = 0;
  for (uint32_t phase = first; phase < first + phases; ++phase) {
    if (phase % 64 == 0) dawdle(random);
    data.write(phase);
    if (split && (blockIdx.x + phase) % 3 == 0) {
      auto token = barrier.arrive();
      barrier.wait(static_cast<decltype(token)&&>(token));
    } else {
      barrier.sync();
    }
    wrong += data.count_wrong(phase);
  }
  if (wrong != 0) atomicAdd(data.wrong, wrong);
}

/// One phase with a deadline, which a block of one GPU may miss.
__global__ void misses(cuda_multi_gpu_storage<>::barrier_type barrier, uint32_t gpu, uint32_t missing_gpu,
                       uint32_t missing_block, uint32_t before, timeout span, uint32_t* late) {
  for (uint32_t i = 0; i < before; ++i) barrier.sync();
  if (gpu == missing_gpu && blockIdx.x == missing_block) return;
  if (barrier.sync_for(span) == wait_status::timed_out && threadIdx.x == 0) atomicAdd(late, 1u);
}

__global__ void takes_much_shared_memory(cuda_multi_gpu_storage<>::barrier_type barrier, uint32_t* ran) {
  extern __shared__ uint32_t much[];
  much[threadIdx.x] = 1;
  barrier.sync();
  if (threadIdx.x == 0) atomicAdd(ran, much[0]);
}

class AcrossGpusCuda : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2) {
      (void)cudaGetLastError();
      GTEST_SKIP() << "there are no two CUDA devices";
    }
    try {
      group_.emplace();
    } catch (const invalid_argument& why) {
      GTEST_SKIP() << why.what();
    }
    for (uint32_t i = 0; i < group_->size(); ++i) {
      counts_.push_back(cuda_buffer((*group_)[i], sizeof(uint32_t)));
      count_.push_back(static_cast<uint32_t*>(counts_.back().address()));
    }
  }
  const cuda_device_group& gpus() const { return *group_; }
  uint32_t sms() const { return static_cast<uint32_t>((*group_)[0].sm_count()); }
  uint32_t counted(uint32_t gpu) const {
    uint32_t value = 0;
    check_cuda(cudaMemcpy(&value, count_[gpu], sizeof(value), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }
  /// Fields for grids of these shapes; the memory lives until the next call.
  std::vector<field> fields(const std::vector<launch_shape>& shapes, uint32_t hops) {
    uint32_t part = 0;
    for (const launch_shape& one : shapes) {
      part = std::max(part, static_cast<uint32_t>(one.blocks.count() * one.threads.count()));
    }
    field made{};
    memory_.clear();
    for (uint32_t i = 0; i < gpus().size(); ++i) {
      memory_.push_back(cuda_buffer(gpus()[i], size_t{2} * part * gpus().size() * sizeof(uint32_t)));
      made.half[0][i] = static_cast<uint32_t*>(memory_.back().address());
      made.half[1][i] = made.half[0][i] + size_t{part} * gpus().size();
      made.blocks[i] = static_cast<uint32_t>(shapes[i].blocks.count());
    }
    made.part = part;
    made.gpus = gpus().size();
    made.hops = hops;
    std::vector<field> all(gpus().size(), made);
    for (uint32_t i = 0; i < gpus().size(); ++i) all[i].gpu = i, all[i].wrong = count_[i];
    return all;
  }
  template <class Algorithm>
  void expect_right(cuda_multi_gpu_storage<Algorithm>& storage, const std::vector<launch_shape>& shapes, uint32_t hops,
                    uint32_t phases, bool split = false) {
    std::vector<field> data = fields(shapes, hops);
    multi_gpu::launch(gpus(), {}, shapes, crosses<Algorithm>, storage.barriers(), multi_gpu::for_each_gpu(data), 0u,
                      phases, split);
    multi_gpu::synchronize(gpus());
    for (uint32_t i = 0; i < gpus().size(); ++i) {
      EXPECT_EQ(counted(i), 0u) << grid::name_of<Algorithm>() << ", GPU " << i << ", " << shapes[i].blocks.count()
                                << " x " << shapes[i].threads.count() << ", words " << hops << " GPUs further";
    }
  }
  std::vector<launch_shape> same(uint32_t blocks, uint32_t threads) const {
    return std::vector<launch_shape>(gpus().size(), launch_shape(blocks, threads));
  }

  std::optional<cuda_device_group> group_;
  std::vector<cuda_buffer> counts_, memory_;
  std::vector<uint32_t*> count_;  ///< a word on each GPU
};

TEST_F(AcrossGpusCuda, EveryAlgorithmOrdersPlainWordsOfAllGpus) {
  multi_gpu::algorithms::for_each([&](auto which) {
    using algorithm = decltype(which);
    cuda_multi_gpu_storage<algorithm> storage(gpus(), 4 * sms());
    for (const uint32_t hops : {0u, 1u}) {
      expect_right(storage, same(1, 1), hops, 500);
      expect_right(storage, same(1, 32), hops, 2000);
      expect_right(storage, same(2, 3), hops, 500);
      expect_right(storage, same(7, 65), hops, 500);
      expect_right(storage, same(sms(), 256), hops, 20000);
      expect_right(storage, same(sms(), 256), hops, 2000, true);
      expect_right(storage, same(2 * sms(), 512), hops, 2000);
    }
  });
}

TEST_F(AcrossGpusCuda, GridsMayDifferBetweenGpusAndLaunches) {
  multi_gpu::algorithms::for_each([&](auto which) {
    cuda_multi_gpu_storage<decltype(which)> storage(gpus(), sms(), 0xfffffff0u);
    for (uint32_t round = 0; round < 12; ++round) {
      std::vector<launch_shape> shapes;
      for (uint32_t i = 0; i < gpus().size(); ++i) {
        const uint32_t choices[] = {1, 2, 7, sms()};
        shapes.emplace_back(choices[(round + i) % 4], round % 2 == 0 ? 64u : 33u);
      }
      // One block of 64 threads writes what larger grids read: all blocks have as many threads.
      expect_right(storage, shapes, round % 2, 100);
    }
  });
}

TEST_F(AcrossGpusCuda, LaunchesAreQueuedBehindEachOtherFromAThreadForEachGpu) {
  cuda_multi_gpu_storage<> storage(gpus(), sms());
  std::vector<field> data = fields(same(sms(), 128), 1);
  std::vector<std::thread> threads;
  for (uint32_t gpu = 0; gpu < gpus().size(); ++gpu) {
    threads.emplace_back([&, gpu] {
      for (uint32_t i = 0; i < 50; ++i) {
        launch(gpus()[gpu], nullptr, launch_shape(sms(), 128), crosses<multi_gpu::default_algorithm>,
               storage.barrier(gpu), data[gpu], i * 20, 20u, false);
      }
      synchronize(gpus()[gpu]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t gpu = 0; gpu < gpus().size(); ++gpu) EXPECT_EQ(counted(gpu), 0u);
}

TEST_F(AcrossGpusCuda, TwoStoragesServeTwoStreamsAtOnce) {
  cuda_multi_gpu_storage<> one(gpus(), 32), other(gpus(), 32);
  std::vector<field> data = fields(same(32, 64), 1), more = data;
  std::vector<cuda_buffer> memory;
  for (uint32_t i = 0; i < gpus().size(); ++i) {
    memory.push_back(cuda_buffer(gpus()[i], size_t{2} * data[0].part * gpus().size() * sizeof(uint32_t)));
    for (field& each : more) {
      each.half[0][i] = static_cast<uint32_t*>(memory.back().address());
      each.half[1][i] = each.half[0][i] + size_t{data[0].part} * gpus().size();
    }
  }
  std::vector<cudaStream_t> streams[2];
  for (auto& all : streams) {
    for (uint32_t i = 0; i < gpus().size(); ++i) {
      const cuda_device_scope scope(gpus()[i].ordinal());
      all.emplace_back();
      check_cuda(cudaStreamCreateWithFlags(&all.back(), cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    }
  }
  const auto kernel = crosses<multi_gpu::default_algorithm>;
  multi_gpu::launch(gpus(), streams[0], {32, 64}, kernel, one.barriers(), multi_gpu::for_each_gpu(data), 0u, 20000u,
                    false);
  multi_gpu::launch(gpus(), streams[1], {32, 64}, kernel, other.barriers(), multi_gpu::for_each_gpu(more), 0u, 20000u,
                    true);
  for (auto& all : streams) {
    multi_gpu::synchronize(gpus(), all);
    for (const cudaStream_t stream : all) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  for (uint32_t gpu = 0; gpu < gpus().size(); ++gpu) EXPECT_EQ(counted(gpu), 0u);
}

TEST_F(AcrossGpusCuda, ABlockThatDoesNotComeIsNamedWithItsGpu) {
  for (const uint32_t missing : {0u, 5u}) {
    cuda_multi_gpu_storage<> storage(gpus(), 8);
    std::vector<uint32_t> rank;
    for (uint32_t i = 0; i < gpus().size(); ++i) rank.push_back(i);
    multi_gpu::launch(gpus(), {}, {8, 64}, misses, storage.barriers(), multi_gpu::for_each_gpu(rank), 1u, missing, 3u,
                      timeout(20_ms), multi_gpu::for_each_gpu(count_));
    multi_gpu::synchronize(gpus());
    EXPECT_EQ(counted(0), 8u);
    EXPECT_EQ(storage.missing(), (std::vector<missing_gpu_block>{{1, missing, 3, true}}));
    EXPECT_NE(storage.report().find("missing block " + std::to_string(missing) + " of GPU 1"), std::string::npos)
        << storage.report();
    EXPECT_THROW(multi_gpu::launch(gpus(), {}, {8, 64}, misses, storage.barriers(), multi_gpu::for_each_gpu(rank), 9u,
                                   0u, 0u, timeout(20_ms), multi_gpu::for_each_gpu(count_)),
                 broken_barrier);
    storage.reset();
    for (uint32_t i = 0; i < gpus().size(); ++i) counts_[i].clear();
    expect_right(storage, same(8, 64), 0, 100);
  }
}

TEST_F(AcrossGpusCuda, AGpuThatIsNotLaunchedIsNamed) {
  cuda_multi_gpu_storage<> storage(gpus(), 8);
  launch(gpus()[0], nullptr, launch_shape(8, 64), misses, storage.barrier(0), 0u, 9u, 0u, 0u, timeout(20_ms),
         count_[0]);
  synchronize(gpus()[0]);
  EXPECT_EQ(counted(0), 8u);
  const std::vector<missing_gpu_block> missing = storage.missing();
  ASSERT_EQ(missing.size(), 8u * (gpus().size() - 1));
  EXPECT_EQ(missing[0], (missing_gpu_block{1, 0, 0, false}));
  EXPECT_FALSE(missing[0].started);
  EXPECT_NE(storage.report().find("may not have been launched yet"), std::string::npos) << storage.report();
  // One that comes too late is refused before it starts, by the report of another GPU's part as well.
  EXPECT_THROW(launch(gpus()[1], nullptr, launch_shape(8, 64), misses, storage.barrier(1), 1u, 9u, 0u, 0u,
                      timeout(20_ms), count_[1]),
               broken_barrier);
}

TEST_F(AcrossGpusCuda, AGpuThatWasQueuedBehindGivesUpWhenItComes) {
  cuda_multi_gpu_storage<> storage(gpus(), 8);
  launch(gpus()[0], nullptr, launch_shape(8, 64), misses, storage.barrier(0), 0u, 9u, 0u, 0u, timeout(200_ms),
         count_[0]);
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    launch(gpus()[1], nullptr, launch_shape(8, 64), misses, storage.barrier(1), 1u, 1u, 3u, 0u, timeout(60_s),
           count_[1]);
  });
  synchronize(gpus()[0]);
  late.join();
  synchronize(gpus()[1]);  // long before its own deadline
  EXPECT_EQ(counted(1), 7u);
  EXPECT_EQ(storage.missing(), (std::vector<missing_gpu_block>{{1, 3, 0, false}}));
}

TEST_F(AcrossGpusCuda, NothingIsStartedUnlessEverythingFits) {
  cuda_multi_gpu_storage<> storage(gpus(), 4 * sms());
  std::vector<launch_shape> shapes = same(sms(), 256);
  shapes.back() = launch_shape(4 * sms(), 256);
  for (launch_shape& one : shapes) one.shared_bytes = 100 * 1024;
  EXPECT_THROW(multi_gpu::launch(gpus(), {}, shapes, takes_much_shared_memory, storage.barriers(),
                                 multi_gpu::for_each_gpu(count_)),
               not_co_resident);
  cuda_multi_gpu_storage<> small(gpus(), sms());
  shapes = same(sms(), 256);
  shapes.back() = launch_shape(sms() + 1, 256);
  EXPECT_THROW(multi_gpu::launch(gpus(), {}, shapes, takes_much_shared_memory, small.barriers(),
                                 multi_gpu::for_each_gpu(count_)),
               invalid_argument);
  multi_gpu::synchronize(gpus());
  for (uint32_t gpu = 0; gpu < gpus().size(); ++gpu) EXPECT_EQ(counted(gpu), 0u);
}

TEST_F(AcrossGpusCuda, AStorageThatIsGivenUpLetsKernelsEnd) {
  cuda_multi_gpu_storage<> storage(gpus(), 8);
  launch(gpus()[0], nullptr, launch_shape(8, 64), misses, storage.barrier(0), 0u, 9u, 0u, 0u, timeout(60_s), count_[0]);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  storage.give_up();
  synchronize(gpus()[0]);
  EXPECT_EQ(counted(0), 8u);
}

TEST_F(AcrossGpusCuda, ALaunchIsCapturedAndReplayedOnAllGpus) {
  cuda_multi_gpu_storage<> storage(gpus(), sms());
  std::vector<field> data = fields(same(sms(), 128), 1);
  std::vector<cudaStream_t> streams;
  std::vector<cudaGraphExec_t> graphs;
  for (uint32_t i = 0; i < gpus().size(); ++i) {
    const cuda_device_scope scope(gpus()[i].ordinal());
    streams.emplace_back();
    check_cuda(cudaStreamCreateWithFlags(&streams.back(), cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check_cuda(cudaStreamBeginCapture(streams.back(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  }
  multi_gpu::launch(gpus(), streams, {sms(), 128}, crosses<multi_gpu::default_algorithm>, storage.barriers(),
                    multi_gpu::for_each_gpu(data), 0u, 100u, false);
  std::vector<cudaGraph_t> captured(gpus().size());
  for (uint32_t i = 0; i < gpus().size(); ++i) {
    check_cuda(cudaStreamEndCapture(streams[i], &captured[i]), "cudaStreamEndCapture");
  }
  for (const cudaGraph_t graph : captured) {
    graphs.emplace_back();
    check_cuda(cudaGraphInstantiate(&graphs.back(), graph, 0), "cudaGraphInstantiate");
    check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
  for (int round = 0; round < 10; ++round) {
    for (uint32_t i = 0; i < gpus().size(); ++i) {
      check_cuda(cudaGraphLaunch(graphs[i], streams[i]), "cudaGraphLaunch");
    }
  }
  multi_gpu::synchronize(gpus(), streams);
  for (uint32_t i = 0; i < gpus().size(); ++i) {
    EXPECT_EQ(counted(i), 0u);
    EXPECT_EQ(cudaGraphExecDestroy(graphs[i]), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(streams[i]), cudaSuccess);
  }
}

TEST(CudaDeviceGroup, RefusesWhatCannotWaitForEachOther) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < 1) {
    (void)cudaGetLastError();
    GTEST_SKIP() << "there is no CUDA device";
  }
  EXPECT_THROW(cuda_device_group(std::vector<int>{}), invalid_argument);
  EXPECT_THROW(cuda_device_group({0, 0}), invalid_argument);
  EXPECT_THROW(cuda_device_group({0, count}), no_such_device);
  EXPECT_EQ(cuda_device_group({0}).size(), 1u);
}

TEST_F(AcrossGpusCuda, AGroupOfOneGpuIsABarrierOfItsGrid) {
  const cuda_device_group one({0});
  cuda_multi_gpu_storage<> storage(one, sms());
  field data = fields(same(sms(), 128), 0)[0];
  data.gpus = 1;
  std::vector<field> all{data};
  multi_gpu::launch(one, {}, {sms(), 128}, crosses<multi_gpu::default_algorithm>, storage.barriers(),
                    multi_gpu::for_each_gpu(all), 0u, 1000u, true);
  multi_gpu::synchronize(one);
  EXPECT_EQ(counted(0), 0u);
}

}  // namespace
}  // namespace gpusync::test
