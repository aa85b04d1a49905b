// A barrier's effects one by one, as forms of pace: what Lo et al. (2014, section 3.2) tell apart. For measurement
// only: none of them keeps anybody in step. C++17: CUDA sources include it.
#pragma once

#include <gpusync/pace/block_pace.hpp>

namespace gpusync::tool {

/// Arrives at a barrier, and waits for nobody.
struct arrive_only {
  static constexpr const char* name = "arrive";
};
/// A fence of the whole device.
struct fence_only {
  static constexpr const char* name = "fence";
};
/// A hundred cycles; on the host nanoseconds.
struct delay_only {
  static constexpr const char* name = "delay";
  static constexpr uint32_t cycles = 100;
};

/// The visits of pace::lead without waiting: a warp counts them in shared memory and goes on. What this gains is the
/// compiler's doing, as with pace::compiler_fence: the loop's code is that of a lead.
template <uint32_t Visits>
struct counted {
  static constexpr const char* name = "counted";
};

}  // namespace gpusync::tool

namespace gpusync {

namespace detail {

/// How a block's warps arrive: here by counting, where there are no named barriers.
template <class Grid, bool NamedBarriers = Grid::has_named_barriers>
class arrivals {
 public:
  struct memory_type {
    uint32_t words[window_places::words_for(1, 1)];  ///< of window_places
  };

  GPUSYNC_API explicit arrivals(memory_type& shared) : words_(shared.words) {
    Grid grid = Grid::current();
    if (grid.thread() == 0) {
      for (uint32_t& word : shared.words) word = 0;
    }
    grid.sync_block();
  }
  GPUSYNC_API void arrive() {
    const warps_of<Grid> warps;
    if (warps.thread() == 0) {
      member_.template count_epoch<warps_of<Grid>>({words_, 1, window_places::slots_for(1), 1});
    }
  }

 private:
  uint32_t* words_;
  window_member<scope::block> member_;
};

/// At named barrier 1.
template <class Grid>
class arrivals<Grid, true> {
 public:
  struct memory_type {};
  GPUSYNC_API explicit arrivals(memory_type&) {}
  GPUSYNC_API void arrive() {
#if defined(__CUDA_ARCH__)
    const uint32_t threads = (Grid::current().threads() + 31) / 32 * 32;
    asm volatile("barrier.cta.arrive 1, %0;" ::"r"(threads) : "memory");
#endif
  }
};

}  // namespace detail

/// What arrivals are counted in.
template <class Grid>
struct basic_pace_memory<tool::arrive_only, Grid> : detail::arrivals<Grid>::memory_type {};

template <class Grid>
class basic_block_pace<tool::arrive_only, Grid>
    : public detail::passed_by_reference<basic_block_pace<tool::arrive_only, Grid>> {
 public:
  using form = tool::arrive_only;
  GPUSYNC_API explicit basic_block_pace(basic_pace_memory<tool::arrive_only, Grid>& shared) : arrivals_(shared) {}
  GPUSYNC_API void visit() { arrivals_.arrive(); }

 private:
  detail::arrivals<Grid> arrivals_;
};

/// As that of a lead.
template <uint32_t Visits, class Grid>
struct basic_pace_memory<tool::counted<Visits>, Grid> : basic_pace_memory<pace::lead<Visits>, Grid> {};

template <uint32_t Visits, class Grid>
class basic_block_pace<tool::counted<Visits>, Grid>
    : public detail::passed_by_reference<basic_block_pace<tool::counted<Visits>, Grid>> {
 public:
  using form = tool::counted<Visits>;
  GPUSYNC_API explicit basic_block_pace(basic_pace_memory<form, Grid>& shared) : words_(shared.words) {
    Grid grid = Grid::current();
    if (grid.thread() == 0) {
      for (uint32_t& word : shared.words) word = 0;
    }
    grid.sync_block();
  }
  GPUSYNC_API void visit() {
    const detail::warps_of<Grid> warps;
    if (warps.thread() == 0) {
      member_.template count_epoch<detail::warps_of<Grid>>(
          {words_, Visits, detail::window_places::slots_for(Visits), 1});
    }
    warps.sync_block();
  }

 private:
  uint32_t* words_;
  detail::window_member<scope::block> member_;
};

template <class Grid>
class basic_block_pace<tool::fence_only, Grid>
    : public detail::passed_by_reference<basic_block_pace<tool::fence_only, Grid>> {
 public:
  using form = tool::fence_only;
  GPUSYNC_API explicit basic_block_pace(basic_pace_memory<tool::fence_only, Grid>&) {}
  GPUSYNC_API void visit() { Grid::memory::template fence<scope::device>(); }
};

template <class Grid>
class basic_block_pace<tool::delay_only, Grid>
    : public detail::passed_by_reference<basic_block_pace<tool::delay_only, Grid>> {
 public:
  using form = tool::delay_only;
  GPUSYNC_API explicit basic_block_pace(basic_pace_memory<tool::delay_only, Grid>&) {}
  GPUSYNC_API void visit() {
    asm volatile("" ::: "memory");
    const Grid grid = Grid::current();
    if constexpr (Grid::has_named_barriers) {
      grid.delay(form::cycles);
    } else {
      const uint64_t end = grid.now() + form::cycles;
      while (grid.now() < end) {
      }
    }
    asm volatile("" ::: "memory");
  }
};

}  // namespace gpusync
