// Who has arrived: kept by every barrier so that a wait which is cut short can name the blocks that it waited for.
#pragma once

#include <gpusync/core/config.hpp>
#include <gpusync/core/misuse.hpp>
#include <gpusync/core/ordering.hpp>

namespace gpusync {

/// What the first block whose deadline passed leaves behind. Lives where the host can read it while a kernel runs
/// (on CUDA: mapped host memory), followed by the list of missing blocks.
struct timeout_report {
  uint32_t written;  ///< 0: nothing happened; timed_out: the rest is complete; abandoned: a launch ended in a phase
  uint32_t phase;    ///< the barrier call that was waited in, counted from 0 at the start of the launch
  uint32_t missing_count;  ///< entries of the list
  misuse reason;           ///< why the kernel was ended, if it was
  uint32_t culprit;        ///< the block that did it
  uint32_t detail;         ///< see misuse
  uint32_t capacity;       ///< of the storage; written by the host
  uint32_t gpus;           ///< how many the barrier joins, 0 if it is one grid's; written by the host
  uint32_t told;           ///< not 0: another GPU had lost a phase before, whose own report says more
  uint32_t counter;        ///< of a wait for a dependency counter: its number and 1; then `phase` is an epoch
  uint32_t published;      ///< the publishes of the epoch that it had got,
  uint32_t expected;       ///< of so many
  uint32_t silent[4];      ///< a bit for each GPU of which no block had arrived or been seen in the launch

  static constexpr uint32_t timed_out = 1;  ///< for `written`
  static constexpr uint32_t abandoned = 2;  ///< for `written`
  /// In an entry of the list, beside the block: it has come to its kernel.
  static constexpr uint32_t started = 1u << 31;
  /// In an entry of the list of a barrier across GPUs, the bits of the block; above them is the rank of its GPU.
  static constexpr uint32_t block_bits = 24;
  /// In their place: the blocks of that GPU cannot be looked for from where the report was written.
  static constexpr uint32_t unknown_block = (1u << block_bits) - 1;

  /// Whether no block of that GPU had arrived or been seen in the launch.
  GPUSYNC_HD bool is_silent(uint32_t gpu) const { return (silent[gpu / 32] >> gpu % 32 & 1u) != 0; }

  /// The list, `missing_count` entries behind the report itself: blocks, with `started` or without. See bytes().
  GPUSYNC_HD uint32_t* missing() { return reinterpret_cast<uint32_t*>(this + 1); }
  /// The same for readers.
  GPUSYNC_HD const uint32_t* missing() const { return reinterpret_cast<const uint32_t*>(this + 1); }
  /// Bytes for a report on a grid of up to `blocks` blocks.
  GPUSYNC_HD static constexpr size_t bytes(uint32_t blocks) {
    return sizeof(timeout_report) + sizeof(uint32_t) * blocks;
  }
};

/// What the two words of a place in an arrival log hold.
struct entry_in_log {
  uint32_t arrived;  ///< see arrival_log
  uint32_t entered;  ///< see arrival_log

  /// Reads them.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static entry_in_log at(Grid, const uint32_t* arrived, const uint32_t* entered) {
    using memory = typename Grid::memory;
    return {memory::template load<memory_order::relaxed, scope::system>(arrived),
            memory::template load<memory_order::relaxed, scope::system>(entered)};
  }
};

/// One word per member of a barrier, stored when its wait turns out long (or when it arrives and goes on to work of its
/// own), and the report.
///
/// Cost: none for waits that are soon over. Storage: 8 bytes per block and 4 more.
///
/// A member's word keeps the stamp of a phase (see the algorithms' stamp()). Stamps come back after 2^15 phases or
/// more, so a block that waited long in an earlier launch on the same storage, and never arrives in this one, is
/// overlooked if exactly that many phases lie between.
///
/// At system scope, for a barrier's blocks may be on several devices.
struct arrival_log {
  /// 0 until a phase is lost: then the blocks of this grid that timed out, and one_elsewhere for each other grid of the
  /// barrier that said so.
  uint32_t* claimed = nullptr;
  uint32_t* arrived = nullptr;  ///< by place: the stamp of the last arrival that was noted
  uint32_t* entered = nullptr;  ///< by place: the stamp of the first phase of the last launch that the block entered;
                                ///< before that 0, or what Algorithm::stamps_wrap says
  timeout_report* report = nullptr;  ///< what the host reads

  static constexpr uint32_t one_elsewhere = 1u << 16;  ///< see `claimed`

  /// Notes that the member at `place` has arrived in the phase stamped `stamp` (never 0).
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void mark(Grid grid, uint32_t place, uint32_t stamp) const {
    Grid::memory::template store<memory_order::relaxed, scope::system>(grid.opaque(arrived) + place, stamp);
  }

