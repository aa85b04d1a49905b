// Workload "average": each step takes the mean of two floats, one element a thread (Feng and Xiao 2010, item F11: weak
// scaling, the same work per thread whatever the grid). One text for CUDA, host threads and OpenCL: see
// boundary/step_text.h.
//
// A *data step* s writes avg(i, s) of every element i into half s % 2 of a buffer of two halves; what step s wrote is
// read after the boundary, at the start of step s + 1, by the thread of the same number in another block (the next one
// or one a quarter, half or three quarters of the grid away, by turns), and compared with the value computed anew. One
// boundary per step is enough, for two steps never touch the same half. An *idle step* is empty: what it takes is the
// boundary alone. Inputs repeat every `average_period` steps, so that replayed graphs check the same.

/// Steps after which the inputs repeat; runs are multiples of it. Even, so that halves continue to alternate.
STEP_CONSTANT(average_period, 64);
/// Data steps at the start and as many at the end of every run of idle steps: they show that the boundary holds, and
/// since short and long runs have the same number of them, they cancel in repeat differences.
STEP_CONSTANT(average_checked, average_period);

/// The step's result for element i: the mean of two floats in [1, 2), which are two fields of one random-looking word.
/// One rounding, the same on every machine. Few instructions: what is measured is the boundary, and in a block of 1,024
/// threads every instruction takes 4 ns of an H200's step.
STEP_FUNCTION float average_value(uint32_t element, uint32_t step) {
  const uint32_t word = (element + 1) * 0x9e3779b1u + (step + 1) * 0x85ebca77u;
  const uint32_t one = 0x3f800000u, fraction = 0x7fffffu;
  return (step_float(one | (word & fraction)) + step_float(one | (word >> 9 & fraction))) * 0.5f;
}

/// Step before `step` in the cycle of inputs.
STEP_FUNCTION uint32_t average_previous(uint32_t step) {
  return (step + average_period - 1) % average_period;
}

/// A thread's part in the work.
typedef struct {
  uint32_t elements;
  uint32_t own;    ///< the element that it writes
  uint32_t next;   ///< from there to the same thread's element in the next block
  uint32_t apart;  ///< between the elements that it checks by turns
} average_place;

/// A thread of a program without boundaries checks its own element.
STEP_FUNCTION average_place average_place_at(uint32_t blocks, uint32_t block, uint32_t threads, uint32_t thread,
                                             bool crosses_blocks) {
  average_place place = {blocks * threads, block * threads + thread, 0, 0};
  if (!crosses_blocks) return place;
  place.next = threads;
  place.apart = (blocks - 1) / 4 * threads;
  return place;
}

/// The element whose word of step `before` a thread checks. The same word is read again after 8 steps, where the inputs
/// are other ones, so that a stale word cannot look right; and a barrier that joins neighbours only is found out.
STEP_FUNCTION uint32_t average_checked_element(const average_place* place, uint32_t before) {
  const uint32_t element = place->own + place->next + before / 2 % 4 * place->apart;
  return element >= place->elements ? element - place->elements : element;
}

/// The part of a data step before it writes: 1 if what step - 1 left in the checked element is wrong, else 0. Plain
/// accesses, here and below: whether they are seen in time is the boundary's business. `values`: 2 x blocks x threads,
/// of which a first run finds the second half as step average_period - 1 leaves it.
STEP_FUNCTION uint32_t average_check(STEP_GLOBAL const float* values, const average_place* place, uint32_t step) {
  const uint32_t before = average_previous(step);
  const uint32_t element = average_checked_element(place, before);
  const float found = values[(before % 2) * place->elements + element];
  return found == average_value(element, before) ? 0u : 1u;
}

/// The part of a data step that writes.
STEP_FUNCTION void average_write(STEP_GLOBAL float* values, const average_place* place, uint32_t step) {
  values[(step % 2) * place->elements + place->own] = average_value(place->own, step);
}

/// One data step. `check`: the step before this one was a data step too. Returns the number of wrong words found.
STEP_FUNCTION uint32_t average_step(STEP_GLOBAL float* values, const average_place* place, uint32_t step, bool check) {
  const uint32_t wrong = check ? average_check(values, place, step) : 0u;
  average_write(values, place, step);
  return wrong;
}

