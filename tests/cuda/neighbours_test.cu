// What barriers of neighbours and halos share: streams and graphs, time-outs, what is refused, long runs.
#include <cstdlib>
#include <memory>

#include "cuda/neighbours_fixture.cuh"

namespace gpusync::test {
namespace {

using named = std::vector<missing_block>;

// ---- Streams and graphs ----

TEST_F(CudaNeighbours, TwoStoragesOnTwoStreams) {
  const uint32_t blocks = std::max(1u, sms() / 2), steps = phases(20'000);
  const auto who = neighbourhood::ring(blocks);
  std::vector<std::unique_ptr<other_stream>> streams;
  std::vector<std::unique_ptr<neighbour_barrier_storage>> barriers;
  std::vector<std::unique_ptr<halo_storage<uint32_t>>> halos;
  std::vector<std::unique_ptr<steps_beside_plain_ones<uint32_t>>> chains;
  const cuda_buffer buffers = words(2 * 2 * size_t{blocks} * 64);
  for (uint32_t i = 0; i < 2; ++i) {
    streams.push_back(std::make_unique<other_stream>());
    barriers.push_back(std::make_unique<neighbour_barrier_storage>(device(), who));
    halos.push_back(std::make_unique<halo_storage<uint32_t>>(device(), who, 64));
    chains.push_back(std::make_unique<steps_beside_plain_ones<uint32_t>>(device(), who, 64));
  }
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (uint32_t i = 0; i < 2; ++i) {
    launch(device(), *streams[i], {blocks, 64u}, barrier_steps, barriers[i]->barrier(), chains[i]->table(),
           address(buffers) + i * 2 * blocks * 64, chains[i]->state(), steps, i == 0, false, false,
           chains[i]->faults());
    launch(device(), *streams[i], {blocks, 64u}, halo_steps<uint32_t, uint32_t, halo_form::words>,
           halos[i]->halo<halo_form::words>(), chains[i]->state(), steps, i == 1, way::several,
           static_cast<uint32_t>(halo_form::words), chains[i]->faults());
  }
  for (uint32_t i = 0; i < 2; ++i) chains[i]->expect_equal_after(2 * steps, "stream " + std::to_string(i));
}

TEST_F(CudaNeighbours, AGraphReplayedAHundredTimes) {
  const auto who = neighbourhood::torus({10, 5});
  neighbour_barrier_storage barrier(device(), who, 0xffffff00u);
  halo_storage<uint32_t> exchange(device(), who, 64, {}, 0xffffff00u);
  steps_beside_plain_ones<uint32_t> chains(device(), who, 64);
  const cuda_buffer buffers = words(2 * size_t{who.blocks()} * 64);
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  replay(100, [&](cudaStream_t stream) {
    launch(device(), stream, {who.blocks(), 64u}, barrier_steps, barrier.barrier(), chains.table(), address(buffers),
           chains.state(), 3u, true, false, false, chains.faults());
    launch(device(), stream, {who.blocks(), 64u}, halo_steps<uint32_t, uint32_t, halo_form::automatic>, exchange.halo(),
           chains.state(), 2u, true, way::several, static_cast<uint32_t>(exchange.form_for(64)), chains.faults());
  });
  chains.expect_equal_after(500, "a graph");
}

// ---- Time-outs ----

/// Block `absent` leaves before phase `last`. Its neighbours give up after `span`, the others not of themselves.
__global__ void __launch_bounds__(1024) barrier_misses(neighbour_barrier barrier, seen_table who, uint32_t absent,
                                                       uint32_t last, uint64_t span, uint32_t* told) {
  bool near = false;
  for (uint32_t slot = 0; slot < who.slots; ++slot) near = near || who.at(blockIdx.x, slot) == absent;
  for (uint32_t phase = 0; phase < last + gridDim.x; ++phase) {
    if (phase == last && blockIdx.x == absent) return;
    const timeout mine(near && phase == last ? span : 20'000'000'000);
    if (barrier.sync_for(mine) == wait_status::timed_out) {
      atomicAdd(told, 1u);
      return;
    }
  }
}
template <halo_form Form>
__global__ void __launch_bounds__(1024) halo_misses(halo<uint32_t, Form> exchange, seen_table who, uint32_t absent,
                                                    uint32_t last, uint64_t span, uint32_t* told) {
  bool near = false;
  for (uint32_t slot = 0; slot < who.slots; ++slot) near = near || who.at(blockIdx.x, slot) == absent;
  if (exchange.try_enter() == wait_status::timed_out) {
    atomicAdd(told, 1u);
    return;
  }
  for (uint32_t step = 0; step < last + gridDim.x; ++step) {
    if (step == last && blockIdx.x == absent) return;
    const timeout mine(near && step == last ? span : 20'000'000'000);
    if (threadIdx.x < exchange.words()) exchange.put(threadIdx.x, step);
    exchange.send();
    wait_status status = exchange.receive_for(mine);
    if (status == wait_status::completed) {
      for (uint32_t slot = 0; slot < exchange.slots() && status == wait_status::completed; ++slot) {
        const halo_word from[1] = {threadIdx.x < exchange.words() ? exchange.word(slot, threadIdx.x) : halo_word{}};
        uint32_t got[1];
        status = exchange.get_for(from, got, mine);
      }
      status = exchange.next_for(status);
    }
    if (status == wait_status::timed_out) {
      atomicAdd(told, 1u);
      return;
    }
  }
}

TEST_F(CudaNeighbours, ATimeOutNamesTheNeighbourAndThePhase) {
  for (const uint32_t last : {0u, 1u, 7u}) {
    const auto who = neighbourhood::torus({6, 5});
    const uint32_t threads = last == 1 ? 33 : 64, absent = 13;
    steps_beside_plain_ones<uint32_t> chains(device(), who, 1);
    const auto expect = [&](auto& storage, const cuda_buffer& told, const std::string& what) {
      EXPECT_EQ(contents(told)[0], (who.blocks() - 1) * threads) << what;
      EXPECT_EQ(storage.missing(), (named{{absent, last}})) << what << ": " << storage.report();
      EXPECT_NE(storage.report().find("missing block 13"), std::string::npos) << storage.report();
    };
    neighbour_barrier_storage barrier(device(), who);
    const auto start = [&](uint32_t missing) {
      const cuda_buffer told = words(1);
      launch(device(), nullptr, {who.blocks(), threads}, barrier_misses, barrier.barrier(), chains.table(), missing,
             last, uint64_t{50'000'000}, address(told));
      check_cuda(cudaDeviceSynchronize(), "barrier_misses");
      return contents(told)[0];
    };
    EXPECT_EQ(start(none), 0u);
    EXPECT_EQ(start(absent), (who.blocks() - 1) * threads);
    EXPECT_EQ(barrier.missing(), (named{{absent, last}})) << barrier.report();
    EXPECT_THROW(start(none), broken_barrier);
    barrier.reset();
    EXPECT_EQ(start(none), 0u);
    const auto of_halo = [&](auto form) {
      halo_storage<uint32_t> storage(device(), who, 16);
      const auto go = [&](uint32_t missing, const cuda_buffer& told) {
        launch(device(), nullptr, {who.blocks(), threads}, halo_misses<decltype(form)::value>,
               storage.template halo<decltype(form)::value>(), chains.table(), missing, last, uint64_t{50'000'000},
               address(told));
        check_cuda(cudaDeviceSynchronize(), "halo_misses");
      };
      const cuda_buffer told = words(1), later = words(1);
      go(none, told);
      EXPECT_EQ(contents(told)[0], 0u);
      go(absent, told);
      expect(storage, told, "form " + std::to_string(static_cast<uint32_t>(decltype(form)::value)));
      EXPECT_THROW(go(none, told), broken_barrier);
      storage.reset();
      go(none, later);
      EXPECT_EQ(contents(later)[0], 0u);
    };
    of_halo(std::integral_constant<halo_form, halo_form::words>());
    of_halo(std::integral_constant<halo_form, halo_form::flags>());
  }
}

TEST_F(CudaNeighbours, LaunchesQueuedBehindATimeOutAreTold) {
  const auto who = neighbourhood::ring(20);
  steps_beside_plain_ones<uint32_t> chains(device(), who, 1);
  neighbour_barrier_storage barrier(device(), who);
  halo_storage<uint32_t> exchange(device(), who, 16);
  const cuda_buffer told = words(2);
  for (const uint32_t missing : {3u, none, none}) {
    launch(device(), nullptr, {20u, 64u}, barrier_misses, barrier.barrier(), chains.table(), missing, 2u,
           uint64_t{100'000'000}, address(told));
  }
  for (const uint32_t missing : {3u, none, none}) {
    launch(device(), nullptr, {20u, 64u}, halo_misses<halo_form::words>, exchange.halo<halo_form::words>(),
           chains.table(), missing, 2u, uint64_t{100'000'000}, address(told) + 1);
  }
  const auto counts = contents(told);
  EXPECT_EQ(counts[0], (19u + 20 + 20) * 64);
  EXPECT_EQ(counts[1], (19u + 20 + 20) * 64);
  EXPECT_EQ(barrier.missing(), (named{{3, 2}}));
  EXPECT_EQ(exchange.missing(), (named{{3, 2}}));
}

// ---- What is refused ----

__global__ void two_barriers(neighbour_barrier, neighbour_barrier) {}
__global__ void one_barrier(neighbour_barrier) {}
__global__ void one_halo(halo<uint32_t>) {}

TEST_F(CudaNeighbours, WhatDoesNotFitIsRefused) {
  const auto who = neighbourhood::ring(4);
  auto barrier = std::make_unique<neighbour_barrier_storage>(device(), who);
  halo_storage<uint32_t> exchange(device(), who, 8);
  for (const uint32_t blocks : {1u, 3u, 5u}) {
    EXPECT_THROW(launch(device(), nullptr, {blocks, 32u}, one_barrier, barrier->barrier()), invalid_argument);
    EXPECT_THROW(launch(device(), nullptr, {blocks, 32u}, one_halo, exchange.halo()), invalid_argument);
  }
  EXPECT_THROW(launch(device(), nullptr, {4u, 32u}, two_barriers, barrier->barrier(), barrier->barrier()),
               invalid_argument);
  other_stream first, second;
  launch(device(), first, {4u, 32u}, one_barrier, barrier->barrier());
  EXPECT_THROW(launch(device(), second, {4u, 32u}, one_barrier, barrier->barrier()), storage_in_use);
  check_cuda(cudaStreamSynchronize(first), "cudaStreamSynchronize");
  barrier->hand_over();
  launch(device(), second, {4u, 32u}, one_barrier, barrier->barrier());
  check_cuda(cudaStreamSynchronize(second), "cudaStreamSynchronize");
  const neighbour_barrier left_behind(barrier->barrier().given(), barrier->barrier().who());
  barrier.reset();
  EXPECT_THROW(launch(device(), nullptr, {4u, 32u}, one_barrier, left_behind), invalid_argument);
  const uint32_t most = fitting(one_barrier, 1u << 20, 1024);
  neighbour_barrier_storage large(device(), neighbourhood::ring(most + 1));
  EXPECT_THROW(launch(device(), nullptr, {most + 1, 1024u}, one_barrier, large.barrier()), not_co_resident);
  EXPECT_THROW(halo_storage<double>(device(), who, 0), invalid_argument);
}

// ---- As long as one likes ----

/// Every word says its phase and its place: checked where it is read.
__global__ void __launch_bounds__(1024) barrier_stress(neighbour_barrier barrier, seen_table who, uint32_t* buffers,
                                                       uint32_t first, uint32_t steps, bool late, uint32_t* wrong) {
  const uint32_t all = gridDim.x * blockDim.x, own = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t random = blockIdx.x * 747796405u + 1 + first;
  for (uint32_t step = first; step < first + steps; ++step) {
    uint32_t* const buffer = buffers + barrier.parity() * all;
    if (late && step % 16 == 0) dawdle(random);
    buffer[own] = word_of(step, own);
    barrier.sync();
    for (uint32_t slot = 0; slot < who.slots; ++slot) {
      const uint32_t theirs = who.at(blockIdx.x, slot) * blockDim.x + threadIdx.x;
      if (buffer[theirs] != word_of(step, theirs)) atomicAdd(wrong, 1u);
    }
  }
}
template <halo_form Form>
__global__ void __launch_bounds__(1024) halo_stress(halo<uint32_t, Form> exchange, seen_table who, uint32_t first,
                                                    uint32_t steps, bool late, uint32_t* wrong) {
  uint32_t random = blockIdx.x * 747796405u + 1 + first;
  for (uint32_t step = first; step < first + steps; ++step) {
    if (late && step % 16 == 0) dawdle(random);
    exchange.put(threadIdx.x, word_of(step, blockIdx.x * blockDim.x + threadIdx.x));
    exchange.send();
    exchange.receive();
    const halo_word from[2] = {exchange.word(0, threadIdx.x), exchange.word(1, threadIdx.x)};
    uint32_t got[2];
    exchange.get(from, got);
    for (uint32_t slot = 0; slot < 2; ++slot) {
      if (got[slot] != word_of(step, who.at(blockIdx.x, slot) * blockDim.x + threadIdx.x)) atomicAdd(wrong, 1u);
    }
    exchange.next();
  }
}

/// GPUSYNC_STRESS_PHASES=100000000 makes it as long as that.
TEST_F(CudaNeighbours, StressOfAsManyPhasesAsAreAskedFor) {
  const char* asked = std::getenv("GPUSYNC_STRESS_PHASES");
  const uint64_t all = asked == nullptr ? phases(50'000) : std::strtoull(asked, nullptr, 10);
  const uint32_t blocks = fitting(barrier_stress, sms(), 256), threads = 256;
  const auto who = neighbourhood::ring(blocks);
  steps_beside_plain_ones<uint32_t> chains(device(), who, 1);
  neighbour_barrier_storage barrier(device(), who, 0xfffff000u);
  halo_storage<uint32_t> exchange(device(), who, threads, {}, 0xfffff000u);
  const cuda_buffer buffers = words(2 * size_t{blocks} * threads), wrong = words(3);
  constexpr uint32_t part = 1'000'000;
  for (uint64_t done = 0; done < all; done += part) {
    const auto steps = static_cast<uint32_t>(std::min<uint64_t>(part, all - done));
    const auto first = static_cast<uint32_t>(done);
    const bool late = done / part % 2 == 1;
    launch(device(), nullptr, {blocks, threads}, barrier_stress, barrier.barrier(), chains.table(), address(buffers),
           first, steps, late, address(wrong));
    launch(device(), nullptr, {blocks, threads}, halo_stress<halo_form::words>, exchange.halo<halo_form::words>(),
           chains.table(), first, steps, late, address(wrong) + 1);
    launch(device(), nullptr, {blocks, threads}, halo_stress<halo_form::flags>, exchange.halo<halo_form::flags>(),
           chains.table(), first, steps, late, address(wrong) + 2);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  EXPECT_EQ(contents(wrong), (std::vector<uint32_t>{0, 0, 0})) << all << " phases of barrier, words and flags";
}

}  // namespace
}  // namespace gpusync::test