  /// Notes that the member at `place` has entered a launch whose first phase has this stamp.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void mark_entry(Grid grid, uint32_t place, uint32_t stamp) const {
    Grid::memory::template store<memory_order::relaxed, scope::system>(grid.opaque(entered) + place, stamp);
  }

  /// Whether a phase has been given up since the storage was reset.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t lost(Grid grid) const {
    return Grid::memory::template load<memory_order::relaxed, scope::system>(grid.opaque(claimed));
  }

  /// The same, asked by one thread of the block; the others get 0.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t lost_to_block([[maybe_unused]] Grid grid) const {
    if constexpr (Grid::may_lose_phases) return grid.thread() == 0 ? lost(grid) : 0;
    return 0;
  }

  /// Called by every thread of a block whose wait timed out in the phase stamped `stamp`, the launch's `phase`-th: the
  /// first thread of the launch that comes here writes the report. A member that has gone on to the next phase, stamped
  /// `next_stamp`, is not missing: the last one came while the report was written. Nobody can be further, for the
  /// reporter has not arrived there. Members: which blocks take part, see grid/members.hpp.
  ///
  /// Of each missing block the report says whether it has been seen in this launch. In any phase but the first it has,
  /// for the phase before could not end without it; in the first it has if it called enter().
  /// all_seen: that it has been seen of all is known, as in a later phase.
  /// Effects on others: from now on the phase counts as lost, see lost().
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Members>
  GPUSYNC_HD void report_missing(Grid grid, const Members& who, uint32_t stamp, uint32_t next_stamp, uint32_t phase,
                                 bool all_seen = false) const {
    report_late(
        grid, who.places(grid), phase,
        [&](uint32_t place) -> presence {
          if (!who.takes_part(grid, place)) return {0, false, true, false};
          const entry_in_log found = who.in_log(grid, *this, place);
          const bool late = found.arrived != stamp && found.arrived != next_stamp;
          const bool seen = !late || all_seen || phase != 0 || found.entered == stamp;
          return {who.block_at(grid, place), true, late, seen};
        },
        [&] { who.tell_others(grid); });
  }

  /// What report_late() asks of one that may be missing.
  struct presence {
    uint32_t block;  ///< its number
    bool counts;     ///< it was waited for
    bool late;       ///< it has not come
    bool seen;       ///< in this launch
  };

  /// The same for waits that know themselves who has come: `find(i)` says it of the i-th of `count`. `done()` is called
  /// once the report is written.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Find, class Done>
  GPUSYNC_HD void report_late(Grid grid, uint32_t count, uint32_t phase, Find&& find, Done&& done) const {
    uint32_t claims = 0;
    if (!claim_report(grid, claims)) return;
    write_report(grid, claims, count, phase, find);
    done();
  }

  /// Says that the calling thread has given up: whether it is the one that writes the report. `claims`: for that.
  /// Effects on others: from now on the phase counts as lost, see lost().
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool claim_report(Grid, uint32_t& claims) const {
    claims = Grid::memory::template fetch_add<memory_order::relaxed, scope::system>(claimed, 1u);
    if (claims % one_elsewhere != 0) return false;
    // One grid's threads may be more than that.
    return claims == 0 || Grid::memory::template load<memory_order::relaxed, scope::system>(&report->gpus) != 0;
  }

  /// Before write_report(): which dependency counter was waited for, and what it had got.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void note_counter(Grid, uint32_t number, uint32_t published, uint32_t expected) const {
    using memory = typename Grid::memory;
    memory::template store<memory_order::relaxed, scope::system>(&report->counter, number + 1);
    memory::template store<memory_order::relaxed, scope::system>(&report->published, published);
    memory::template store<memory_order::relaxed, scope::system>(&report->expected, expected);
  }

  /// The report, by the one whose it is.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Find>
  GPUSYNC_HD void write_report(Grid, uint32_t claims, uint32_t count, uint32_t phase, Find&& find) const {
    using memory = typename Grid::memory;
    const uint32_t gpus = memory::template load<memory_order::relaxed, scope::system>(&report->gpus);
    uint32_t missing = 0, gpu = 0, silent = 0;
    bool heard = false;
    // Those of one GPU after the other; a word is written when the last of its GPUs has been looked at.
    const auto go_on_to = [&](uint32_t next) {
      GPUSYNC_UNROLL(1)
      for (; gpu < next; ++gpu, heard = false) {
        if (!heard) silent |= 1u << gpu % 32;
        if (gpu % 32 != 31 && gpu + 1 != gpus) continue;
        memory::template store<memory_order::relaxed, scope::system>(report->silent + gpu / 32, silent);
        silent = 0;
      }
    };
    GPUSYNC_UNROLL(1)
    for (uint32_t i = 0; i < count; ++i) {
      const presence one = find(i);
      if (!one.counts) continue;
      if (gpus != 0) go_on_to(one.block >> timeout_report::block_bits);
      if (one.late) {
        memory::template store<memory_order::relaxed, scope::system>(
            report->missing() + missing, one.block | (one.seen ? +timeout_report::started : 0u));
        ++missing;
      }
      heard = heard || one.seen;
    }
    go_on_to(gpus);
    memory::template store<memory_order::relaxed, scope::system>(&report->told, claims);
    memory::template store<memory_order::relaxed, scope::system>(&report->phase, phase);
    memory::template store<memory_order::relaxed, scope::system>(&report->missing_count, missing);
    memory::template store<memory_order::release, scope::system>(&report->written, +timeout_report::timed_out);
  }
};

}  // namespace gpusync
