// NVSHMEM's barrier, called by one thread of each GPU: what people use to join GPUs in kernels. NVSHMEM wants a process
// for each GPU, so this is a program of its own. scripts/nvshmem-barrier builds and runs it, and ends it if it hangs.
#include <nvshmem.h>
#include <nvshmemx.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int warm_up = 100, timed = 1000, checked = 10000, rounds = 5;

void check(bool good, const char* what, const char* why = "") {
  if (good) return;
  std::fprintf(stderr, "%s: %s\n", what, why);
  _exit(1);
}
void check(cudaError_t code, const char* what) {
  check(code == cudaSuccess, what, cudaGetErrorString(code));
}

/// What each GPU has found.
struct outcome {
  double us[rounds];  ///< a barrier
  unsigned long long wrong;
};

__device__ unsigned long long now() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void time_barriers(double* us) {
  unsigned long long begin = 0;
  for (int i = 0; i < warm_up + timed; ++i) {
    if (i == warm_up) begin = now();
    nvshmem_barrier_all();
  }
  *us = static_cast<double>(now() - begin) / (1e3 * timed);
}

/// Each GPU writes a word on the next one, and behind a barrier reads what has come: two halves, used in turn.
__global__ void check_barriers(volatile int* half, int gpu, int gpus, unsigned long long* wrong) {
  const int before = (gpu + gpus - 1) % gpus;
  unsigned long long count = 0;
  for (int step = 1; step <= checked; ++step) {
    nvshmem_int_p(const_cast<int*>(half) + step % 2, step * gpus + gpu, (gpu + 1) % gpus);
    nvshmem_barrier_all();
    count += half[step % 2] == step * gpus + before ? 0 : 1;
  }
  *wrong = count;
}

/// On all GPUs at once, which is what a kernel needs that waits for others.
template <class... Arguments>
void run(void (*kernel)(Arguments...), Arguments... of) {
  void* arguments[] = {&of...};
  check(nvshmemx_collective_launch(reinterpret_cast<const void*>(kernel), 1, 1, arguments, 0, nullptr) == 0,
        "nvshmemx_collective_launch");
  check(cudaDeviceSynchronize(), "a kernel");
}

/// The life of one process.
void measure(int gpu, int gpus, nvshmemx_uniqueid_t& id) {
  check(cudaSetDevice(gpu), "cudaSetDevice");
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  check(nvshmemx_set_attr_uniqueid_args(gpu, gpus, &id, &attributes) == 0, "nvshmemx_set_attr_uniqueid_args");
  check(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0, "nvshmemx_init_attr");
  auto* const half = static_cast<int*>(nvshmem_calloc(2, sizeof(int)));
  auto* const all = static_cast<outcome*>(nvshmem_calloc(gpus, sizeof(outcome)));
  check(half != nullptr && all != nullptr, "nvshmem_calloc");
  for (double& us : all[gpu].us) run(time_barriers, &us);
  run(check_barriers, static_cast<volatile int*>(half), gpu, gpus, &all[gpu].wrong);
  nvshmem_putmem(all + gpu, all + gpu, sizeof(outcome), 0);
  nvshmem_barrier_all();
  if (gpu == 0) {
    std::vector<outcome> found(gpus);
    check(cudaMemcpy(found.data(), all, gpus * sizeof(outcome), cudaMemcpyDeviceToHost), "cudaMemcpy");
    double slowest = 0;
    unsigned long long wrong = 0;
    for (outcome& one : found) {
      std::nth_element(one.us, one.us + rounds / 2, one.us + rounds);
      slowest = std::max(slowest, one.us[rounds / 2]);
      wrong += one.wrong;
    }
    std::printf(
        "nvshmem_barrier_all, one thread of each of %d GPUs, NVSHMEM %d.%d.%d: %.3f us (the slowest GPU's median "
        "of %d times %d barriers); %llu of %d words wrong\n",
        gpus, NVSHMEM_VENDOR_MAJOR_VERSION, NVSHMEM_VENDOR_MINOR_VERSION, NVSHMEM_VENDOR_PATCH_VERSION, slowest, rounds,
        timed, wrong, checked * gpus);
    std::fflush(stdout);
    check(wrong == 0, "words", "not those that were written before the barrier");
  }
  nvshmem_free(all);
  nvshmem_free(half);
  nvshmem_finalize();
}

}  // namespace

int main(int count, char** arguments) {
  const int gpus = count > 1 ? std::atoi(arguments[1]) : 2;
  check(gpus > 1, "usage", "nvshmem-barrier GPUS, at least 2");
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  int gpu = 0;
  for (int other = 1; other < gpus && gpu == 0; ++other) {  // before anything of CUDA, which survives no fork
    const pid_t child = fork();
    check(child >= 0, "fork");
    if (child != 0) continue;
    gpu = other;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (gpu == 0) {
    check(nvshmemx_get_uniqueid(&id) == 0, "nvshmemx_get_uniqueid");
    for (int other = 1; other < gpus; ++other) check(write(ends[1], &id, sizeof(id)) == sizeof(id), "write");
  } else {
    check(read(ends[0], &id, sizeof(id)) == sizeof(id), "read");
  }
  measure(gpu, gpus, id);
  int code = 0, state = 0;
  while (gpu == 0 && wait(&state) > 0) code |= state;
  return code == 0 ? 0 : 1;
}
