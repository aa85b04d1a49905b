// A grid too large to run at once would wait at its barrier for ever: the launch is refused, with the limit.
#include <gpusync/gpusync.cuh>

#include <cstdio>

__global__ void wait_for_all(gpusync::grid_barrier barrier) {
  barrier.sync();
}

int main() try {
  const gpusync::cuda_device gpu;
  const gpusync::launch_shape one_block{1, 256};
  const auto most = static_cast<uint32_t>(gpusync::max_co_resident(gpu, wait_for_all, one_block).blocks());
  gpusync::grid_barrier_storage storage(gpu, most + 1);

  gpusync::launch(gpu, nullptr, {most, 256}, wait_for_all, storage.barrier());
  gpusync::check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  try {
    gpusync::launch(gpu, nullptr, {most + 1, 256}, wait_for_all, storage.barrier());
  } catch (const gpusync::not_co_resident& refusal) {
    std::printf("%s\n", refusal.what());
    return refusal.limit() == most ? 0 : 1;
  }
  std::printf("%u blocks were not refused.\n", most + 1);
  return 1;
} catch (const gpusync::no_such_device& reason) {
  std::printf("skipped: %s\n", reason.what());
  return 77;
}
