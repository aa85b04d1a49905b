// Pace: what keeps work-groups, or the work-items of one, in step although nothing depends on it: include/gpusync/pace/
// in OpenCL C.
//
//   __kernel void gather(__global uint* storage, __global const float* table, …) {
//     gpusync_window window = gpusync_window_of(storage);
//     for (uint panel = 0; panel < panels; ++panel) {
//       …                                      // random reads of this panel of a large table
//       gpusync_end_epoch(&window);            // none is more than the lead ahead of the slowest
//     }
//   }
//
// A window orders nothing. All work-items of a work-group call each function together. A work-group that ends after
// fewer epochs than others calls gpusync_leave_window(). Waits end after the storage's limit, and then no
// work-group waits any more: a launch ends whatever its number of work-groups. Storage:
// gpusync::opencl::window_storage, cleared before each launch by gpusync::opencl::launch().
//
// Of the forms for the work-items of a work-group there are two: nothing, and GPUSYNC_PACE(), at which all meet. A lead
// between them needs work-items that run independently, which OpenCL does not promise: on processors they take turns.

/// All work-items of the work-group meet, equally often. Orders nothing that a barrier would not.
#define GPUSYNC_PACE() barrier(CLK_LOCAL_MEM_FENCE)

/// A work-group's place in a window; each work-item has its own copy.
typedef struct {
  __global uint* words;
  uint lead;
  uint slots;    // a power of two, at least lead
  ulong limit;   // ticks
  ulong epoch;   // epochs that the work-group has ended
  uint left;     // work-groups that have left, as far as it knows
  bool gave_up;  // it waits no more
} gpusync_window;

/// The window that lives in `storage`. Once in a kernel, before the first epoch.
static gpusync_window gpusync_window_of(__global uint* storage) {
  gpusync_window made;
  made.words = storage;
  made.lead = storage[GPUSYNC_WINDOW_AT_LEAD];
  made.slots = storage[GPUSYNC_WINDOW_AT_SLOTS];
  made.limit = (ulong)storage[GPUSYNC_WINDOW_AT_LIMIT_LOW] | (ulong)storage[GPUSYNC_WINDOW_AT_LIMIT_HIGH] << 32;
  made.epoch = 0;
  made.left = 0;
  made.gave_up = false;
  return made;
}

static __global uint* gpusync_window_counter(const gpusync_window* window, uint slot) {
  return window->words + GPUSYNC_WINDOW_AT_COUNTERS + (size_t)slot * GPUSYNC_LINE_WORDS;
}

/// Waits until all have ended the epoch that the next one needs. Work-item 0.
static int gpusync_window_wait(gpusync_window* window) {
  const ulong awaited = window->epoch - window->lead;
  const __global uint* const counter = gpusync_window_counter(window, (uint)awaited & (window->slots - 1));
  const uint rounds = (uint)(awaited / window->slots) + 1;
  ulong start = gpusync_ticks_start();
  while (true) {
    const uint goal = (gpusync_groups() - window->left) * rounds;
    for (uint polls = 0; polls < 32; ++polls) {
      if (gpusync_reached(gpusync_load(counter), goal)) return GPUSYNC_COMPLETED;
      if (gpusync_ticks(&start) >= window->limit) return GPUSYNC_TIMED_OUT;
    }
    window->left = gpusync_load(window->words + GPUSYNC_WINDOW_AT_LEFT);
    gpusync_acquire(window->words + GPUSYNC_WINDOW_AT_LEFT);
    if (gpusync_load(window->words + GPUSYNC_WINDOW_AT_GIVEN_UP) != 0) return GPUSYNC_TIMED_OUT;
  }
}

/// Says that the work-group has ended its epoch, and waits until the next one may begin.
static void gpusync_end_epoch(gpusync_window* window) {
  if (gpusync_is_first_item()) {
    (void)gpusync_add(gpusync_window_counter(window, (uint)window->epoch & (window->slots - 1)), 1u);
    ++window->epoch;
    if (!window->gave_up && window->epoch >= window->lead && gpusync_window_wait(window) == GPUSYNC_TIMED_OUT) {
      window->gave_up = true;
      (void)gpusync_add(window->words + GPUSYNC_WINDOW_AT_GIVEN_UP, 1u);
    }
  }
  GPUSYNC_PACE();
}

/// The work-group takes part in no further epoch.
static void gpusync_leave_window(gpusync_window* window) {
  if (!gpusync_is_first_item()) return;
  const uint own = (uint)window->epoch & (window->slots - 1);
  for (uint slot = 0; slot < window->slots; ++slot) {
    const uint counted = (uint)(window->epoch / window->slots) + (slot < own ? 1 : 0);
    (void)gpusync_add(gpusync_window_counter(window, slot), 0u - counted);
  }
  // Who finds one less finds what it had counted gone too.
  (void)gpusync_add_release(window->words + GPUSYNC_WINDOW_AT_LEFT, 1u);
}
