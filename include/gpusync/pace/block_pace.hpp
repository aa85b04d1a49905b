// Artificial barriers (Lo, Lee, Kao, Chung and Chung, 2014): warps of a block that are kept in step although nothing
// depends on it, so that what one of them has fetched is still in the cache when the next one wants it.
//
//   __shared__ gpusync::pace_memory<gpusync::pace::block> memory;        // of no size here
//   gpusync::block_pace<gpusync::pace::block> pace(memory);
//   for (int i = 0; i < n; i += 16) {
//     for (int k = 0; k < 16; ++k) sum += a[...];                        // no counter in the body: it would not unroll
//     pace.visit();
//   }
//
// Whether it pays is a question for measurement: it often does not (docs/pace.md).
#pragma once

#include <gpusync/core/handle.hpp>
#include <gpusync/pace/forms.hpp>
#include <gpusync/pace/window.hpp>

namespace gpusync {

/// What the threads of a block share for a form, in shared memory: nothing, for most. Grid: cuda_grid or host_grid.
template <class Form, class Grid>
struct basic_pace_memory {};

/// Keeps the threads of a block in step. Made by all of them together, of one memory that they share; taken by
/// reference by what the kernel calls.
///
/// Contract of every form: all threads of the block make equally many visits, those of a warp together. It orders no
/// access to memory of other threads, whatever it is made of: use a barrier for that. Where trip counts differ: any(),
/// or leave() for pace::lead. A thread must not return from a kernel in which others still visit, except on CUDA from
/// pace::block and pace::warps, whose barriers count who has exited as arrived, whole warps only.
/// Cost: that of the barrier, or none for pace::off and pace::compiler_fence. Source: Lo et al., figure 1; algorithms
/// 1 to 4.
template <class Form, class Grid>
class basic_block_pace;

/// Leaves nothing behind.
template <class Grid>
class basic_block_pace<pace::off, Grid> : public detail::passed_by_reference<basic_block_pace<pace::off, Grid>> {
 public:
  using form = pace::off;
  GPUSYNC_API explicit basic_block_pace(basic_pace_memory<pace::off, Grid>&) {}
  /// Nothing.
  GPUSYNC_API void visit() {}
  /// Whether the calling thread goes on.
  GPUSYNC_API bool any(bool mine) { return mine; }
  /// Nothing.
  GPUSYNC_API void leave() {}
};

/// Holds the compiler.
template <class Grid>
class basic_block_pace<pace::compiler_fence, Grid>
    : public detail::passed_by_reference<basic_block_pace<pace::compiler_fence, Grid>> {
 public:
  using form = pace::compiler_fence;
  GPUSYNC_API explicit basic_block_pace(basic_pace_memory<pace::compiler_fence, Grid>&) {}
  /// No access to memory is moved across it.
  GPUSYNC_API void visit() { asm volatile("" ::: "memory"); }
  /// The same; whether the calling thread goes on.
  GPUSYNC_API bool any(bool mine) {
    visit();
    return mine;
  }
  /// Nothing.
  GPUSYNC_API void leave() {}
};

/// All threads of the block meet.
template <class Grid>
class basic_block_pace<pace::block, Grid> : public detail::passed_by_reference<basic_block_pace<pace::block, Grid>> {
 public:
  using form = pace::block;
  GPUSYNC_API explicit basic_block_pace(basic_pace_memory<pace::block, Grid>&) {}
  /// Waits for all threads of the block.
  GPUSYNC_API void visit() { Grid::current().sync_block(); }
  /// The same; whether `mine` is true in any of them. For loops whose trip counts differ:
  ///   bool mine = …; while (pace.any(mine)) { if (mine) { …; mine = …; } }
  GPUSYNC_API bool any(bool mine) { return Grid::current().sync_block_or(mine); }
};

namespace detail {

/// The warps of the calling thread's block, each a member: what Grid::warps_of_block is for.
template <class Grid>
using warps_of = typename Grid::warps_of_block;

}  // namespace detail

/// Counters of a window over the warps of a block; zero once basic_block_pace is made.
template <uint32_t Visits, class Grid>
struct basic_pace_memory<pace::lead<Visits>, Grid> {
  uint32_t words[detail::window_places::words_for(Visits, 1)];  ///< detail::window_places
};

/// A bounded lead of the warps of a block.
template <uint32_t Visits, class Grid>
class basic_block_pace<pace::lead<Visits>, Grid>
    : public detail::passed_by_reference<basic_block_pace<pace::lead<Visits>, Grid>> {
 public:
  using form = pace::lead<Visits>;
  using memory_type = basic_pace_memory<form, Grid>;

  /// All threads of the block; waits for all.
  GPUSYNC_API explicit basic_block_pace(memory_type& shared) : words_(shared.words) {
    Grid grid = Grid::current();
    using shared_memory = typename detail::warps_of<Grid>::memory;
    grid.sync_block();  // of an earlier pace in the same memory nobody is left behind
    GPUSYNC_UNROLL(1)
    for (uint32_t i = grid.thread(); i < sizeof(shared.words) / sizeof(uint32_t); i += grid.threads()) {
      shared_memory::template store<memory_order::relaxed, scope::block>(words_ + i, 0u);
    }
    grid.sync_block();
  }

  /// Says that the warp has come here, and waits if it is too far ahead.
  GPUSYNC_API void visit() {
    const detail::warps_of<Grid> warps;
    if (warps.thread() == 0) {
      (void)member_.end_epoch(warps, places(), warps.blocks(), no_deadline{});
    }
    warps.sync_block();
  }

  /// The warp makes no further visit; the others do not wait for it.
  GPUSYNC_API void leave() {
    const detail::warps_of<Grid> warps;
    if (warps.thread() == 0) member_.template leave<detail::warps_of<Grid>>(places());
  }

 private:
  GPUSYNC_API detail::window_places places() const {
    return {words_, Visits, detail::window_places::slots_for(Visits), 1};
  }

  uint32_t* words_;
  detail::window_member<scope::block> member_;
};

namespace detail {

/// How a group of warps meets: by windows with a lead of one epoch, which every Grid has words for.
template <uint32_t Warps, uint32_t First, class Grid, bool NamedBarriers = Grid::has_named_barriers>
class group_of_warps {
  static constexpr uint32_t most = 32;  ///< warps of a block

