// The tree-based barrier of Xiao and Feng (Virginia Tech TR-09-19), with two levels. Work-item 0 of each work-group
// adds to the counter of its branch; the last of a branch adds to the topmost counter, which all poll. Branches are
// those of the report: with m the square root of n work-groups, rounded up, branches of m if n is m * m, else m - 1
// branches of n / (m - 1) and one of the rest, if there is one. Counters count as in lock_based.cl, so nothing is ever
// reset.
//
// Preconditions, synchronizes: see lock_based.cl. The add to a branch's counter releases and acquires: the last of a
//   branch has synchronized with the others, and its add to the top hands that on.
// Cost: two hops; per work-group one atomic addition, per branch one more. The longest queue on one word is some
//   sqrt(n) additions instead of n.
// Storage: a line (128 bytes) for each branch and one for the top. At most 65,535 work-groups.

enum { gpusync_tree_number = 2 };

typedef struct {
  uint branch;       // the branch's counter in the words
  uint branch_step;  // what this work-group adds there
  uint top_step;     // what the last of the branch adds to the top
} gpusync_tree_state;

static gpusync_tree_state gpusync_tree_join(const gpusync_part part) {
  uint wide = 1;
  while (wide * wide < part.count) ++wide;
  const uint size = wide * wide == part.count ? wide : part.count / (wide - 1);
  const uint branches = (part.count + size - 1) / size;
  const uint branch = part.rank / size;
  const uint sharing = min(size, part.count - branch * size);
  gpusync_tree_state state;
  state.branch = (1 + branch) * GPUSYNC_LINE_WORDS;
  state.branch_step = part.rank % size == 0 ? (1u << 16) - (sharing - 1) : 1u;
  state.top_step = branch == 0 ? (1u << 16) - (branches - 1) : 1u;
  return state;
}

/// As in lock_based.cl.
static uint gpusync_tree_next_goal(const __global uint* own) {
  return (gpusync_load(own) >> 16) + 1;
}

static void gpusync_tree_arrive(__global uint* own, const gpusync_tree_state* state, const gpusync_part part,
                                uint goal) {
  gpusync_release_group();
  if (!gpusync_is_first_item()) return;
  __global uint* branch = own + state->branch;
#if GPUSYNC_ORDERING == GPUSYNC_ORDERING_ACQUIRE_RELEASE
  const uint before = gpusync_add_acquire_release(branch, state->branch_step);
#else
  const uint before = gpusync_add(branch, state->branch_step);
#endif
  // The step of the phase field tells the last of the branch.
  if ((before + state->branch_step) >> 16 == before >> 16) return;
  gpusync_hand_on();
  gpusync_publish_add(own, state->top_step);
}

static int gpusync_tree_wait(__global uint* own, const gpusync_part part, uint goal, __global uint* answer,
                             ulong limit) {
  int status = GPUSYNC_COMPLETED;
  if (gpusync_is_first_item()) {
    status = gpusync_wait_until(own, goal << 16, limit);
    gpusync_see(own);
  }
  return gpusync_sync_status(answer, status, limit);
}
