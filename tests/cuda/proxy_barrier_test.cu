// Proxy barriers on a CUDA device: workers of every role, data that must be there, and deadlines.
#include "cuda/barrier_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;

/// As publishes(), with one word per worker and the block's last warp as the proxy.
template <class Algorithm>
__global__ void __launch_bounds__(1024) publishes_by_proxy(barrier_of<Algorithm> barrier, uint32_t workers,
                                                           uint32_t* halves, uint32_t* wrong, uint32_t phases) {
  const cuda_grid grid;
  proxy_barrier<barrier_of<Algorithm>> proxy(barrier, workers);
  uint32_t random = (grid.block() * 32 + grid.thread() / 32) * 2891336453u + 1;
  if (grid.thread() >= workers) {
    for (uint32_t phase = 1; phase <= phases; ++phase) {
      dawdle(random);
      proxy.serve();
    }
    return;
  }
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    uint32_t* half = halves + phase % 2 * (grid.blocks() * workers);
    const uint32_t own = grid.block() * workers + grid.thread();
    dawdle(random);
    half[own] = word_of(phase, own);
    proxy.arrive();
    dawdle(random);
    proxy.wait();
    for (uint32_t offset : {1u, grid.blocks() / 2}) {
      // Another warp's word, so that it is not enough that warps of one number have waited for each other.
      const uint32_t theirs = (grid.block() + offset) % grid.blocks() * workers + (grid.thread() + 32) % workers;
      if (half[theirs] != word_of(phase, theirs)) atomicAdd(wrong, 1u);
    }
  }
}

/// Who does what, and who is absent.
struct proxy_task {
  proxy_clients workers[2];  ///< of blocks with an even and with an odd number; as many in both
  uint32_t phases;
  uint32_t absent;  ///< this block leaves before its phase `last`, counted from 0
  uint32_t last;
  uint64_t span;
};

struct proxy_outcome {
  uint32_t wrong;    ///< words
  uint32_t checked;  ///< words
  uint32_t told;     ///< threads that learned of the deadline
  uint32_t astray;   ///< those of them that learned it in another phase than they should
  unsigned long long longest;
};

/// Those that arrive write a word of a ring of four; those that wait look at the words of two other blocks. A block's
/// threads in order: those that only arrive, those that do both, those that only wait, the proxy.
template <class Algorithm, bool Bounded>
__global__ void __launch_bounds__(1024)
    serves_roles(barrier_of<Algorithm> barrier, proxy_task task, uint32_t* ring, proxy_outcome* seen) {
  const cuda_grid grid;
  const uint32_t block = grid.block(), blocks = grid.blocks(), thread = grid.thread(), threads = grid.threads();
  const proxy_clients roles = task.workers[block % 2];
  proxy_barrier<barrier_of<Algorithm>> proxy(barrier, roles);
  const bool serves = thread >= threads - 32;
  const bool arrives = thread < roles.only_arrive + roles.both;
  const bool waits = !serves && thread >= roles.only_arrive;
  uint32_t random = (block * 32 + thread / 32) * 747796405u + 1;
  uint32_t wrong = 0, checked = 0;
  for (uint32_t phase = 0; phase < task.phases; ++phase) {
    if (block == task.absent && phase == task.last) break;
    uint32_t* words = ring + phase % 4 * (blocks * threads);
    wait_status status = wait_status::completed;
    const uint64_t begin = Bounded ? grid.now() : 0;
    dawdle(random);
    if (serves) {
      if constexpr (Bounded) {
        status = proxy.serve_for(timeout(task.span));
      } else {
        proxy.serve();
      }
    }
    if (arrives) {
      const uint32_t own = block * threads + thread;
      words[own] = word_of(phase, own);
    }
    if (arrives && !waits) {
      if constexpr (Bounded) {
        status = proxy.arrive_only_bounded();
      } else {
        proxy.arrive_only();
      }
    }
    if (waits) {
      if (arrives) {
        proxy.arrive();
        dawdle(random);
      }
      if constexpr (Bounded) {
        status = proxy.wait_bounded();
      } else {
        proxy.wait();
      }
    }
    if (status == wait_status::timed_out) {
      atomicAdd(&seen->told, 1u);
      // Who only arrives learns it when it comes with the next phase.
      if (phase != task.last + (arrives && !waits ? 1 : 0)) atomicAdd(&seen->astray, 1u);
      atomicMax(&seen->longest, static_cast<unsigned long long>(grid.now() - begin));
      break;
    }
    if (!waits) continue;
    for (uint32_t offset : {1u, blocks / 2}) {
      const uint32_t other = (block + offset) % blocks;
      const uint32_t arriving = task.workers[other % 2].only_arrive + task.workers[other % 2].both;
      for (uint32_t i = thread - roles.only_arrive; i < arriving; i += roles.both + roles.only_wait) {
        const uint32_t theirs = other * threads + i;
        ++checked;
        if (words[theirs] != word_of(phase, theirs)) ++wrong;
      }
    }
  }
  atomicAdd(&seen->wrong, wrong);
  atomicAdd(&seen->checked, checked);
}

/// What the workers of even and of odd blocks do: all alike, some of each kind, and blocks that only produce beside
/// blocks that only consume.
constexpr proxy_clients mixes[][2] = {
    {{64, 0, 0}, {64, 0, 0}},        {{0, 32, 32}, {0, 32, 32}}, {{0, 160, 64}, {0, 160, 64}},
    {{64, 32, 0}, {64, 32, 0}},      {{64, 0, 96}, {64, 0, 96}}, {{32, 64, 128}, {32, 64, 128}},
    {{32, 480, 480}, {32, 32, 928}}, {{0, 64, 0}, {0, 0, 64}},   {{96, 0, 0}, {32, 32, 32}},
};

