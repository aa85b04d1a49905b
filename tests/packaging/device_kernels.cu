// Kernels with all that gpusync/device.cuh has: one text for nvcc, NVRTC and clang, of which none is given more than
// this library's folder. tests/python/nvrtc_test.py and bitcode_test.py compile it, and packaging's tests for GPUs.
#include <gpusync/device.cuh>

using gpusync::uint32_t;
using gpusync::uint64_t;
using namespace gpusync::literals;

extern "C" __global__ void of_an_address(uint64_t address, float* a, int steps) {
  auto barrier = gpusync::barrier_at(address);
  barrier.enter();
  for (int s = 0; s < steps; ++s) {
    a[blockIdx.x] += 1;
    barrier.sync();
  }
  auto token = barrier.arrive();
  if (barrier.wait_for(static_cast<gpusync::grid_barrier::arrival_token&&>(token), 5_ms) ==
      gpusync::wait_status::timed_out) {
    return;
  }
  a[blockIdx.x] =
      static_cast<float>(barrier.sync_count(a[blockIdx.x] > 3)) + (barrier.vote_or(threadIdx.x == 7) ? 1 : 0);
}

extern "C" __global__ void of_a_storage(gpusync::grid_barrier barrier, gpusync::part_grid_barrier part,
                                        gpusync::dropping_grid_barrier dropping) {
  barrier.sync();
  if (blockIdx.x < 4) part.sync();
  dropping.arrive_and_drop();
}

extern "C" __global__ void by_some_warps(gpusync::grid_barrier barrier) {
  if (threadIdx.x < 64) {
    auto some = barrier.on(gpusync::cuda_warps_grid<1>(0, 64));
    some.sync();
  }
}

extern "C" __global__ void in_phases(gpusync::phased_grid grid, gpusync::claiming_phased_grid claiming,
                                     gpusync::phased_state<float> state) {
  grid.run(10, [&](uint32_t block, uint32_t) { state.of(block)[threadIdx.x] += 1; });
  claiming.run(10, [&](uint32_t block, uint32_t) { state.of(block)[threadIdx.x] += 1; });
}

extern "C" __global__ void beside_neighbours(gpusync::neighbour_barrier barrier, gpusync::halo<float> halo,
                                             gpusync::channels<float> channels, gpusync::dependency_counters counters,
                                             float* values) {
  barrier.sync();
  halo.put(threadIdx.x, values[threadIdx.x]);
  halo.send();
  halo.receive();
  values[threadIdx.x] = halo.get(halo.word(0, threadIdx.x));
  halo.next();
  auto in = channels.receiver(0);
  auto out = channels.sender(1);
  out.put(threadIdx.x, in.get(threadIdx.x));
  in.next();
  out.next();
  counters.enter();
  counters.await(blockIdx.x);
  counters.publish(blockIdx.x + 1);
}

extern "C" __global__ void in_step(gpusync::grid_window window, float* values) {
  using form = gpusync::pace::lead<2>;
  __shared__ gpusync::pace_memory<form> memory;
  gpusync::block_pace<form> pace(memory);
  for (int i = 0; i < 10; ++i) {
    values[threadIdx.x] += 1;
    pace.visit();
    window.end_epoch();
  }
}

using counter = gpusync::shared_rmw_object<uint32_t, 8>;

extern "C" __global__ void wait_free(gpusync::rmw_object<float, 132> total, float* out) {
  __shared__ gpusync::shared_rmw_storage<counter> memory;
  auto mine = memory.start(0).join(threadIdx.x / 32);
  auto me = total.join(blockIdx.x);
  out[threadIdx.x] = me.add(static_cast<float>(mine.add(1)));
}

extern "C" __global__ void surviving(gpusync::fault_tolerant_barrier<132> barrier, uint32_t* who) {
  if (barrier.arrive_and_wait(5_ms) == gpusync::phase_outcome::removed) return;
  who[blockIdx.x] = barrier.members().count;
}
