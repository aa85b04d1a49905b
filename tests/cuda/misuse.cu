// Breaks the contract of a barrier in one way, and prints what the library says of the failed launch: `cuda_misuse
// WAY`. A process of its own, for the CUDA context is lost with the launch.
#include "cuda/addressed_kernels.cuh"

#include <gpusync/gpusync.cuh>
#include <gpusync/grid/addressed_barrier.cuh>
#include <gpusync/launch/cuda_function.cuh>
#include <gpusync/neighbours/channel_cuda.cuh>
#include <gpusync/neighbours/cuda.cuh>
#include <gpusync/reduce/reduce.cuh>

#include <cstdio>
#include <functional>
#include <map>
#include <string>

namespace {

using namespace gpusync;

__global__ void calls_a_part(part_grid_barrier part) {
  part.sync();  // also blocks that it does not join
}
__global__ void arrives_twice(grid_barrier barrier) {
  auto first = barrier.arrive();
  auto second = barrier.arrive();
  barrier.wait(static_cast<decltype(first)&&>(first));
  barrier.wait(static_cast<decltype(second)&&>(second));
}
__global__ void drops_a_token(grid_barrier barrier) {
  (void)barrier.arrive();
  barrier.sync();
}
__global__ void waits_twice(grid_barrier barrier) {
  auto token = barrier.arrive();
  barrier.wait(static_cast<decltype(token)&&>(token));
  barrier.wait(static_cast<decltype(token)&&>(token));
}
__global__ void waits_for_what_was_moved(grid_barrier barrier) {
  auto token = barrier.arrive();
  auto other = static_cast<decltype(token)&&>(token);
  barrier.wait(static_cast<decltype(token)&&>(token));
  barrier.wait(static_cast<decltype(other)&&>(other));
}
__global__ void uses_what_was_lent(grid_barrier barrier) {
  auto view = barrier.on(cuda_warps_grid<>());
  barrier.sync();
  view.sync();
}
__global__ void lends_what_was_used(grid_barrier barrier) {
  barrier.sync();
  auto view = barrier.on(cuda_warps_grid<>());
  view.sync();
}
__global__ void makes_a_bad_view(grid_barrier barrier) {
  auto view = barrier.on(cuda_warps_grid<3>(0, 48));
  view.sync();
}
__global__ void comes_back(dropping_grid_barrier barrier) {
  barrier.arrive_and_drop();
  barrier.sync();
}
__global__ void misses(grid_barrier barrier, uint64_t span) {
  if (cuda_grid().block() == 0) return;
  (void)barrier.sync_for(timeout(span));
}
__global__ void waits_for_ever(grid_barrier barrier) {
  barrier.sync();
}
__global__ void needs_no_storage() {}
__global__ void runs_phases(cuda_phased_storage<phased::striding>::grid_type grid) {
  grid.run(2, [](uint32_t, uint32_t) {});
}
__global__ void enters(grid_barrier barrier) {
  barrier.enter();
}
/// Block 1 comes in time for the phase that block 0 gives up, or not; either way the others wait for block 0 in the
/// end.
__global__ void outlives_a_time_out(grid_barrier barrier) {
  const cuda_grid grid;
  barrier.sync();
  if (grid.block() == 1) grid.delay(200'000);
  if (grid.block() == 0) {
    if (barrier.sync_for(timeout(1000)) == wait_status::timed_out) return;
  } else {
    barrier.sync();
  }
  barrier.sync();
}

__global__ void puts_twice_in_a_step(halo<float> exchange) {
  exchange.send();
  exchange.put(0, 1.0f);
}
__global__ void puts_beyond(halo<float> exchange) {
  if (cuda_grid().block() == 2) exchange.put(6'000'000, 1.0f);
}
/// Block 1 is late, and block 0 does not look at it.
__global__ void overtakes(halo<float, halo_form::words> exchange) {
  const cuda_grid grid;
  for (int step = 0; step < 4; ++step) {
    exchange.put(grid.thread(), 1.0f);
    exchange.send();
    exchange.receive();
    if (grid.block() == 1) {
      if (step == 0) grid.delay(2'000'000);
      (void)exchange.get(exchange.word(0, grid.thread()));
    }
    exchange.next();
  }
}
__global__ void waits_for_lost_neighbours(neighbour_barrier barrier) {
  const cuda_grid grid;
  if (grid.block() == 0) return;
  if (grid.block() == 1) {
    (void)barrier.sync_for(timeout(10'000'000));
  } else {
    barrier.sync();
    barrier.sync();
  }
}

__global__ void takes_the_other_end(channels<float> all) {
  if (blockIdx.x == 1) (void)all.sender(0);
}
__global__ void puts_beyond_the_chunk(channels<float> all) {
  if (blockIdx.x == 0) all.sender(0).put(threadIdx.x, 1.0f);
}

/// Sums on one storage, captured from one stream and replayed on two at once: what no check on the host sees.
void replays_sums_at_once(const cuda_device& gpu, reduction_storage& storage) {
  const size_t count = 8'000'000;
  const cuda_buffer in(gpu, count * sizeof(float)), out(gpu, sizeof(float));
  cudaStream_t streams[2];
  cudaGraphExec_t replays[2];
  for (cudaStream_t& stream : streams) {
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  for (cudaGraphExec_t& replay : replays) {
    cudaGraph_t graph;
    check_cuda(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    for (int i = 0; i < 500; ++i) {
      reduce(storage, streams[0], static_cast<const float*>(in.address()), count, static_cast<float*>(out.address()));
    }
    check_cuda(cudaStreamEndCapture(streams[0], &graph), "cudaStreamEndCapture");
    check_cuda(cudaGraphInstantiate(&replay, graph, 0), "cudaGraphInstantiate");
  }
  for (int i = 0; i < 2; ++i) check_cuda(cudaGraphLaunch(replays[i], streams[i]), "cudaGraphLaunch");
  for (cudaStream_t stream : streams) synchronize(gpu, stream);
}

}  // namespace

int main(int argc, char** argv) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::puts("no CUDA device");
    return 77;
  }
  const cuda_device gpu{0};
  grid_barrier_storage storage{gpu, 4};
  reduction_storage sums{gpu};
  neighbour_barrier_storage neighbours{gpu, neighbourhood::line(4)};
  halo_storage<float> words{gpu, neighbourhood::line(4), 64};
  channel_storage<float> streams{gpu, {{0, 1}}, 63, 2};
  addressed_barrier_storage addressed{gpu, 4};
  constexpr launch_shape shape{4, 64};
  const auto run = [&](auto kernel, auto... arguments) {
    launch(gpu, nullptr, shape, kernel, storage.barrier(), arguments...);
  };
  const auto breaks_a_rule = [&] {
    run(waits_twice);
    if (cudaDeviceSynchronize() == cudaSuccess) std::puts("the rule may be broken");
  };
  const std::map<std::string, std::function<void()>> ways{
      {"outsider",
       [&] {
         launch(gpu, nullptr, shape, calls_a_part, storage.barrier(block_range{0, 3}));
       }},
      {"arrives_twice", [&] { run(arrives_twice); }},
      {"drops_a_token", [&] { run(drops_a_token); }},
      {"waits_twice", [&] { run(waits_twice); }},
      {"moved_from", [&] { run(waits_for_what_was_moved); }},
      {"lent", [&] { run(uses_what_was_lent); }},
      {"used_before", [&] { run(lends_what_was_used); }},
      {"bad_view", [&] { run(makes_a_bad_view); }},
      {"comes_back", [&] { launch(gpu, nullptr, shape, comes_back, storage.dropping_barrier()); }},
      {"too_large",
       [&] {  // past every check of the library
         waits_for_ever<<<8, 64>>>(storage.barrier());
       }},
      {"queued",
       [&] {
         run(misses, uint64_t{50'000'000});
         run(waits_for_ever);
       }},
      {"entered",
       [&] {
         run(misses, uint64_t{50'000'000});
         run(enters);
       }},
      {"outlives", [&] { run(outlives_a_time_out); }},
      {"out_of_turn", [&] { launch(gpu, nullptr, shape, puts_twice_in_a_step, words.halo()); }},
      {"puts_beyond", [&] { launch(gpu, nullptr, shape, puts_beyond, words.halo()); }},
      {"overtaken", [&] { launch(gpu, nullptr, shape, overtakes, words.halo<halo_form::words>()); }},
      {"lost_neighbours", [&] { launch(gpu, nullptr, shape, waits_for_lost_neighbours, neighbours.barrier()); }},
      {"wrong_end", [&] { launch(gpu, nullptr, shape, takes_the_other_end, streams.channels()); }},
      {"beyond_chunk", [&] { launch(gpu, nullptr, shape, puts_beyond_the_chunk, streams.channels()); }},
      // By an address, past every check of the library.
      {"no_barrier_there",
       [&] {
         const cuda_buffer zeros(gpu, 4096);
         waits_at<<<4, 64>>>(reinterpret_cast<uint64_t>(zeros.address()));
         synchronize(gpu);
       }},
      {"no_barrier_for_functions",
       [&] {
         const cuda_buffer zeros(gpu, 4096);
         waits_by_functions<<<4, 64>>>(reinterpret_cast<uint64_t>(zeros.address()));
         synchronize(gpu);
       }},
      {"no_barrier_any_more",
       [&] {
         const cuda_buffer memory(gpu, addressed_barrier_storage::bytes(4));
         const uint64_t address = addressed_barrier_storage(gpu, 4, memory.address(), memory.bytes()).address();
         waits_at<<<4, 64>>>(address);
         synchronize(gpu);
       }},
      {"too_large_for_address", [&] { waits_at<<<8, 64>>>(addressed.address()); }},
      {"too_large_for_functions", [&] { waits_by_functions<<<8, 64>>>(addressed.address()); }},
      {"functions_after_a_loss", [&] { goes_on_after_a_loss<<<4, 64>>>(addressed.address(), 0); }},
      {"votes_after_a_loss", [&] { goes_on_after_a_loss<<<4, 64>>>(addressed.address(), 1); }},
      {"two_reductions", [&] { replays_sums_at_once(gpu, sums); }},
      // What is called behind the failure, without a look at it.
      {"launch_behind",
       [&] {
         breaks_a_rule();
         run(waits_twice);
       }},
      {"kernel_alone_behind",
       [&] {
         breaks_a_rule();
         launch(gpu, nullptr, shape, needs_no_storage);
       }},
      {"checked_behind",
       [&] {
         breaks_a_rule();
         check_launch(gpu, nullptr, shape, waits_for_ever, storage.barrier());
       }},
      {"by_address_behind",
       [&] {
         breaks_a_rule();
         launch_by_address(gpu, nullptr, shape, reinterpret_cast<const void*>(&waits_for_ever), {}, storage.barrier());
       }},
      {"function_behind",
       [&] {
         cudaFunction_t function;
         check_cuda(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&waits_at)), "cudaGetFuncBySymbol");
         breaks_a_rule();
         uint64_t address = addressed.address();
         launch_function(gpu, nullptr, shape, function, {&address}, addressed);
       }},
      {"phased_behind",
       [&] {
         cuda_phased_storage<phased::striding> grids(gpu, 10);
         breaks_a_rule();
         launch_phased(gpu, nullptr, phased_shape{10, 64}, runs_phases, grids);
       }},
      {"sum_behind",
       [&] {
         const cuda_buffer in(gpu, 4'000'000), out(gpu, sizeof(float));
         breaks_a_rule();
         reduce(sums, nullptr, static_cast<const float*>(in.address()), 1'000'000, static_cast<float*>(out.address()));
       }},
  };
  const auto way = ways.find(argc > 1 ? argv[1] : "");
  if (way == ways.end()) {
    std::puts("unknown way");
    return 2;
  }
  std::puts("ready");
  std::fflush(stdout);
  try {
    way->second();
    synchronize(gpu);
  } catch (const error& failure) {
    std::printf("failed: %s\nstorage: %s\n", failure.what(),
                (storage.report() + sums.report() + neighbours.report() + words.report() + streams.report() +
                 addressed.report())
                    .c_str());
    std::fflush(stdout);
    _Exit(3);  // no context is left to give the storage's memory back to
  }
  std::puts("nothing failed");
  return 0;
}