template <class Algorithm>
class CudaProxyBarrier : public CudaTest {
 protected:
  static constexpr uint32_t nobody = ~0u;

  template <bool Bounded>
  proxy_outcome outcome(cuda_barrier_storage<Algorithm>& storage, uint32_t blocks, const proxy_task& task) {
    const uint32_t threads = threads_of(task);
    const auto ring = words(4 * size_t{blocks} * threads);
    const cuda_buffer memory(device(), sizeof(proxy_outcome));
    launch(device(), nullptr, {blocks, threads}, serves_roles<Algorithm, Bounded>, storage.barrier(), task,
           address(ring), static_cast<proxy_outcome*>(memory.address()));
    proxy_outcome seen;
    check_cuda(cudaMemcpy(&seen, memory.address(), sizeof(seen), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return seen;
  }

  static uint32_t threads_of(const proxy_task& task) {
    const proxy_clients& some = task.workers[0];
    return some.both + some.only_arrive + some.only_wait + 32;
  }

  /// Words that the launch of a task looks at, modulo 2^32, if nobody is absent.
  static uint32_t to_check(const proxy_task& task, uint32_t blocks) {
    uint32_t words = 0;
    for (uint32_t block = 0; block < blocks; ++block) {
      if (task.workers[block % 2].both + task.workers[block % 2].only_wait == 0) continue;
      for (const uint32_t offset : {1u, blocks / 2}) {
        const proxy_clients& theirs = task.workers[(block + offset) % blocks % 2];
        words += theirs.only_arrive + theirs.both;
      }
    }
    return words * task.phases;
  }

  template <bool Bounded>
  void expect_data() {
    for (const auto& mix : mixes) {
      proxy_task task{{mix[0], mix[1]}, 0, nobody, 0, 10'000'000'000};
      const launch_shape one{1, threads_of(task)};
      const auto resident =
          static_cast<uint32_t>(max_co_resident(device(), serves_roles<Algorithm, Bounded>, one).blocks());
      for (const uint32_t blocks : {1u, 2u, 5u, sms(), resident}) {
        cuda_barrier_storage<Algorithm> storage(device(), blocks);
        task.phases = phases(blocks > sms() ? 100 : 500);
        for (int launches = 0; launches < 2; ++launches) {
          const proxy_outcome seen = outcome<Bounded>(storage, blocks, task);
          const std::string which = std::to_string(blocks) + " blocks of " + std::to_string(mix[0].both) + ", " +
                                    std::to_string(mix[0].only_arrive) + ", " + std::to_string(mix[0].only_wait);
          EXPECT_EQ(seen.wrong, 0u) << which;
          EXPECT_EQ(seen.checked, to_check(task, blocks)) << which;
          EXPECT_EQ(seen.told, 0u) << which;
        }
      }
    }
  }
};

TYPED_TEST_SUITE(CudaProxyBarrier, one_of_each_kind, algorithm_names);

TYPED_TEST(CudaProxyBarrier, PublishesPlainDataOfAllWorkers) {
  for (const uint32_t workers : {32u, 96u, 256u, 992u}) {
    const launch_shape one{1, workers + 32};
    const auto resident =
        static_cast<uint32_t>(max_co_resident(this->device(), publishes_by_proxy<TypeParam>, one).blocks());
    for (const uint32_t blocks : {1u, 2u, 5u, this->sms(), resident}) {
      cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
      const auto halves = this->words(2 * size_t{blocks} * workers);
      const auto wrong = this->words(1);
      launch(this->device(), nullptr, {blocks, workers + 32}, publishes_by_proxy<TypeParam>, storage.barrier(), workers,
             this->address(halves), this->address(wrong), phases(blocks > this->sms() ? 200 : 1000));
      EXPECT_EQ(this->contents(wrong)[0], 0u) << blocks << " blocks of " << workers << " workers";
    }
  }
}

TYPED_TEST(CudaProxyBarrier, PublishesWhatSomeWarpsWriteToThoseThatWait) {
  this->template expect_data<false>();
}

TYPED_TEST(CudaProxyBarrier, DoesSoWithADeadlineThatDoesNotStrike) {
  this->template expect_data<true>();
}

TYPED_TEST(CudaProxyBarrier, TellsEveryThreadOfADeadlineAndNamesTheAbsentBlock) {
  constexpr uint64_t span = 20'000'000;
  const uint32_t blocks = this->sms();
  const uint32_t absent = blocks / 3;
  for (const auto& mix : mixes) {
    for (const uint32_t last : {0u, 3u}) {
      const proxy_task task{{mix[0], mix[1]}, last + 4, absent, last, span};
      cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
      const proxy_outcome seen = this->template outcome<true>(storage, blocks, task);
      EXPECT_EQ(seen.told, (blocks - 1) * this->threads_of(task)) << "workers of all roles, and proxys";
      EXPECT_EQ(seen.astray, 0u);
      EXPECT_EQ(seen.wrong, 0u);
      EXPECT_GE(seen.longest, span);
      EXPECT_LT(seen.longest, 2 * span);
      EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{absent, last}}));
      proxy_task again = task;
      again.absent = this->nobody;
      EXPECT_THROW((void)this->template outcome<true>(storage, blocks, again), broken_barrier);
      storage.reset();
      EXPECT_EQ((this->template outcome<true>(storage, blocks, again).told), 0u);
    }
  }
}

}  // namespace
}  // namespace gpusync