/// What the s-th step of a run of `steps` steps is told, `none` if it is idle: its number in the cycle of inputs, and
/// in the highest bit whether the step before was a data step too, so that there is something to check.
STEP_FUNCTION uint32_t average_number(uint32_t s, uint32_t steps, uint32_t stores, uint32_t none) {
  const uint32_t tail = steps - average_checked;
  if (stores == 0 && s >= average_checked && s < tail) return none;
  return s % average_period | (stores != 0 || s != tail ? 1u << 31 : 0u);
}

/// Every run starts where the one before it, or the filled buffer, left off.
typedef struct {
  average_place place;
  uint32_t wrong;
} average_kept;

#ifdef __OPENCL_VERSION__  // what boundary/steps.cl asks for
#define STEP_PARAMETERS __global float *values, __global uint *wrong_words, uint stores, uint crosses_groups
#define STEP_ARGUMENTS values, wrong_words, stores, crosses_groups
#define STEP_NUMBER(s, steps) average_number(s, steps, stores, STEP_IDLE)
typedef average_kept step_kept;
static step_kept step_load(uint number, STEP_PARAMETERS) {
  const step_place here = step_here();
  step_kept now = {average_place_at(here.blocks, here.block, here.threads, here.thread, crosses_groups != 0), 0};
  return now;
}
static void step_once(uint number, step_kept* now, STEP_PARAMETERS) {
  now->wrong += average_step(values, &now->place, number % average_period, number >> 31 != 0);
}
static void step_save(const step_kept* now, STEP_PARAMETERS) {
  step_report(wrong_words, now->wrong);
}
#else  // and boundary/computation.hpp
/// What a run works on.
struct average_data {
  float* values;
  uint32_t* wrong;  ///< counts words that differ from what the other block should have written
};

GPUSYNC_API_TEMPLATE
template <class Grid>
GPUSYNC_HD average_place average_place_of(Grid grid, bool crosses_blocks) {
  return average_place_at(grid.blocks(), grid.block(), grid.threads(), grid.thread(), crosses_blocks);
}

struct average_text : computation {
  using kept = average_kept;

  average_data data;
  bool stores;
  bool crosses_blocks;  ///< false: without boundaries, where threads check their own elements

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid grid, uint32_t) const {
    return {average_place_of(grid, crosses_blocks), 0};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid, uint32_t number, kept& now) const {
    now.wrong += average_step(data.values, &now.place, number % average_period, number >> 31 != 0);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void save(Grid grid, const kept& now) const {
    step_report(grid, data.wrong, now.wrong);
  }
};

/// The same, but computed: compilers would do that anew in every data step, for want of registers or because idle steps
/// do without.
GPUSYNC_API_TEMPLATE
template <class Grid>
GPUSYNC_HD average_place opaque_place(Grid grid, const average_place& place) {
  return {grid.opaque(place.elements), grid.opaque(place.own), grid.opaque(place.next), grid.opaque(place.apart)};
}

/// Its own text of all steps, for idle steps are to be empty. `steps` is a multiple of average_period and at least
/// 2 x average_checked. A loop for each kind of step, so that no step of any barrier asks of which kind it is:
/// compilers split a loop of all kinds for some barriers and not for others.
GPUSYNC_API_TEMPLATE
template <class Grid, class Boundary>
GPUSYNC_HD void all_steps(const average_text& text, Grid grid, uint32_t steps, average_kept& kept,
                          Boundary&& boundary) {
  kept.place = opaque_place(grid, kept.place);
  const uint32_t tail = steps - average_checked;
  const auto data_step = [&](uint32_t s, bool check) {
    kept.wrong += average_step(text.data.values, &kept.place, s % average_period, check);
  };
  uint32_t s = 0;
  for (const uint32_t end = text.stores ? steps : average_checked; s < end; ++s) {
    data_step(s, true);
    if (!boundary(s)) return;
  }
  for (; s < tail; ++s) {
    if (!boundary(s)) return;
  }
  for (; s < steps; ++s) {
    data_step(s, s != tail);
    if (!boundary(s)) return;
  }
}
#endif
