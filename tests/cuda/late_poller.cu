// The child process of late_poller_test.cpp on the first CUDA device: `cuda_late_poller 2010|repaired`, a block on
// every multiprocessor. See tests/grid/late_poller.cpp.
#include <cstdio>
#include <cstring>

#include <gpusync/gpusync.cuh>

#include "grid/late_poller.hpp"

namespace {

template <class Barrier>
__global__ void look_late(Barrier barrier) {
  gpusync::test::look_late(gpusync::cuda_grid::current(), barrier, 1'000'000);
}

template <class Algorithm>
void pass() {
  const gpusync::cuda_device device(0);
  const auto blocks = static_cast<uint32_t>(device.sm_count());
  gpusync::cuda_barrier_storage<Algorithm> storage(device, blocks);
  std::puts("ready");
  std::fflush(stdout);
  gpusync::launch(device, nullptr, {blocks, 256}, look_late<gpusync::basic_grid_barrier<Algorithm, gpusync::cuda_grid>>,
                  storage.barrier());
  gpusync::check_cuda(cudaDeviceSynchronize(), "look_late");
  std::puts("passed");
}

}  // namespace

int main(int count, char** words) {
  using namespace gpusync;
  if (count != 2) return 2;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("There is no CUDA device.");
    return 3;
  }
  if (std::strcmp(words[1], "2010") == 0) {
    pass<rivals::literal_lock_based<ordering::fence>>();
  } else if (std::strcmp(words[1], "repaired") == 0) {
    pass<grid::lock_based<ordering::fence>>();
  }
  return 0;
}
