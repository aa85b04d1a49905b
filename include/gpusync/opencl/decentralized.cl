// The decentralized barrier of Shen (2013; item S4; figure 3-4), made right: no read-modify-writes, and flags that
// reset themselves. Work-item 0 of each work-group sets its group's flag to one; the work-items of work-group 0 await
// the flags of all, meet, and reset them to zero; each work-item 0 awaits the zero. Different here:
//
// - The barrier of the work-group stands at the head, as in the figure. The code of the thesis's appendix D lacks
//   it, so it announces work-groups whose other work-items are still writing.
// - The work-items of work-group 0 take several flags each, so any number of work-items will do. There, a
//   work-group with fewer work-items than there are work-groups waits for ever.
// - The flags carry the data's order: nothing in the original does.
//
// The work-item that awaits a flag is the one that resets it, in every phase of a launch. So it never takes the one of
// the last phase for new, even where memory is not ordered otherwise.
//
// Preconditions: see lock_based.cl. Besides, work-groups are let go only when work-group 0 has called wait, not only
//   arrive.
// Synchronizes: see lock_based.cl. Work-group 0 acquires the flags of all, its own barrier joins what its
//   work-items have seen, and each releases the flags that it resets.
// Cost: two hops. Per work-group one store and polls of one word of its own; for work-group 0 n of each, spread
//   over its work-items. The flags lie side by side, as in the thesis: 32 to a line.
// Storage: a line (128 bytes) for the number of phases that have ended, and a word per work-group.

enum { gpusync_decentralized_number = 4 };

typedef struct {
  uint unused;
} gpusync_decentralized_state;

static gpusync_decentralized_state gpusync_decentralized_join(const gpusync_part part) {
  gpusync_decentralized_state state = {0};
  return state;
}

/// The number of phases that will have ended with the next one. Exact at the start of a launch.
static uint gpusync_decentralized_next_goal(const __global uint* own) {
  return gpusync_load(own) + 1;
}

static void gpusync_decentralized_arrive(__global uint* own, const gpusync_decentralized_state* state,
                                         const gpusync_part part, uint goal) {
  gpusync_release_group();
  if (gpusync_is_first_item()) gpusync_publish_store(own + GPUSYNC_LINE_WORDS + part.rank, 1u);
}

static int gpusync_decentralized_wait(__global uint* own, const gpusync_part part, uint goal, __global uint* answer,
                                      ulong limit) {
  __global uint* flags = own + GPUSYNC_LINE_WORDS;
  int status = GPUSYNC_COMPLETED;
  if (part.rank == 0) {
    for (uint i = gpusync_item(); i < part.count && status == GPUSYNC_COMPLETED; i += gpusync_items()) {
      status = gpusync_wait_equal(flags + i, 1u, limit);
      gpusync_see(flags + i);
    }
  }
  status = gpusync_sync_status(answer, status, limit);  // in all work-groups: see gpusync_sync_status()
  if (part.rank == 0 && status == GPUSYNC_COMPLETED) {
    gpusync_hand_on();
    for (uint i = gpusync_item(); i < part.count; i += gpusync_items()) gpusync_publish_store(flags + i, 0u);
    if (gpusync_is_first_item()) gpusync_store(own, goal);
  }
  if (gpusync_is_first_item() && status == GPUSYNC_COMPLETED) {
    status = gpusync_wait_equal(flags + part.rank, 0u, limit);
    gpusync_see(flags + part.rank);
  }
  return gpusync_sync_status(answer, status, limit);
}
