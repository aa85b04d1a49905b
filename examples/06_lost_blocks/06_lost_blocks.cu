// Blocks of a persistent CUDA kernel that are lost in the middle of a computation: the survivors share out their rows,
// redo what is missing of the step, and come to the right result.
#include <gpusync/gpusync.cuh>
#include <gpusync/rmw/fault_tolerant_cuda.cuh>

#include <algorithm>

#include "report.hpp"

using lost_blocks::fate;
using lost_blocks::note;
using lost_blocks::plan;
using lost_blocks::plate;

constexpr int width = 2048;
constexpr int height = 2050;
constexpr int steps = 400;
constexpr uint32_t most_blocks = 132;
constexpr uint32_t threads = 256;
constexpr uint64_t patience_ms = 5;
constexpr uint64_t nap_ms = 60;

using barrier = gpusync::fault_tolerant_barrier<most_blocks>;

struct nap {
  __device__ void operator()() const {
    const gpusync::cuda_grid grid;
    const uint64_t begin = grid.now();
    while (grid.now() - begin < nap_ms * 1000000) {
    }
  }
};

// With the bound: what a loss needs of registers, up to 255 a thread, is taken from memory instead.
__global__ __launch_bounds__(threads, 4) void relax_with_losses(barrier of_all, plate of, const plan* plans,
                                                                note* notes) {
  lost_blocks::relax_with_losses<gpusync::cuda_grid>(of_all, of, steps, gpusync::timeout(patience_ms * 1000000), plans,
                                                     notes, nap{});
}

__global__ void relax_without(gpusync::grid_barrier of_all, plate of) {
  for (int step = 0; step < steps; ++step) {
    relax(of, step, lost_blocks::share(of, blockIdx.x, gridDim.x), static_cast<int>(threadIdx.x),
          static_cast<int>(blockDim.x));
    of_all.sync();
  }
}

template <class T>
void copy_to(const gpusync::cuda_buffer& buffer, const std::vector<T>& from) {
  gpusync::check_cuda(cudaMemcpy(buffer.address(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
                      "cudaMemcpy");
}
template <class T>
void copy_from(const gpusync::cuda_buffer& buffer, std::vector<T>& to) {
  gpusync::check_cuda(cudaMemcpy(to.data(), buffer.address(), to.size() * sizeof(T), cudaMemcpyDeviceToHost),
                      "cudaMemcpy");
}

/// Milliseconds of what `start` puts on the stream.
template <class Start>
float time_of(Start&& start) {
  cudaEvent_t begin, end;
  gpusync::check_cuda(cudaEventCreate(&begin), "cudaEventCreate");
  gpusync::check_cuda(cudaEventCreate(&end), "cudaEventCreate");
  gpusync::check_cuda(cudaEventRecord(begin), "cudaEventRecord");
  start();
  gpusync::check_cuda(cudaEventRecord(end), "cudaEventRecord");
  gpusync::check_cuda(cudaEventSynchronize(end), "cudaEventSynchronize");
  float milliseconds = 0;
  gpusync::check_cuda(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  return milliseconds;
}

int main() try {
  const gpusync::cuda_device gpu;
  const uint32_t blocks = std::min(most_blocks, static_cast<uint32_t>(gpu.sm_count()));
  if (blocks < 16) {
    std::printf("skipped: this device runs fewer than 16 multiprocessors.\n");
    return 77;
  }
  const std::vector<float> first = lost_blocks::first_plate(width, height);
  const std::vector<float> expected = lost_blocks::relaxed_alone(width, height, steps);
  const size_t bytes = first.size() * sizeof(float);
  const gpusync::cuda_buffer one(gpu, bytes), other(gpu, bytes);
  const gpusync::cuda_buffer plans_there(gpu, blocks * sizeof(plan)), notes_there(gpu, blocks * blocks * sizeof(note));
  const plate of{{static_cast<float*>(one.address()), static_cast<float*>(other.address())}, width, height};
  gpusync::cuda_fault_tolerant_storage<most_blocks> storage(gpu, blocks);
  gpusync::grid_barrier_storage plain_storage(gpu, blocks);

  std::vector<plan> losses(blocks);
  losses[3] = {fate::dies_at_work, 50};
  losses[blocks - 1] = {fate::dies_at_work, 50};
  losses[0] = {fate::dies_after_arrival, 120};
  losses[7] = {fate::dies_at_work, 121};
  losses[11] = {fate::sleeps, 200};
  losses[12] = {fate::dies_after_arrival, 300};

  bool right = true;
  const auto run = [&](const char* what, const auto& start) {
    copy_to(one, first);
    copy_to(other, first);
    const float took = time_of(start);
    std::vector<float> result(first.size());
    copy_from(one, result);  // an even number of steps
    const bool same = result == expected;
    std::printf("%-46s %8.3f ms, %7.3f us a step: %s\n", what, took, took * 1000 / steps,
                same ? "the same as on the host" : "NOT the same as on the host");
    right = right && same;
  };
  const auto run_with = [&](const std::vector<plan>& plans, const char* what) {
    copy_to(plans_there, plans);
    copy_to(notes_there, std::vector<note>(blocks * blocks));
    run(what, [&] {
      gpusync::launch(gpu, nullptr, {blocks, threads}, relax_with_losses, storage.barrier(), of,
                      static_cast<const plan*>(plans_there.address()), static_cast<note*>(notes_there.address()));
    });
    std::vector<note> notes(blocks * blocks);
    copy_from(notes_there, notes);
    right = lost_blocks::say_who_was_lost(plans, notes) && right;
  };

  std::printf("%d steps of %d x %d cells by %u blocks of %s; a block waits %d ms for the others\n", steps, width,
              height, blocks, gpu.name().c_str(), static_cast<int>(patience_ms));
  const auto without = [&] {
    gpusync::launch(gpu, nullptr, {blocks, threads}, relax_without, plain_storage.barrier(), of);
  };
  run("(the first launch)", without);
  run("grid_barrier", without);
  run_with(std::vector<plan>(blocks), "fault_tolerant_barrier, nobody lost");
  run_with(losses, "fault_tolerant_barrier, blocks lost");
  return right ? 0 : 1;
} catch (const gpusync::no_such_device& reason) {
  std::printf("skipped: %s\n", reason.what());
  return 77;
}
