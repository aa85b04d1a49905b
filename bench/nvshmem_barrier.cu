// Barriers across GPUs over NVSHMEM: this library's, beside NVSHMEM's own and this library's over peer memory, in one
// run. NVSHMEM wants a process for each GPU, so this is a program of its own. scripts/nvshmem-barrier builds and runs
// it, and ends it if it hangs.
//   nvshmem-barrier GPUS [measure [PHASES] | missing-block | never-launched | dies]
#include <nvshmem.h>
#include <nvshmemx.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <gpusync/gpusync.cuh>
#include <gpusync/multi_gpu/cuda_processes.cuh>
#include <gpusync/multi_gpu/nvshmem.cuh>

namespace {

using namespace gpusync;
using namespace gpusync::literals;

using over_nvshmem = nvshmem_gpu_part;
using over_peers = cuda_gpu_part<>;

constexpr uint32_t threads = 256;
constexpr int warm_up = 300, timed = 2000, rounds = 7;

/// Words of the symmetric heap. A GPU's threads write some of their own GPU, which the next GPU gets, and put some to
/// the next GPU: two halves of each, used in turn.
struct fields {
  uint32_t* own[2];
  uint32_t* put[2];
  uint32_t gpu, gpus;
  uint32_t* wrong;
};

__device__ uint32_t word_of(uint32_t phase, uint32_t gpu, uint32_t writer) {
  return phase * 0x9e3779b9u ^ gpu * 0x85ebca6bu ^ writer;
}

/// Phases with words that others check: by NVSHMEM's puts and gets, or by plain loads and stores.
template <bool Calls, class Barrier>
__global__ void crosses(Barrier barrier, fields data, uint32_t first, uint32_t phases, timeout span) {
  const uint32_t self = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t next = (data.gpu + 1) % data.gpus, before = (data.gpu + data.gpus - 1) % data.gpus;
  const auto there = [&](uint32_t* words) {
    return static_cast<volatile uint32_t*>(nvshmem_ptr(words, static_cast<int>(next)));
  };
  volatile uint32_t* const put_there[2] = {there(data.put[0]), there(data.put[1])};
  volatile uint32_t* const own_there[2] = {there(data.own[0]), there(data.own[1])};
  uint32_t count = 0;
  barrier.enter();
  for (uint32_t phase = first; phase < first + phases; ++phase) {
    uint32_t* const own = data.own[phase % 2];
    uint32_t* const put = data.put[phase % 2];
    own[self] = word_of(phase, data.gpu, self);
    const uint32_t sent = word_of(phase, data.gpu, ~self);
    if constexpr (Calls) {
      nvshmem_uint32_p(put + self, sent, static_cast<int>(next));
    } else {
      (phase % 2 != 0 ? put_there[1] : put_there[0])[self] = sent;
    }
    if (barrier.sync_for(span) == wait_status::timed_out) break;
    const uint32_t other = (blockIdx.x + phase * 29) % gridDim.x * blockDim.x + threadIdx.x;
    count += put[other] == word_of(phase, before, ~other) ? 0 : 1;
    uint32_t got;
    if constexpr (Calls) {
      got = nvshmem_uint32_g(own + other, static_cast<int>(next));
    } else {
      got = (phase % 2 != 0 ? own_there[1] : own_there[0])[other];
    }
    count += got == word_of(phase, next, other) ? 0 : 1;
  }
  if (count != 0) atomicAdd(data.wrong, count);
}

template <class Barrier>
__global__ void misses(Barrier barrier, uint32_t missing, timeout span) {
  if (blockIdx.x == missing) return;
  (void)barrier.sync_for(span);
}

__device__ unsigned long long now() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

/// Writes the time of one of many barriers.
template <class Sync>
__device__ void time_of(Sync sync, double* us) {
  unsigned long long begin = 0;
  for (int i = 0; i < warm_up + timed; ++i) {
    if (i == warm_up) begin = now();
    sync();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *us = static_cast<double>(now() - begin) / (1e3 * timed);
}
template <class Barrier>
__global__ void time_ours(Barrier barrier, double* us) {
  barrier.enter();
  time_of([&] { barrier.sync(); }, us);
}
__global__ void time_nvshmem(double* us) {
  time_of([] { nvshmem_barrier_all(); }, us);
}
/// NVSHMEM's barrier for all blocks: between two of the grid.
__global__ void time_three_steps(grid_barrier barrier, double* us) {
  barrier.enter();
  time_of(
      [&] {
        barrier.sync();
        if (blockIdx.x == 0 && threadIdx.x == 0) nvshmem_barrier_all();
        barrier.sync();
      },
      us);
}

/// What one process does.
class process {
 public:
  process(int gpu, int gpus)
      : gpu_(static_cast<uint32_t>(gpu)),
        gpus_(static_cast<uint32_t>(gpus)),
        device_(gpu),
        blocks_(static_cast<uint32_t>(device_.sm_count())),
        part_(device_, blocks_) {
    const size_t words = size_t{blocks_} * threads;
    for (uint32_t half = 0; half < 2; ++half) {
      data_.own[half] = symmetric<uint32_t>(words);
      data_.put[half] = symmetric<uint32_t>(words);
    }
    data_.wrong = symmetric<uint32_t>(1);
    data_.gpu = gpu_;
    data_.gpus = gpus_;
    us_ = symmetric<double>(gpus_);
    nvshmem_barrier_all();
  }

  void measure(uint32_t phases) {
    over_peers direct(device_, gpu_, gpus_, blocks_);
    connect(direct);
    check<true>("over NVSHMEM", part_, phases);
    check<false>("over NVSHMEM, plain loads and stores", part_, phases);
    check<false>("over peer memory", direct, phases / 10);
    const launch_shape all{blocks_, threads}, one{1, 32};
    grid_barrier_storage of_grid(device_, blocks_);
    const std::vector<std::pair<std::string, std::function<void()>>> ways{
        {"nvshmem_barrier_all, one thread of each of " + std::to_string(gpus_) + " GPUs",
         [&] {
           void* arguments[] = {&us_};
           if (nvshmemx_collective_launch(reinterpret_cast<const void*>(time_nvshmem), 1, 1, arguments, 0, nullptr) !=
               0) {
             throw error("nvshmemx_collective_launch failed.");
           }
         }},
        {"gpusync over NVSHMEM, 1 x 32", [&] { start(part_, one); }},
        {"gpusync over peer memory, 1 x 32", [&] { start(direct, one); }},
        {"nvshmem_barrier_all by one thread, between two grid barriers, " + std::to_string(blocks_) + " x " +
             std::to_string(threads),
         [&] { launch(device_, nullptr, all, time_three_steps, of_grid.barrier(), us_); }},
        {"gpusync over NVSHMEM, " + std::to_string(blocks_) + " x " + std::to_string(threads),
         [&] { start(part_, all); }},
        {"gpusync over peer memory, " + std::to_string(blocks_) + " x " + std::to_string(threads),
         [&] { start(direct, all); }},
    };
    std::vector<std::vector<double>> found(ways.size());
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < ways.size(); ++i) {
        nvshmem_barrier_all();
        ways[i].second();
        synchronize(device_);
        found[i].push_back(slowest());
      }
    }
    part_.release();
    if (gpu_ != 0) return;
    for (size_t i = 0; i < ways.size(); ++i) {
      std::sort(found[i].begin(), found[i].end());
      std::printf(
          "%s; NVSHMEM %d.%d.%d: %.3f us (the median of %d rounds of %d barriers, of the slowest GPU; %.3f to %.3f)\n",
          ways[i].first.c_str(), NVSHMEM_VENDOR_MAJOR_VERSION, NVSHMEM_VENDOR_MINOR_VERSION,
          NVSHMEM_VENDOR_PATCH_VERSION, found[i][rounds / 2], rounds, timed, found[i].front(), found[i].back());
    }
  }

