// Child of gpu_processes_test: two processes, each with a GPU, in one barrier. Says what happened, a line for each.
//   gpu_processes [PHASES [missing-block|never-launched|dies]]
// Without arguments, whether there are two GPUs.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gpusync/gpusync.cuh>
#include <gpusync/multi_gpu/cuda_processes.cuh>

namespace {

using namespace gpusync;
using namespace gpusync::literals;

constexpr uint32_t blocks = 132, threads = 256, gpus = 2;

/// Words of both GPUs' threads, two halves on each GPU.
struct fields {
  uint32_t* words[gpus];
  uint32_t gpu;
  uint32_t* wrong;
};

__device__ uint32_t word_of(uint32_t phase, uint32_t writer) {
  return phase * 0x9e3779b9u ^ writer;
}

__global__ void crosses(cuda_gpu_part<>::barrier_type barrier, fields data, uint32_t first, uint32_t phases,
                        timeout span) {
  const uint32_t self = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t count = 0;
  for (uint32_t phase = first; phase < first + phases; ++phase) {
    const uint32_t half = phase % 2 * blocks * threads;
    data.words[data.gpu][half + self] = word_of(phase, self + data.gpu);
    if (barrier.sync_for(span) == wait_status::timed_out) return;
    const uint32_t other = (blockIdx.x + phase * 29) % gridDim.x * blockDim.x + threadIdx.x;
    for (uint32_t i = 0; i < gpus; ++i) count += data.words[i][half + other] == word_of(phase, other + i) ? 0 : 1;
  }
  if (count != 0) atomicAdd(data.wrong, count);
}

__global__ void waits(cuda_gpu_part<>::barrier_type barrier, uint32_t missing, timeout span) {
  if (blockIdx.x == missing) return;
  (void)barrier.sync_for(span);
}

/// What the processes send each other.
struct introduction {
  multi_gpu::part_address part;
  multi_gpu::shared_memory words;
};

class meeting {
 public:
  explicit meeting(int socket) : socket_(socket) {}
  introduction exchange(const introduction& own) const {
    introduction other{};
    send(&own, sizeof(own));
    receive(&other, sizeof(other));
    return other;
  }
  /// Returns once both have come here.
  void meet() const {
    char byte = 0;
    send(&byte, 1);
    receive(&byte, 1);
  }

 private:
  void send(const void* what, size_t bytes) const {
    if (::send(socket_, what, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes))
      throw error("The other process is gone.");
  }
  void receive(void* what, size_t bytes) const {
    pollfd wait{socket_, POLLIN, 0};
    if (poll(&wait, 1, 60000) != 1 || ::recv(socket_, what, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes)) {
      throw error("The other process is gone.");
    }
  }
  int socket_;
};

void say_what_is_missing(const cuda_gpu_part<>& part, uint32_t gpu) {
  for (const missing_gpu_block& one : part.missing()) {
    if (one.block > 3 && one.block + 1 < blocks) continue;
    std::printf("%u: missing gpu %u block %u phase %u%s\n", gpu, one.gpu, one.block, one.phase,
                one.started ? " seen" : "");
  }
  if (!part.report().empty()) std::printf("%u: %s\n", gpu, part.report().c_str());
}

void run(uint32_t gpu, const meeting& other, uint32_t phases, const std::string& what) {
  const cuda_device device(static_cast<int>(gpu));
  const cuda_device_scope scope(device.ordinal());
  cuda_gpu_part<> part(device, gpu, gpus, blocks);
  const cuda_buffer words(device, 2 * blocks * threads * sizeof(uint32_t)), wrong(device, sizeof(uint32_t));
  const introduction own{part.address(), multi_gpu::shared_memory::of(words.address(), words.address())};
  const introduction theirs = other.exchange(own);
  std::vector<multi_gpu::part_address> all{own.part, own.part};
  all[1 - gpu] = theirs.part;
  part.connect(all);
  const multi_gpu::opened_memory opened(device, theirs.words);
  fields data{};
  data.words[gpu] = static_cast<uint32_t*>(words.address());
  data.words[1 - gpu] = static_cast<uint32_t*>(opened.address());
  data.gpu = gpu;
  data.wrong = static_cast<uint32_t*>(wrong.address());
  other.meet();
  if (what.empty()) {
    for (uint32_t i = 0; i < 4; ++i) {
      launch(device, nullptr, {blocks, threads}, crosses, part.barrier(), data, i * phases, phases, timeout(10_s));
    }
    synchronize(device);
    uint32_t found = 0;
    check_cuda(cudaMemcpy(&found, wrong.address(), sizeof(found), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::printf("%u: %u wrong%s\n", gpu, found, part.missing().empty() ? "" : ", timed out");
    other.meet();
    return;
  }
  if (what == "missing-block") {
    launch(device, nullptr, {blocks, threads}, waits, part.barrier(), gpu == 1 ? 3u : blocks, timeout(200_ms));
    synchronize(device);
    say_what_is_missing(part, gpu);
    other.meet();
    part.reset();
    other.meet();
    launch(device, nullptr, {blocks, threads}, crosses, part.barrier(), data, 0u, phases, timeout(10_s));
    synchronize(device);
    std::printf("%u: after reset %s\n", gpu, part.missing().empty() ? "right" : "timed out");
    other.meet();
    return;
  }
  if (what == "never-launched" && gpu == 1) {
    other.meet();
    return;
  }
  if (what == "dies" && gpu == 1) {
    // Some phases, and then in the middle of them, without a word.
    launch(device, nullptr, {blocks, threads}, crosses, part.barrier(), data, 0u, ~0u, timeout(10_s));
    usleep(50000);
    (void)raise(SIGKILL);
  }
  launch(device, nullptr, {blocks, threads}, crosses, part.barrier(), data, 0u, ~0u, timeout(500_ms));
  synchronize(device);
  say_what_is_missing(part, gpu);
  if (what == "never-launched") other.meet();
  std::printf("%u: ended\n", gpu);
}

int guarded(uint32_t gpu, int socket, uint32_t phases, const std::string& what) {
  try {
    run(gpu, meeting(socket), phases, what);
    std::fflush(stdout);
    return 0;
  } catch (const std::exception& thrown) {
    std::printf("%u: threw %s\n", gpu, thrown.what());
    std::fflush(stdout);
    return 1;
  }
}

/// How many devices there are, asked by a process that ends: CUDA and fork() do not go together.
int devices() {
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    _exit(cudaGetDeviceCount(&count) == cudaSuccess ? count : 0);
  }
  int status = 0;
  (void)waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (devices() < 2) {
    std::printf("no two CUDA devices\n");
    return 0;
  }
  if (argc < 2) {
    std::printf("two CUDA devices\n");
    return 0;
  }
  const auto phases = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1000);
  const std::string what = argc > 2 ? argv[2] : "";
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    close(sockets[0]);
    _exit(guarded(1, sockets[1], phases, what));
  }
  close(sockets[1]);
  const int mine = guarded(0, sockets[0], phases, what);
  close(sockets[0]);
  int status = 0;
  (void)waitpid(child, &status, 0);
  const bool died = WIFSIGNALED(status);
  std::printf("1: %s\n", died ? "died" : WEXITSTATUS(status) == 0 ? "ended" : "failed");
  return mine != 0 || (!died && WEXITSTATUS(status) != 0) ? 1 : 0;
}
