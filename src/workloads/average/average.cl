// Workload "average" in OpenCL C: says the same as average.hpp, which explains it. Goes behind the text of the barrier.

#define AVERAGE_PERIOD 64u
#define AVERAGE_CHECKED AVERAGE_PERIOD

static float average_value(uint element, uint step) {
  const uint word = (element + 1) * 0x9e3779b1u + (step + 1) * 0x85ebca77u;
  return (as_float(0x3f800000u | (word & 0x7fffffu)) + as_float(0x3f800000u | (word >> 9 & 0x7fffffu))) * 0.5f;
}

/// A work-item's part in the work.
typedef struct {
  uint elements;
  uint own;
  uint next;   // to the same work-item's element in the next group
  uint apart;  // between the elements that it checks by turns
} average_place;

static average_place average_place_of(bool crosses_groups) {
  const uint groups = (uint)get_num_groups(0), group = (uint)get_group_id(0);
  const uint items = (uint)get_local_size(0), item = (uint)get_local_id(0);
  average_place place = {groups * items, group * items + item, 0, 0};
  if (crosses_groups) {
    place.next = items;
    place.apart = (groups - 1) / 4 * items;
  }
  return place;
}

static uint average_checked_element(const average_place* place, uint before) {
  const uint element = place->own + place->next + before / 2 % 4 * place->apart;
  return element >= place->elements ? element - place->elements : element;
}

/// One data step. `check`: the step before this one was a data step too. Returns the number of wrong words
/// found. Plain accesses to `values`: whether they are seen in time is the boundary's business, and what is
/// measured.
static uint average_step(__global float* values, const average_place* place, uint step, bool check) {
  uint wrong = 0;
  if (check) {
    const uint before = (step + AVERAGE_PERIOD - 1) % AVERAGE_PERIOD;
    const uint element = average_checked_element(place, before);
    const float found = values[(before % 2) * place->elements + element];
    wrong = found == average_value(element, before) ? 0u : 1u;
  }
  values[(step % 2) * place->elements + place->own] = average_value(place->own, step);
  return wrong;
}

#define STEP_PARAMETERS __global float *values, __global uint *wrong_words, uint stores, uint crosses_groups
#define STEP_ARGUMENTS values, wrong_words, stores, crosses_groups

/// See average_number() in average.hpp.
static uint average_number(uint s, uint steps, uint stores) {
  const uint tail = steps - AVERAGE_CHECKED;
  if (stores == 0 && s >= AVERAGE_CHECKED && s < tail) return STEP_IDLE;
  return s % AVERAGE_PERIOD | (stores != 0 || s != tail ? 1u << 31 : 0u);
}
#define STEP_NUMBER(s, steps) average_number(s, steps, stores)

typedef struct {
  average_place place;
  uint wrong;
} step_kept;

static step_kept step_load(uint number, STEP_PARAMETERS) {
  step_kept kept = {average_place_of(crosses_groups != 0), 0};
  return kept;
}

static void step_once(uint number, step_kept* kept, STEP_PARAMETERS) {
  kept->wrong += average_step(values, &kept->place, number % AVERAGE_PERIOD, number >> 31 != 0);
}

static void step_save(const step_kept* kept, STEP_PARAMETERS) {
  if (kept->wrong != 0) atomic_add((volatile __global uint*)wrong_words, kept->wrong);
}
