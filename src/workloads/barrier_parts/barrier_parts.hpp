// Workload "barrier-parts": a grid barrier taken apart (Feng and Xiao 2010, section VI; items F11 to F16). Each variant
// is the same loop over the same work with another part of a barrier in it, or with a whole one. The text of a step,
// for host threads and CUDA, the variants by name, and what the host knows of them.
//
// The work is the paper's: every thread takes the mean of two floats, one element a thread, and writes it. Of every run
// the first and the last 64 steps also check what the step before wrote, under a barrier another block's element, else
// the thread's own (see average_text.h). Short and long runs have the same number of these, so they cancel in repeat
// differences. Between them no step reads: the work must be the same under all variants, but another block's word takes
// longer to read than one's own, and every word does after an invalidation of the L1 cache.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gpusync/core/wait.hpp>
#include <gpusync/grid/registry.hpp>

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

/// A part, with its names in results.
struct part_name {
  barrier_part part;
  const char* name;
  const char* title;
  const char* item;
};

inline constexpr part_name part_names[] = {
    {barrier_part::none, name_of_floor, "the work alone", "F12"},
    {barrier_part::awaited_add, "atomic-awaited", "one atomic addition for each block, awaited; no work", "F13"},
    {barrier_part::unawaited_add, "atomic-unawaited", "one reduction for each block; no work", ""},
    {barrier_part::block_barriers, "block-barriers", "the two block barriers of a grid barrier", "F14"},
    {barrier_part::fence_by_all, "fence-by-all", "a fence in every thread and two block barriers", ""},
    {barrier_part::release_by_one, "release-by-one", "two block barriers, between them thread 0 releases", ""},
    {barrier_part::relaxed_load, "relaxed-load", "two block barriers, between them a poll that succeeds at once", ""},
    {barrier_part::acquire_load, "acquire-load", "the same with a poll that acquires", ""},
};

/// The barriers that are measured whole: the paper's in both of its orderings (t4 and t5), and what it has become.
using whole_barriers =
    grid::algorithm_list<grid::lock_based<ordering::none>, grid::lock_based<ordering::fence>,
                         grid::lock_based<ordering::acquire_release>, grid::placed_counters<ordering::acquire_release>>;

/// Calls `visit(std::integral_constant<barrier_part, …>, name)` for each part.
template <class Visit>
void for_each_part(Visit&& visit) {
  const auto with = [&](auto part) {
    for (const part_name& each : part_names) {
      if (each.part == part.value) visit(part, each.name);
    }
  };
  with(std::integral_constant<barrier_part, barrier_part::none>{});
  with(std::integral_constant<barrier_part, barrier_part::awaited_add>{});
  with(std::integral_constant<barrier_part, barrier_part::unawaited_add>{});
  with(std::integral_constant<barrier_part, barrier_part::block_barriers>{});
  with(std::integral_constant<barrier_part, barrier_part::fence_by_all>{});
  with(std::integral_constant<barrier_part, barrier_part::release_by_one>{});
  with(std::integral_constant<barrier_part, barrier_part::relaxed_load>{});
  with(std::integral_constant<barrier_part, barrier_part::acquire_load>{});
}

/// All variants, the work alone first.
std::vector<step_method> barrier_parts_methods();

/// The part that a method is; null for a whole barrier.
const part_name* find_part(const std::string& method);

/// Places of barrier_parts_data::word that turns are spread over, and words from one to the next: how long an addition
/// takes hangs on where its word lies in the L2 cache.
inline constexpr uint32_t parts_word_places = 16, parts_word_stride = 33 * 32;

/// What runs work on: that of the average, and the places of barrier_parts_data::word.
std::vector<array_content> barrier_parts_arrays(const step_shape& shape);

/// The text on such arrays, of host_arrays or cuda_arrays, with the common word in that place.
template <barrier_part Part, class Arrays>
barrier_parts_text<Part> barrier_parts_in(Arrays& memory, const step_shape& shape, uint32_t place = 0) {
  const average_data average{memory.template address<float>(0), memory.template address<uint32_t>(1)};
  return {{}, {average, memory.template address<uint32_t>(2) + size_t{place} * parts_word_stride, 0}, shape.stores};
}

/// What one variant's runs have been found to compute: the average's words, and the additions to the common word.
class barrier_parts_result : public average_result {
 public:
  /// `memory`: of barrier_parts_arrays().
  barrier_parts_result(const step_shape& shape, const std::string& method, std::shared_ptr<arrays> memory);

  check_result check(uint64_t steps) override;
  std::string how() const override;

 private:
  const uint32_t blocks_;
  const bool adds_;
};

/// The steps of runs.
step_sequence barrier_parts_steps_of_a_run();

}  // namespace gpusync::tool
