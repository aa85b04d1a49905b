// Every grid barrier of the registry with every kind of members, seen by a whole block, by some of its warps and by one
// warp, with a deadline and without, as far as the library allows it: what CTest's tests gpu.combinations.* compile to
// machine code, for each GPU architecture that the library is for. One kernel each, of one arrival and its waits: there
// are many, and every_instantiation.cu has the other ways to call a barrier. No kernel of these is run.
#include <gpusync/gpusync.cuh>
#include <gpusync/grid/registry.hpp>

#include "support/literal_2010.hpp"

namespace gpusync {
namespace {

/// Whether blocks may leave an algorithm's barriers early: what basic_grid_barrier::arrive_and_drop() asks for.
template <class Algorithm>
constexpr bool can_be_left() {
  if (Algorithm::whole_grid_only || !Algorithm::safe) return false;
  return Algorithm::order != ordering::none;
}

template <class Barrier>
__device__ __forceinline__ void pass_or_leave(Barrier& barrier, bool bounded, bool leaves, timeout span) {
  if constexpr (Barrier::members::may_drop) {
    if (leaves && !bounded) return barrier.arrive_and_drop();
    if constexpr (Barrier::algorithm::bounded) {
      if (leaves) return (void)barrier.arrive_and_drop_for(span);
    }
  }
  auto token = barrier.arrive();
  if constexpr (Barrier::algorithm::bounded) {
    if (bounded) return (void)barrier.wait_for(static_cast<decltype(token)&&>(token), span);
  }
  barrier.wait(static_cast<decltype(token)&&>(token));
}

template <class Algorithm, class Members, class View>
__global__ void combination(basic_grid_barrier<Algorithm, cuda_grid, Members> barrier, bool bounded, bool leaves,
                            timeout span) {
  if constexpr (View::whole_block) {
    pass_or_leave(barrier, bounded, leaves, span);
  } else {
    auto view = barrier.on(View(64, View::one_warp ? 32 : 64));
    pass_or_leave(view, bounded, leaves, span);
  }
}

template <class Algorithm, class Members>
void instantiate_members() {
  (void)&combination<Algorithm, Members, cuda_grid>;
  if constexpr (!Algorithm::whole_grid_only) {
    (void)&combination<Algorithm, Members, cuda_warps_grid<>>;
    (void)&combination<Algorithm, Members, cuda_warps_grid<4>>;
  }
}
template <class Algorithm>
void instantiate_algorithm() {
  instantiate_members<Algorithm, whole_grid>();
  if constexpr (!Algorithm::whole_grid_only) {
    instantiate_members<Algorithm, block_range>();
  }
  if constexpr (can_be_left<Algorithm>()) instantiate_members<Algorithm, dropping_blocks>();
}
template <class... Algorithms>
void instantiate_all(grid::algorithm_list<Algorithms...>) {
  (instantiate_algorithm<Algorithms>(), ...);
}

}  // namespace

/// Called by nobody.
void every_combination() {
  instantiate_all(grid::cuda_algorithms{});
  instantiate_all(rivals::literal_algorithms{});
}

}  // namespace gpusync