  void fail(const std::string& how) {
    const bool last = gpu_ + 1 == gpus_;
    check<true>("before", part_, 1000);
    if (how == "missing-block") {
      launch(device_, nullptr, {blocks_, threads}, misses<over_nvshmem::barrier_type>, part_.barrier(),
             last ? 3u : blocks_, timeout(300_ms));
      synchronize(device_);
      say_who_is_missing();
      part_.reset();
      check<true>("after reset()", part_, 1000);
      return;
    }
    if (!(last && how == "never-launched")) {
      launch(device_, nullptr, {blocks_, threads}, crosses<true, over_nvshmem::barrier_type>, part_.barrier(), data_,
             0u, ~0u, timeout(500_ms));
    }
    if (last && how == "dies") {  // in the middle of phases, without a word
      usleep(50000);
      (void)raise(SIGKILL);
    }
    synchronize(device_);
    say_who_is_missing();
    std::fflush(stdout);
    // Not nvshmem_finalize(), which waits for all.
    if (how == "dies") _exit(part_.missing().empty() ? 1 : 0);
  }

 private:
  template <class T>
  static T* symmetric(size_t count) {
    auto* const made = static_cast<T*>(nvshmem_calloc(count, sizeof(T)));
    if (made == nullptr) throw error("NVSHMEM's symmetric heap is too small.");
    return made;
  }
  /// By NVSHMEM, as it is there.
  void connect(over_peers& direct) {
    using multi_gpu::part_address;
    const part_address own = direct.address();
    auto* const send = symmetric<part_address>(1);
    auto* const all = symmetric<part_address>(gpus_);
    check_cuda(cudaMemcpy(send, &own, sizeof(own), cudaMemcpyHostToDevice), "cudaMemcpy");
    if (nvshmem_fcollectmem(NVSHMEM_TEAM_WORLD, all, send, sizeof(own)) != 0)
      throw error("nvshmem_fcollectmem failed.");
    std::vector<part_address> of_all(gpus_);
    check_cuda(cudaMemcpy(of_all.data(), all, gpus_ * sizeof(own), cudaMemcpyDeviceToHost), "cudaMemcpy");
    direct.connect(of_all);
    nvshmem_free(all);
    nvshmem_free(send);
  }
  template <class Part>
  void start(Part& part, const launch_shape& shape) {
    launch(device_, nullptr, shape, time_ours<typename Part::barrier_type>, part.barrier(), us_);
  }
  template <bool Calls, class Part>
  void check(const char* how, Part& part, uint32_t phases) {
    check_cuda(cudaMemset(data_.wrong, 0, sizeof(uint32_t)), "cudaMemset");
    constexpr uint32_t at_once = 500000;
    for (uint32_t first = 0; first < phases; first += at_once) {
      launch(device_, nullptr, {blocks_, threads}, crosses<Calls, typename Part::barrier_type>, part.barrier(), data_,
             first, std::min(at_once, phases - first), timeout(20_s));
    }
    synchronize(device_);
    uint32_t wrong = 0;
    check_cuda(cudaMemcpy(&wrong, data_.wrong, sizeof(wrong), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::printf("GPU %u, %s: %u words wrong in %u phases of %u x %u%s\n", gpu_, how, wrong, phases, blocks_, threads,
                part.missing().empty() ? "" : ", timed out");
    if (wrong != 0 || !part.missing().empty()) throw error(part.report() + " Words were not those written before.");
    nvshmem_barrier_all();
  }
  double slowest() {
    double own = 0, all = 0;
    check_cuda(cudaMemcpy(&own, us_, sizeof(own), cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (nvshmem_double_max_reduce(NVSHMEM_TEAM_WORLD, us_ + gpus_ - 1, us_, 1) != 0) {
      throw error("nvshmem_double_max_reduce failed.");
    }
    check_cuda(cudaMemcpy(&all, us_ + gpus_ - 1, sizeof(all), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return std::max(own, all);
  }
  void say_who_is_missing() {
    for (const missing_gpu_block& one : part_.missing()) {
      if (one.block > 3 && one.block + 1 < blocks_) continue;
      std::printf("GPU %u: missing GPU %u block %u phase %u%s\n", gpu_, one.gpu, one.block, one.phase,
                  one.started ? " seen" : "");
    }
    std::printf("GPU %u: %s\n", gpu_, part_.report().c_str());
  }

  uint32_t gpu_, gpus_;
  cuda_device device_;
  uint32_t blocks_;
  over_nvshmem part_;
  fields data_{};
  double* us_ = nullptr;
};

/// The life of one process.
int live(int gpu, int gpus, nvshmemx_uniqueid_t& id, const std::string& what, uint32_t phases) {
  try {
    check_cuda(cudaSetDevice(gpu), "cudaSetDevice");
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    if (nvshmemx_set_attr_uniqueid_args(gpu, gpus, &id, &attributes) != 0 ||
        nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0) {
      throw error("nvshmemx_init_attr failed.");
    }
    {
      process own(gpu, gpus);
      what == "measure" ? own.measure(phases) : own.fail(what);
      std::fflush(stdout);
    }
    nvshmem_finalize();
    return 0;
  } catch (const std::exception& thrown) {
    std::printf("GPU %d: threw %s\n", gpu, thrown.what());
    std::fflush(stdout);
    return 1;
  }
}

}  // namespace

int main(int count, char** words) {
  const int gpus = count > 1 ? std::atoi(words[1]) : 2;
  const std::string what = count > 2 ? words[2] : "measure";
  const auto phases = static_cast<uint32_t>(count > 3 ? std::atoi(words[3]) : 100000);
  if (gpus < 2 || (what != "measure" && what != "missing-block" && what != "never-launched" && what != "dies")) {
    std::fprintf(stderr, "usage: nvshmem-barrier GPUS [measure [PHASES] | missing-block | never-launched | dies]\n");
    return 2;
  }
  int ends[2];
  if (pipe(ends) != 0) return 1;
  int gpu = 0;
  for (int other = 1; other < gpus && gpu == 0; ++other) {  // before anything of CUDA, which survives no fork
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child != 0) continue;
    gpu = other;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (gpu == 0) {
    if (nvshmemx_get_uniqueid(&id) != 0) return 1;
    for (int other = 1; other < gpus; ++other) {
      if (write(ends[1], &id, sizeof(id)) != static_cast<ssize_t>(sizeof(id))) return 1;
    }
  } else if (read(ends[0], &id, sizeof(id)) != static_cast<ssize_t>(sizeof(id))) {
    return 1;
  }
  const int own = live(gpu, gpus, id, what, phases);
  if (gpu != 0) _exit(own);
  int failed = own, state = 0;
  while (wait(&state) > 0) {
    const bool meant = what == "dies" && WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL;
    if (!meant && state != 0) failed = 1;
  }
  return failed;
}
