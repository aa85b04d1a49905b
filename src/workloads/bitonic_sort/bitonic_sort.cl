// Workload "bitonic sort" in OpenCL C: says the same as bitonic_steps.hpp and sort_elements.hpp, which explain it. Goes
// between the text of the barrier and steps.cl. SORT_BYTES: of an element.

#if SORT_BYTES == 4
typedef uint sort_element;
#define SORT_SIGN(bits) ((uint)((int)(bits) >> 31))
#elif SORT_BYTES == 8
typedef ulong sort_element;
#define SORT_SIGN(bits) ((ulong)((long)(bits) >> 63))
#else
typedef ulong2 sort_element;  // the key, the value
#define SORT_SIGN(bits) ((ulong)((long)(bits) >> 63))
#endif

#define STEP_PARAMETERS __global sort_element *elements, uint count, uint merges, ulong negative, ulong all
#define STEP_ARGUMENTS elements, count, merges, negative, all

static bool sort_stands_before(sort_element a, sort_element b, ulong negative, ulong all) {
#if SORT_BYTES == 16
  const ulong first = a.x ^ (SORT_SIGN(a.x) & negative) ^ all, second = b.x ^ (SORT_SIGN(b.x) & negative) ^ all;
  return first < second || (first == second && a.y < b.y);
#else
  const sort_element ones = (sort_element)negative, every = (sort_element)all;
  return (a ^ (SORT_SIGN(a) & ones) ^ every) < (b ^ (SORT_SIGN(b) & ones) ^ every);
#endif
}

#define STEP_KEEPS_NOTHING
typedef uint step_kept;

static void step_once(uint number, step_kept* kept, STEP_PARAMETERS) {
  uint merge = 1;
  for (; number >= merge; ++merge) number -= merge;
  const uint distance = merge - 1 - number;
  const uint mirror = number == 0 ? (1u << distance) - 1 : 0;
  const uint pairs = 1u << (merges - 1), stride = (uint)get_global_size(0);
  for (uint pair = (uint)get_global_id(0); pair < pairs; pair += stride) {
    const uint within = pair & ((1u << distance) - 1);
    const uint low = ((pair - within) << 1) + within;
    const uint high = (low + (1u << distance)) ^ mirror;
    if (high >= count) continue;
    const sort_element a = elements[low], b = elements[high];
    if (!sort_stands_before(b, a, negative, all)) continue;
    elements[low] = b;
    elements[high] = a;
  }
}
