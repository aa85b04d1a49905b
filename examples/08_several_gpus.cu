// One kernel on all GPUs of a host: in each step every thread hands a number on to the next GPU, and all blocks of all
// GPUs wait for each other. Checked on the host; a block that does not come would be named with its GPU.
#include <gpusync/gpusync.cuh>
#include <gpusync/multi_gpu/cuda.cuh>

#include <chrono>
#include <cstdio>
#include <vector>

using namespace gpusync::literals;

constexpr unsigned blocks = 64, threads = 256, steps = 100;

// What a GPU has, and where it hands its numbers to: two halves, used in turn.
struct ring {
  unsigned* own;
  unsigned* next;
};

__global__ void pass_on(gpusync::multi_gpu_barrier barrier, ring numbers) {
  const unsigned self = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned step = 0; step < steps; ++step) {
    const unsigned from = step % 2 * blocks * threads, to = (step + 1) % 2 * blocks * threads;
    numbers.next[to + self] = numbers.own[from + self] + 1;
    if (barrier.sync_for(10_s) == gpusync::wait_status::timed_out) return;
  }
}

int main() try {
  const gpusync::cuda_device_group gpus;  // all that there are, with access to each other's memory
  gpusync::multi_gpu_barrier_storage storage(gpus, blocks);

  std::vector<gpusync::cuda_buffer> memory;
  for (const gpusync::cuda_device& gpu : gpus.devices())
    memory.emplace_back(gpu, 2 * blocks * threads * sizeof(unsigned));
  std::vector<ring> rings;
  for (unsigned i = 0; i < gpus.size(); ++i) {
    rings.push_back(
        {static_cast<unsigned*>(memory[i].address()), static_cast<unsigned*>(memory[(i + 1) % gpus.size()].address())});
  }

  gpusync::multi_gpu::launch(gpus, {}, {blocks, threads}, pass_on, storage.barriers(),
                             gpusync::multi_gpu::for_each_gpu(rings));
  gpusync::multi_gpu::synchronize(gpus);
  for (const gpusync::missing_gpu_block& one : storage.missing()) {
    std::printf("Block %u of GPU %u did not come to phase %u.\n", one.block, one.gpu, one.phase);
  }

  unsigned wrong = 0;
  std::vector<unsigned> found(blocks * threads);
  for (unsigned i = 0; i < gpus.size(); ++i) {
    gpusync::check_cuda(cudaMemcpy(found.data(), rings[i].own, found.size() * sizeof(unsigned), cudaMemcpyDefault),
                        "cudaMemcpy");
    for (const unsigned value : found) wrong += value == steps ? 0 : 1;
  }
  std::printf("%u GPUs, %u steps: %u of %u numbers are wrong.\n", gpus.size(), steps, wrong,
              gpus.size() * blocks * threads);
  return wrong == 0 && storage.missing().empty() ? 0 : 1;
} catch (const gpusync::no_such_device& none) {
  std::printf("%s\n", none.what());
  return 77;
} catch (const gpusync::error& failure) {
  std::printf("%s\n", failure.what());
  return 1;
}