 public:
  struct memory_type {
    uint32_t words[(most + Warps - 1) / Warps][window_places::words_for(1, 1)];  ///< of window_places
  };

  GPUSYNC_API explicit group_of_warps(memory_type& shared) {
    Grid grid = Grid::current();
    const warps_of<Grid> warps;
    if (warps.blocks() > most) grid.fail(nullptr, misuse::too_many_warps, warps.blocks());
    words_ = shared.words[warps.block() / Warps];
    grid.sync_block();
    if (grid.thread() == 0) {
      for (auto& group : shared.words) {
        for (uint32_t& word : group)
          warps_of<Grid>::memory::template store<memory_order::relaxed, scope::block>(&word, 0u);
      }
    }
    grid.sync_block();
  }
  GPUSYNC_API void meet() {
    const warps_of<Grid> warps;
    const uint32_t before = warps.block() / Warps * Warps, left = warps.blocks() - before;
    (void)member_.end_epoch(warps, {words_, 1, window_places::slots_for(1), 1}, left < Warps ? left : Warps,
                            no_deadline{});
  }

 private:
  uint32_t* words_;
  window_member<scope::block> member_;
};

/// By a named barrier.
template <uint32_t Warps, uint32_t First, class Grid>
class group_of_warps<Warps, First, Grid, true> {
 public:
  struct memory_type {};
  GPUSYNC_API explicit group_of_warps(memory_type&) {}
  GPUSYNC_API void meet() {
    const Grid grid = Grid::current();
    const uint32_t group = grid.thread() / of_group, rest = whole_warps(grid) - group * of_group;
    meet_at<0>(grid, group, rest < of_group ? rest : of_group);
  }

 private:
  static constexpr uint32_t of_group = Warps * Grid::warp_size;  ///< threads
  static constexpr uint32_t groups = (32 + Warps - 1) / Warps;   ///< of a block, at most

  GPUSYNC_API static uint32_t whole_warps(Grid grid) {
    return (grid.threads() + Grid::warp_size - 1) / Grid::warp_size * Grid::warp_size;
  }
  GPUSYNC_API_TEMPLATE
  template <uint32_t Group>
  GPUSYNC_HD static void meet_at(Grid grid, uint32_t group, uint32_t threads) {
    if constexpr (Group < groups) {
      if (group == Group) {
        grid.template sync_named<First + Group>(threads);
      } else {
        meet_at<Group + 1>(grid, group, threads);
      }
    }
  }
};

}  // namespace detail

/// Counters of a window for each group, where there are no named barriers; nothing where there are.
template <uint32_t Warps, uint32_t First, class Grid>
struct basic_pace_memory<pace::warps<Warps, First>, Grid> : detail::group_of_warps<Warps, First, Grid>::memory_type {};

/// Groups of warps meet.
template <uint32_t Warps, uint32_t First, class Grid>
class basic_block_pace<pace::warps<Warps, First>, Grid>
    : public detail::passed_by_reference<basic_block_pace<pace::warps<Warps, First>, Grid>> {
 public:
  using form = pace::warps<Warps, First>;
  /// All threads of the block; waits for all where there are no named barriers. There a block has at most 32 warps;
  /// more end the launch.
  GPUSYNC_API explicit basic_block_pace(basic_pace_memory<form, Grid>& shared) : group_(shared) {}
  /// Waits for the warps of the calling thread's group.
  GPUSYNC_API void visit() { group_.meet(); }

 private:
  detail::group_of_warps<Warps, First, Grid> group_;
};

}  // namespace gpusync
