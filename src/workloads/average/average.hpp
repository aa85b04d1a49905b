// Workload "average": each step takes the mean of two floats, one element a thread (Feng and Xiao 2010, item F11: weak
// scaling, the same work per thread whatever the grid). The text of a step, for host threads and CUDA; average.cl says
// the same in OpenCL C.
//
// A *data step* s writes avg(i, s) of every element i into half s % 2 of a buffer of two halves; what step s wrote is
// read after the boundary, at the start of step s + 1, by the thread of the same number in another block (the next one
// or one a quarter, half or three quarters of the grid away, by turns), and compared with the value computed anew. One
// boundary per step is enough, for two steps never touch the same half. An *idle step* is empty: what it takes is the
// boundary alone. Inputs repeat every `average_period` steps, so that replayed graphs check the same.
#pragma once

#include <gpusync/core/ordering.hpp>

#include "boundary/computation.hpp"

namespace gpusync::tool {

/// Steps after which the inputs repeat; runs are multiples of it. Even, so that halves continue to alternate.
inline constexpr uint32_t average_period = 64;
/// Data steps at the start and as many at the end of every run of idle steps: they show that the boundary holds, and
/// since short and long runs have the same number of them, they cancel in repeat differences.
inline constexpr uint32_t average_checked = average_period;

/// The float in [1, 2) whose fraction the 23 low bits of `bits` are.
GPUSYNC_HD inline float average_float(uint32_t bits) {
  const uint32_t image = 0x3f800000u | (bits & 0x7fffffu);
#if defined(__CUDA_ARCH__)
  return __uint_as_float(image);
#else
  float value = 0;
  __builtin_memcpy(&value, &image, sizeof(value));
  return value;
#endif
}

/// The step's result for element i: the mean of two floats in [1, 2), which are two fields of one random-looking word.
/// One rounding, the same on every machine. Few instructions: what is measured is the boundary, and in a block of 1,024
/// threads every instruction takes 4 ns of an H200's step.
GPUSYNC_HD inline float average_value(uint32_t element, uint32_t step) {
  const uint32_t word = (element + 1) * 0x9e3779b1u + (step + 1) * 0x85ebca77u;
  return (average_float(word) + average_float(word >> 9)) * 0.5f;
}

/// Step before `step` in the cycle of inputs.
GPUSYNC_HD inline uint32_t average_previous(uint32_t step) {
  return (step + average_period - 1) % average_period;
}

/// What a run works on. `values` has 2 x blocks x threads floats, its second half filled with step average_period - 1.
struct average_data {
  float* values;
  uint32_t* wrong;  ///< counts words that differ from what the other block should have written
};

/// A thread's part in the work.
struct average_place {
  uint32_t elements;
  uint32_t own;    ///< the element that it writes
  uint32_t next;   ///< from there to the same thread's element in the next block
  uint32_t apart;  ///< between the elements that it checks by turns

  /// A thread of a program without boundaries checks its own element.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static average_place of(Grid grid, bool crosses_blocks) {
    return at(grid.blocks(), grid.block(), grid.threads(), grid.thread(), crosses_blocks);
  }
  GPUSYNC_HD static constexpr average_place at(uint32_t blocks, uint32_t block, uint32_t threads, uint32_t thread,
                                               bool crosses_blocks) {
    const uint32_t elements = blocks * threads, own = block * threads + thread;
    if (!crosses_blocks) return {elements, own, 0, 0};
    return {elements, own, threads, (blocks - 1) / 4 * threads};
  }

  /// The element whose word of step `before` it checks. The same word is read again after 8 steps, where the inputs are
  /// other ones, so that a stale word cannot look right; and a barrier that joins neighbours only is found out.
  GPUSYNC_HD constexpr uint32_t checked(uint32_t before) const {
    const uint32_t element = own + next + before / 2 % 4 * apart;
    return element >= elements ? element - elements : element;
  }
};

/// The part of a data step before it writes: 1 if what step - 1 left in the checked element is wrong, else 0.
GPUSYNC_HD inline uint32_t average_check(const average_data& data, const average_place& place, uint32_t step) {
  const uint32_t before = average_previous(step);
  const uint32_t element = place.checked(before);
  const float found = data.values[(before % 2) * place.elements + element];
  return found == average_value(element, before) ? 0u : 1u;
}

/// The part of a data step that writes.
GPUSYNC_HD inline void average_write(const average_data& data, const average_place& place, uint32_t step) {
  data.values[(step % 2) * place.elements + place.own] = average_value(place.own, step);
}

/// One data step. `check`: the step before this one was a data step too. Returns the number of wrong words found.
GPUSYNC_HD inline uint32_t average_step(const average_data& data, const average_place& place, uint32_t step,
                                        bool check) {
  const uint32_t wrong = check ? average_check(data, place, step) : 0u;
  average_write(data, place, step);
  return wrong;
}

/// What the s-th step of a run of `steps` steps is told, `none` if it is idle: its number in the cycle of inputs, and
/// in the highest bit whether the step before was a data step too, so that there is something to check.
constexpr uint32_t average_checks_step = 1u << 31;
constexpr uint32_t average_number(uint32_t s, uint32_t steps, bool stores, uint32_t none) {
  const uint32_t tail = steps - average_checked;
  if (!stores && s >= average_checked && s < tail) return none;
  return s % average_period | (stores || s != tail ? average_checks_step : 0u);
}

/// The computation. Every run starts where the one before it, or the filled buffer, left off.
struct average_text : computation {
  struct kept {
    average_place place;
    uint32_t wrong;
  };

  average_data data;
  bool stores;
  bool crosses_blocks;  ///< false: without boundaries, where threads check their own elements

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid grid, uint32_t) const {
    return {average_place::of(grid, crosses_blocks), 0};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid, uint32_t number, kept& now) const {
    now.wrong += average_step(data, now.place, number % average_period, number >= average_checks_step);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void save(Grid, const kept& now) const {
    if (now.wrong != 0) {
      (void)Grid::memory::template fetch_add<memory_order::relaxed, scope::device>(data.wrong, now.wrong);
    }
  }
};

/// Its own text of all steps, for idle steps are to be empty. `steps` is a multiple of average_period and at least
/// 2 x average_checked.
GPUSYNC_API_TEMPLATE
template <class Grid, class Boundary>
GPUSYNC_HD void all_steps(const average_text& text, Grid grid, uint32_t steps, average_text::kept& kept,
                          Boundary&& boundary) {
  // Else compilers compute it anew in every data step, for want of registers or because idle steps do without.
  average_place& place = kept.place;
  place = {grid.opaque(place.elements), grid.opaque(place.own), grid.opaque(place.next), grid.opaque(place.apart)};
  const uint32_t tail = steps - average_checked;
  uint32_t s = 0;
  for (uint32_t part = 0; part < 3; ++part) {
    const uint32_t end = part == 0 ? average_checked : part == 1 ? tail : steps;
    const bool data_steps = text.stores || part != 1;
    for (; s < end; ++s) {
      if (data_steps) kept.wrong += average_step(text.data, place, s % average_period, text.stores || s != tail);
      if (!boundary(s)) return;
    }
  }
}

/// Words that one run of `steps` steps checks, per element.
constexpr uint64_t average_checks(bool stores, uint64_t steps) {
  return stores ? steps : 2 * average_checked - 1;
}

}  // namespace gpusync::tool
