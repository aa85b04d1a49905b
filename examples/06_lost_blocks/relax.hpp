// Relaxation of a plate by blocks that may be lost: the text that runs on a GPU and on host threads.
#pragma once

#include <gpusync/rmw/fault_tolerant_barrier.hpp>

namespace lost_blocks {

/// How a block is lost in this example.
enum class fate : uint32_t {
  lives,
  dies_at_work,        ///< with half of its rows done, before it arrives
  dies_after_arrival,  ///< between arrive() and wait(): its rows are done, and it is missed in the next phase
  sleeps,              ///< with its rows done, longer than the others wait for it; then it learns that it was removed
};

/// What happens to each block, and in which step.
struct plan {
  fate what = fate::lives;
  int step = 0;
};

/// What a block notes of another one, or of itself; all zero before the run. Everybody keeps notes of everybody: any
/// one block may be the next that is lost.
struct note {
  int lost_in = 0;       ///< step + 1
  int rows_redone = 0;   ///< of that step, for this block
  int told_removed = 0;  ///< by itself: it was alive
};

/// The plate, in two copies: a step reads the one and writes the other.
struct plate {
  float* copies[2];
  int width;
  int height;  ///< with the first and the last row, which are kept
};

struct rows {
  int first;
  int end;
};

/// The rows of the member of that rank.
GPUSYNC_HD inline rows share(const plate& of, uint32_t rank, uint32_t count) {
  const long long inner = of.height - 2;
  return {static_cast<int>(1 + inner * rank / count), static_cast<int>(1 + inner * (rank + 1) / count)};
}

/// One step of some rows, by the threads of a block. The value of a cell depends on the older copy alone, so it does
/// not matter who computes it, nor how often, as long as the older copy stands: up to the end of the next phase. Blocks
/// that are so slow that they would write after that are not for two copies: they need copies of their own.
GPUSYNC_HD inline void relax(const plate& of, int step, rows some, int thread, int threads) {
  const float* const from = of.copies[step % 2];
  float* const to = of.copies[(step + 1) % 2];
  const long long width = of.width;
  for (long long y = some.first; y < some.end; ++y) {
    for (long long x = 1 + thread; x < width - 1; x += threads) {
      const float* const at = from + y * width + x;
      to[y * width + x] = 0.25f * ((at[-1] + at[1]) + (at[-width] + at[width]));
    }
  }
}

/// What is left of a step in which members were lost: their rows. They are shared out among those that are left, row
/// by row, and computed from the older copy, which nobody has changed. If others were lost while these were redone
/// (`again`), who had what is too long a story: then the whole step is.
GPUSYNC_API_TEMPLATE
template <class Barrier>
GPUSYNC_HD void redo_lost_rows(const Barrier& barrier, const plate& of, int step, bool again, note* notes, int thread,
                               int threads) {
  const gpusync::survivors now = barrier.members();
  if (again) relax(of, step, share(of, now.rank, now.count), thread, threads);
  for (uint32_t block = 0; block < barrier.blocks(); ++block) {
    if (!barrier.was_member(block) || barrier.is_member(block)) continue;
    const rows lost = share(of, barrier.rank_before(block), barrier.count_before());
    if (thread == 0) notes[block] = {step + 1, lost.end - lost.first, 0};
    for (int y = lost.first; y < lost.end && !again; ++y) {
      if (static_cast<uint32_t>(y) % now.count == now.rank) relax(of, step, {y, y + 1}, thread, threads);
    }
  }
}

/// The kernel. `notes`: for each block as many as there are blocks. Nap: how a block sleeps.
GPUSYNC_API_TEMPLATE
template <class Grid, class Barrier, class Nap>
GPUSYNC_HD void relax_with_losses(Barrier& barrier, plate of, int steps, gpusync::timeout patience, const plan* plans,
                                  note* notes, Nap nap) {
  using gpusync::phase_outcome;
  const Grid grid = Grid::current();
  const uint32_t self = grid.block();
  const int thread = static_cast<int>(grid.thread());
  const int threads = static_cast<int>(grid.threads());
  for (int step = 0; step < steps; ++step) {
    const gpusync::survivors who = barrier.members();
    const rows own = share(of, who.rank, who.count);
    const fate happens = plans[self].step == step ? plans[self].what : fate::lives;
    if (happens == fate::dies_at_work) {
#if !defined(GPUSYNC_THREAD_SANITIZER)  // the survivors will write the same values there: a race, but a harmless one
      relax(of, step, {own.first, (own.first + own.end) / 2}, thread, threads);
#endif
      return;
    }
#if defined(GPUSYNC_THREAD_SANITIZER)  // what it has read, the others may overwrite before it wakes: as harmless
    if (happens != fate::sleeps)
#endif
    {
      relax(of, step, own, thread, threads);
    }
    if (happens == fate::sleeps) nap();
    barrier.arrive();
    if (happens == fate::dies_after_arrival) return;
    phase_outcome outcome = barrier.wait(patience);
    for (bool again = false; outcome == phase_outcome::members_lost; again = true) {
      redo_lost_rows(barrier, of, step, again, notes + self * barrier.blocks(), thread, threads);
      outcome = barrier.arrive_and_wait(patience);
    }
    if (outcome == phase_outcome::removed) {
      if (thread == 0) notes[self * barrier.blocks() + self].told_removed = 1;
      return;
    }
  }
}

}  // namespace lost_blocks
