// Workload "barrier-parts": a grid barrier taken apart (Feng and Xiao 2010, section VI; items F11 to F16). Each variant
// is the same loop over the same work with another part of a barrier in it, or with a whole one. The text of a step,
// for host threads and CUDA.
//
// The work is the paper's: every thread takes the mean of two floats, one element a thread, and writes it. Of every run
// the first and the last 64 steps also check what the step before wrote, under a barrier another block's element, else
// the thread's own (see average_text.h). Short and long runs have the same number of these, so they cancel in repeat
// differences. Between them no step reads: the work must be the same under all variants, but another block's word takes
// longer to read than one's own, and every word does after an invalidation of the L1 cache.
#pragma once

#include <gpusync/core/wait.hpp>

#include "workloads/average/average.hpp"

namespace gpusync::tool {

/// What stands between two steps of work.
enum class barrier_part {
  none,            ///< nothing: t1
  awaited_add,     ///< thread 0 of each block adds to one word and waits for the answer; there is no work: t2
  unawaited_add,   ///< the same by a reduction, which has no answer
  block_barriers,  ///< the two block barriers that a grid barrier of this library has: t3
  fence_by_all,    ///< a fence in every thread, then the two: 2010's way to publish writes
  release_by_one,  ///< the two, and between them thread 0 waits for its block's writes as a release does
  relaxed_load,    ///< a poll of thread 0 between the two that succeeds at once
  acquire_load,    ///< the same followed by its acquire, which invalidates the L1 cache of a GPU
  whole,           ///< a grid barrier
};

/// Whether steps of this part have the work in them.
constexpr bool has_work(barrier_part part) {
  return part != barrier_part::awaited_add && part != barrier_part::unawaited_add;
}

/// Whether this part adds to the common word: one addition for each block and step.
constexpr bool adds(barrier_part part) {
  return part == barrier_part::awaited_add || part == barrier_part::unawaited_add;
}

/// What a run works on.
struct barrier_parts_data {
  average_data average;
  uint32_t* word;  ///< 0 before each run; what is added to and polled
  uint32_t zero;   ///< 0, which compilers do not know
};

/// Keeps a loop's passes, and the writes in them, as many as are written: nothing is moved across. No instruction.
GPUSYNC_HD inline void keep_pass() {
  asm volatile("" ::: "memory");
}

/// All steps of one run, with `boundary(s)` behind the s-th; it says whether to go on. `steps` is a multiple of
/// average_period and at least 2 x average_checked. `works`: steps between the checked ones have work too; else they
/// are empty. Every run starts where the one before it, or the filled buffer, left off.
GPUSYNC_API_TEMPLATE
template <class Grid, class Boundary>
GPUSYNC_HD void barrier_parts_steps(Grid grid, const average_data& data, bool crosses_blocks, bool works,
                                    uint32_t steps, Boundary&& boundary) {
  const average_place place = opaque_place(grid, average_place_of(grid, crosses_blocks));
  uint32_t wrong = 0;
  GPUSYNC_UNROLL(1)
  for (uint32_t part = 0; part < 3; ++part) {
    const bool checks = part != 1;
    const uint32_t end = part == 0 ? average_checked : part == 1 ? steps - average_checked : steps;
    // Down, in a register: a limit that is a parameter would be loaded anew behind every fence. The number of a step in
    // the cycle of inputs is the same as if it were counted up, for there are whole cycles.
    GPUSYNC_UNROLL(1)
    for (uint32_t left = grid.opaque(checks ? average_checked : steps - 2 * average_checked); left != 0; --left) {
      const uint32_t step = (0u - left) % average_period;
      keep_pass();
      if (checks) {
        wrong += average_step(data.values, &place, step, part == 0 || step != 0);
      } else if (works) {
        average_write(data.values, &place, step);
      }
      keep_pass();
      if (!boundary(end - left)) return;
    }
  }
  step_report(grid, data.wrong, wrong);
}

/// A thread's way through one part, step after step.
template <barrier_part Part, class Grid>
class part_passer {
 public:
  GPUSYNC_API part_passer(Grid grid, const barrier_parts_data& data)
      : grid_(grid),
        word_(grid.opaque(data.word)),
        wrong_(data.average.wrong),
        first_(grid.thread() == 0),
        zero_(grid.opaque(data.zero)),
        addend_(1 + (grid.thread() & zero_)) {}

  GPUSYNC_API void pass() {
    using memory = typename Grid::memory;
    if constexpr (Part == barrier_part::awaited_add) {
      // The next addition needs this one's answer, though that comes to nothing: else it would become a reduction.
      if (first_) {
        const uint32_t answer = memory::template fetch_add<memory_order::relaxed, scope::device>(word_, addend_);
        addend_ = 1 + (answer & zero_);
      }
    } else if constexpr (Part == barrier_part::unawaited_add) {
      if (first_) memory::template add<memory_order::relaxed, scope::device>(word_, addend_);
    } else if constexpr (Part != barrier_part::none) {
      if constexpr (Part == barrier_part::fence_by_all) memory::template fence<scope::device>();
      grid_.sync_block();
      if constexpr (Part == barrier_part::release_by_one) {
        if (first_) memory::drain(1);
      } else if constexpr (Part == barrier_part::relaxed_load) {
        if (first_) poll<memory_order::relaxed>();
      } else if constexpr (Part == barrier_part::acquire_load) {
        if (first_) poll<memory_order::acquire>();
      }
      grid_.sync_block();
    }
  }

 private:
  /// A barrier's own poll, of a word that always has the awaited value. Another one counts as a wrong word.
  GPUSYNC_API_TEMPLATE
  template <memory_order Order>
  GPUSYNC_HD void poll() {
    if (soon_over<Order, scope::device>(grid_, word_, [](uint32_t value) { return value == 0; })) return;
    (void)Grid::memory::template fetch_add<memory_order::relaxed, scope::device>(wrong_, 1u);
  }

  Grid grid_;
  uint32_t* word_;
  uint32_t* wrong_;
  bool first_;
  uint32_t zero_;
  uint32_t addend_;  ///< 1; one that a warp's threads share would be summed up first, which a barrier's is not
};

/// A variant: the work with this part between its steps.
template <barrier_part Part>
struct barrier_parts_text : computation {
  barrier_parts_data data;
  bool works;  ///< steps between the checked ones have work, if the variant has
};

/// The only text that it has. A part stands for the boundary, but a whole barrier is the boundary; under it alone
/// blocks check each other's words.
GPUSYNC_API_TEMPLATE
template <barrier_part Part, class Grid, class Boundary>
GPUSYNC_HD void all_steps(const barrier_parts_text<Part>& text, Grid grid, uint32_t steps, computation::kept&,
                          Boundary&& boundary) {
  if constexpr (Part == barrier_part::whole) {
    barrier_parts_steps(grid, text.data.average, true, text.works, steps, boundary);
  } else {
    part_passer<Part, Grid> passer(grid, text.data);
    barrier_parts_steps(grid, text.data.average, false, text.works && has_work(Part), steps, [&passer](uint32_t) {
      passer.pass();
      return true;
    });
  }
}

}  // namespace gpusync::tool
