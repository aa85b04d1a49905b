// Every public header, and every device function that a kernel may call, once: what CTest's tests gpu.sm_XX compile to
// machine code, for each GPU architecture that the library is for. A template that nobody instantiates is not compiled,
// and an instruction that a GPU lacks is found by the assembler and not before. No kernel of these is run.
#include <every_header.hpp>  // made by the test: one #include for each

#include "support/literal_2010.hpp"
#include "workloads/rivals/atomic_word.cuh"

namespace gpusync {
namespace {

/// All ways to wait of a barrier.
template <class Barrier, bool Bounded = Barrier::algorithm::bounded>
__device__ void wait_every_way(Barrier& barrier, timeout span) {
  using token_type = typename Barrier::arrival_token;
  barrier.enter();
  barrier.sync();
  auto token = barrier.arrive();
  barrier.wait(static_cast<token_type&&>(token));
  if constexpr (Bounded) {
    if (barrier.try_enter() == wait_status::timed_out) return;
    if (barrier.sync_for(span) == wait_status::timed_out) return;
    auto second = barrier.arrive();
    if (barrier.wait_for(static_cast<token_type&&>(second), span) == wait_status::timed_out) return;
  }
}

template <class Algorithm>
__global__ void whole(basic_grid_barrier<Algorithm, cuda_grid> barrier, timeout span) {
  if constexpr (Algorithm::bounded) {
    (void)barrier.sync_for(span);
  } else {
    barrier.sync();
  }
}
template <class Algorithm>
__global__ void every_way(basic_grid_barrier<Algorithm, cuda_grid> barrier, timeout span) {
  wait_every_way(barrier, span);
}

/// All votes and sums, of barriers that have them.
template <class Algorithm>
__global__ void votes_every_way(basic_grid_barrier<Algorithm, cuda_grid> barrier, timeout span, uint32_t* out) {
  if (barrier.enter_votes_for(span) == wait_status::timed_out) return;
  barrier.enter_votes();
  uint32_t sum = barrier.sync_or(out[0] != 0) + barrier.sync_count(out[1] != 0) + barrier.sync_add(out[2]);
  sum += barrier.vote_or(out[0] != 0) + barrier.vote_count(out[1] != 0) + barrier.vote_add(out[2]);
  sum += barrier.sync_or_for(sum != 0, span).answer + barrier.sync_count_for(sum != 0, span).answer;
  sum += barrier.sync_add_for(sum, span).answer + barrier.vote_or_for(sum != 0, span).answer;
  sum += barrier.vote_count_for(sum != 0, span).answer + barrier.vote_add_for(sum, span).answer;
  const auto end = [&](auto token) {
    barrier.ask(token);
    sum += barrier.wait(static_cast<decltype(token)&&>(token));
  };
  const auto end_for = [&](auto token) { sum += barrier.wait_for(static_cast<decltype(token)&&>(token), span).answer; };
  end(barrier.arrive_or(sum != 0));
  end(barrier.arrive_count(sum != 0));
  end(barrier.arrive_add(sum));
  end_for(barrier.cast_or(sum != 0));
  end_for(barrier.cast_count(sum != 0));
  end_for(barrier.cast_add(sum));
  out[3] = sum;
}
/// The barriers of several GPUs, whose text differs in what leading blocks do.
template <class Algorithm>
__global__ void across(basic_grid_barrier<Algorithm, cuda_grid, multi_gpu::across_gpus> barrier, timeout span) {
  wait_every_way(barrier, span);
}
__global__ void across_nvshmem(nvshmem_gpu_part::barrier_type barrier, timeout span) {
  wait_every_way(barrier, span);
}
template <class... Algorithms>
void instantiate_across(grid::algorithm_list<Algorithms...>) {
  ((void)&across<Algorithms>, ...);
}

/// Words of neighbours.
template <class T, halo_form Form>
__global__ void exchanged(halo<T, Form> words, T* values, timeout span) {
  if (words.try_enter() == wait_status::timed_out) return;
  const halo_word from[2] = {words.word(0, 0), words.word(1, 0)};
  T found[2], pairs[2][2];
  words.put_pair(0, values[0], values[1]);
  words.send();
  words.receive();
  words.get(from, found);
  words.get_pairs(from, pairs);
  values[0] = found[0] + pairs[1][1] + words.get(from[0]);
  words.next();
  words.put(0, values[0]);
  words.send();
  if (words.receive_for(span) == wait_status::timed_out) return;
  (void)words.next_for(words.get_for(from, found, span));
}
__global__ void with_neighbours(neighbour_barrier barrier, timeout span) {
  wait_every_way(barrier, span);
}

/// Ordered streams, by whole blocks and by warps.
template <class T>
__global__ void streamed(channels<T> all, T* values, timeout span) {
  auto in = all.receiver(blockIdx.x);
  auto out = all.sender(blockIdx.x, cuda_warps_grid<>());
  auto half = all.sender(blockIdx.x, cuda_warps_grid<1>(32, 64));
  if (in.get_for(0, values[0], span) == wait_status::timed_out) return;
  values[1] = in.get(1);
  in.next();
  out.put(0, values[0]);
  out.next();
  if (half.put_for(1, values[1], span) == wait_status::timed_out) return;
  half.next();
}

/// What keeps warps or blocks in step.
template <class Policy>
__global__ void windowed(basic_cuda_window<Policy> window) {
  window.end_epoch();
  window.leave();
}
template <class Form>
__global__ void paced() {
  __shared__ pace_memory<Form> memory;
  block_pace<Form> pace(memory);
  pace.visit();
}
template <class... Forms>
void instantiate_paces() {
  ((void)&paced<Forms>, ...);
}

/// Several warps act for their block.
template <class Algorithm>
__global__ void of_warps(basic_grid_barrier<Algorithm, cuda_grid> barrier, timeout span) {
  auto view = barrier.on(cuda_warps_grid<4>(64, 64));
  wait_every_way(view, span);
}

template <class Algorithm>
__global__ void proxy(basic_grid_barrier<Algorithm, cuda_grid> barrier, proxy_clients workers, timeout span) {
  proxy_barrier<basic_grid_barrier<Algorithm, cuda_grid>> all(barrier, workers);
  switch (threadIdx.x / 32) {
    case 0:
      all.serve();
      (void)all.serve_for(span);
      break;
    case 1:
      all.arrive();
      all.wait();
      (void)all.wait_bounded();
      break;
    default: all.arrive_only(); (void)all.arrive_only_bounded();
  }
}

template <class Schedule>
__global__ void phases(basic_phased_grid<Schedule, grid::placed_counters<ordering::acquire_release>, cuda_grid> grid,
                       phased_state<float> state, timeout span) {
  const auto body = [&](uint32_t block, uint32_t) { state.of(block)[threadIdx.x] += 1; };
  grid.run(3, body);
  (void)grid.run_for(span, 3, body);
}
template <class Schedule>
__global__ void phases_by_hand(
    basic_phased_grid<Schedule, grid::placed_counters<ordering::acquire_release>, cuda_grid> grid,
    phased_state<float> state, timeout span) {
  const auto body = [&](uint32_t block) { state.of(block)[threadIdx.x] += 1; };
  grid.for_each_block(body);
  grid.end_phase();
  (void)grid.for_each_block_for(span, body);
  (void)grid.end_phase_for(span);
}

/// Each algorithm in one kernel, as blocks that wait at once call it; every_combination.cu has the rest.
template <class... Algorithms>
void instantiate_algorithms(grid::algorithm_list<Algorithms...>) {
  ((void)&whole<Algorithms>, ...);
}
template <class... Schedules>
void instantiate_schedules() {
  ((void)&phases<Schedules>, ...);
  ((void)&phases_by_hand<Schedules>, ...);
}

/// A state that no atomic operation has.
struct triple {
  uint32_t word[3];
};
struct turn {
  __host__ __device__ triple operator()(triple state) const {
    return {{state.word[1], state.word[2], state.word[0] + 1}};
  }
};

template <class Object>
__global__ void every_operation(Object object) {
  auto own = object.join(blockIdx.x);
  (void)own.add(1);
  (void)own.minimum(own.subtract(2));
  (void)own.maximum(own.exchange(3));
  (void)own.compare_exchange(4, 5);
}
/// The operation as a value, for the hardware's own operations and for loops in their place.
template <class Object>
__global__ void counts(Object object) {
  auto own = object.join(blockIdx.x);
  (void)own.increment(own.decrement(6));
}
template <class Object>
__global__ void turns(Object object) {
  (void)object.join(blockIdx.x).apply(turn{});
}
template <class Object>
__global__ void turns_in_shared_memory(triple* last, rmw::evidence_permit<typename Object::consensus> permit) {
  __shared__ shared_rmw_storage<Object> memory;
  *last = memory.start(triple{}, permit).join(threadIdx.x / 32).apply(turn{});
}

template <uint32_t N, class Consensus>
void instantiate_policy() {
  (void)&every_operation<rmw_object<double, N, Consensus>>;
}
template <class Consensus>
void instantiate_large() {
  (void)&turns<rmw_object<triple, 5, Consensus, turn>>;
}
template <class Consensus>
void instantiate_shared() {
  (void)&turns_in_shared_memory<shared_rmw_object<triple, 8, Consensus, turn>>;
}
template <class Word, class... Consensus>
void instantiate_words() {
  using thread = rmw::cuda_thread<rmw::space::global>;
  ((void)&every_operation<rmw_object<Word, 5, Consensus, rmw::named_operation<Word>, thread>>, ...);
}

template <uint32_t N>
__global__ void survive(fault_tolerant_barrier<N> barrier, uint32_t* lost, timeout patience) {
  if (threadIdx.x >= 32) return;
  barrier.arrive();
  (void)barrier.wait(patience);
  while (barrier.arrive_and_wait(patience) == phase_outcome::members_lost) {
    if (!barrier.is_member(blockIdx.x) || !barrier.was_member(0)) *lost = barrier.members().count;
  }
}

/// A kernel's own sum: each walk, through the L1 cache and past it.
template <class T>
__global__ void sums(reduction::input<T> in, uint32_t* claimed, T* out) {
  constexpr unsigned threads = 64, vectors = 3;
  T sum = reduction::sum_of_tiles<T, threads, vectors, reduction_walk::one_tile, false>(in, claimed, 0, 1);
  sum += reduction::sum_of_tiles<T, threads, vectors, reduction_walk::dealt, true>(in, claimed, 0, 1);
  sum += reduction::sum_of_tiles<T, threads, vectors, reduction_walk::claimed, false>(in, claimed, 0, 1);
  sum = reduction::sum_of_block<threads>(sum);
  if (threadIdx.x < 32) *out = reduction::sum_of_warp<8>(sum);
}

template <class T>
void instantiate_reductions() {
  (void)&reduce<T>;  // has all kernels of detail::reduction_kernels
  (void)&sums<T>;
}

}  // namespace

// What the library draws the line of compute capability 8.0 in; neither function is called by anybody.
void every_object() {
  using rmw::litmus::nvidia_h200;
  using rmw::litmus::nvidia_h200_apart;
  instantiate_policy<5, rmw::cas<>>();
  instantiate_policy<5, rmw::cas128<>>();
  instantiate_policy<5, rmw::cas128<rmw::publication::ordered, 16>>();
  instantiate_policy<3, rmw::coalesced_store<nvidia_h200, rmw::space::global, uint32_t>>();
  instantiate_large<rmw::cas<rmw::publication::ordered, 16>>();
  instantiate_large<rmw::coalesced_store<nvidia_h200_apart>>();
  instantiate_shared<rmw::cas<>>();
  instantiate_shared<rmw::coalesced_store<nvidia_h200, rmw::space::shared>>();
  instantiate_shared<rmw::coalesced_store<nvidia_h200, rmw::space::shared, uint32_t>>();
  instantiate_words<uint32_t, rivals::hardware, rivals::cas_loop>();
  instantiate_words<double, rivals::hardware, rivals::cas_loop>();
  (void)&counts<rmw_object<uint32_t, 5>>;
  (void)&counts<
      rmw_object<uint32_t, 5, rivals::hardware, rmw::named_operation<uint32_t>, rmw::cuda_thread<rmw::space::global>>>;
  (void)&survive<132>;
}

#if !defined(GPUSYNC_ONLY_OBJECTS)
void every_instantiation() {
  using placed = grid::placed_counters<ordering::acquire_release>;
  instantiate_algorithms(grid::cuda_algorithms{});
  instantiate_algorithms(rivals::literal_algorithms{});
  instantiate_across(multi_gpu::algorithms());
  (void)&exchanged<float, halo_form::words>;
  (void)&exchanged<double, halo_form::automatic>;
  (void)&exchanged<uint32_t, halo_form::flags>;
  (void)&across_nvshmem, (void)&with_neighbours;
  (void)&streamed<float>;
  (void)&streamed<uint64_t>;
  (void)&windowed<pace::best_effort>;
  (void)&windowed<pace::strict>;
  instantiate_paces<pace::off, pace::compiler_fence, pace::block, pace::warps<3>, pace::warps<8, 4>, pace::lead<1>,
                    pace::lead<7>>();
  (void)&every_way<placed>;
  (void)&votes_every_way<placed>;
  (void)&votes_every_way<grid::lock_based<ordering::fence>>;
  (void)&every_way<grid::cluster_first>;
  (void)&every_way<grid::cooperative_groups>;
  (void)&of_warps<placed>;
  (void)&proxy<placed>;
  instantiate_schedules<phased::striding, phased::claiming, phased::flag_claiming>();
  instantiate_reductions<float>();
  instantiate_reductions<double>();
}
#endif

}  // namespace gpusync
