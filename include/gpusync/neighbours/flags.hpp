// Flags between neighbours: how a neighbour barrier waits.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>

namespace gpusync {

namespace detail {

/// Where the flags of a neighbourhood lie, and who looks at which.
struct neighbour_places {
  uint32_t* flags = nullptr;        ///< of block b: word b * line_words, the number of phases that it has arrived in
  const uint32_t* table = nullptr;  ///< slots of block 0, of block 1, …
  uint32_t slots = 0;               ///< of each block
  uint32_t blocks = 0;              ///< that the table is of
  uint32_t poll_backoff = 0;        ///< cycles from an arrival to the first poll

  static constexpr uint32_t none = ~0u;  ///< in a slot without a neighbour

  GPUSYNC_HD uint32_t* flag(uint32_t block) const { return flags + size_t{block} * line_words; }
  /// The neighbours of a block.
  GPUSYNC_HD const uint32_t* row(uint32_t block) const { return table + size_t{block} * slots; }
};

/// A block's neighbours, which it names when it has waited in vain. Fulfils @ref Members; its places are slots.
class neighbour_blocks : public members_of_one_grid {
 public:
  static constexpr bool may_drop = false;

  GPUSYNC_HD explicit neighbour_blocks(const neighbour_places& at = {}) : at_(at) {}

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD membership of(Grid grid) const {
    // In a smaller grid nobody is a member, too: it would wait for blocks that are not there.
    return {grid.block(), grid.blocks() == at_.blocks ? grid.blocks() : ~0u};
  }
  /// In the log of long waits each block has a place of its own.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t place(Grid grid) const {
    return grid.block();
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t places(Grid) const {
    return at_.slots;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t block_at(Grid grid, uint32_t slot) const {
    return at_.row(grid.block())[slot];
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool takes_part(Grid grid, uint32_t slot) const {
    const uint32_t* const row = at_.row(grid.block());
    if (row[slot] == neighbour_places::none) return false;
    GPUSYNC_UNROLL(1)
    for (uint32_t before = 0; before < slot; ++before) {
      if (row[before] == row[slot]) return false;  // each is named once
    }
    return true;
  }
  /// A block's flag says itself how far it has come.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD entry_in_log in_log(Grid grid, const arrival_log& log, uint32_t slot) const {
    const uint32_t block = block_at(grid, slot);
    return entry_in_log::at(grid, at_.flag(block), log.entered + block);
  }

 private:
  neighbour_places at_;
};

}  // namespace detail

namespace grid {

/// Each block stores the number of its phase in a flag of its own, and looks at those of its neighbours. No
/// read-modify-write, no word that all share.
///
/// A block that has passed phase e has seen each neighbour arrive in it, so it is at most one phase ahead of a
/// neighbour, and d phases ahead of a block at distance d. The order goes as far: after e phases a block has seen what
/// blocks at distance e wrote before the first. That is why a flag counts when it has come to the phase or is beyond
/// it, and why two buffers in turn need no second wait: to write to a buffer again a block must have passed the phase
/// in which its neighbours arrived behind their reading.
///
/// Preconditions: the neighbours are mutual; all blocks run at once. Progress: that of the neighbours.
/// Cost: per block one store with release and, by as many threads as it has neighbours, polls of a word each; one hop.
/// Storage: a line of 128 bytes for each block.
struct neighbour_flags : algorithm_defaults {
  static constexpr ordering order = ordering::acquire_release;
  static constexpr const char* family = "neighbour";
  static constexpr bool has_orderings = false;
  static constexpr bool has_places = true;
  static constexpr bool whole_grid_only = true;
  static constexpr bool stamps_wrap = true;
  static constexpr uint32_t max_blocks = 1u << 20;

  using places = gpusync::detail::neighbour_places;

  /// Phases in which the block will have arrived with this one, modulo 2^32.
  using token = uint32_t;

  struct state {
    uint32_t goal;            ///< of the phase to come
    uint32_t* own;            ///< the block's flag, in the thread that stores to it; else null
    const uint32_t* poll_at;  ///< a neighbour's flag; null: this thread polls none
    const uint32_t* slot;     ///< of that neighbour
    uint32_t further;         ///< slots from there on, of a block of fewer threads than slots; else 0
    uint32_t poll_backoff;    ///< cycles before the first poll
  };

  GPUSYNC_HD static constexpr size_t words(uint32_t blocks) { return size_t{blocks} * gpusync::detail::line_words; }
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t blocks, uint32_t phase) {
    for (uint32_t block = 0; block < blocks; ++block) words[size_t{block} * gpusync::detail::line_words] = phase;
  }
  /// Without a table: nobody waits for anybody. The storage gives the table.
  GPUSYNC_HD static places places_in(uint32_t* words) {
    places at;
    at.flags = words;
    return at;
  }

  GPUSYNC_HD static uint32_t stamp(token of) { return of; }
  GPUSYNC_HD static uint32_t next_stamp(token of) { return of + 1; }
  GPUSYNC_HD static token upcoming(const state& own) { return own.goal; }

  /// A block's part, and the phase that it is in, as its own flag says.
  GPUSYNC_API_TEMPLATE
  template <bool Foremost, class Grid>
  GPUSYNC_HD static state find(Grid grid, const places& at, membership who) {
    state own{};
    uint32_t* const flag = at.flag(who.rank);
    // Not the thread that polls first, where there is another warp: it would wait for its own release.
    if (grid.thread() == (grid.threads() > Grid::warp_size && Grid::warp_size > 1 ? Grid::warp_size : 0))
      own.own = flag;
    own.poll_backoff = at.poll_backoff;
    if (grid.thread() < at.slots) {
      own.slot = at.row(who.rank) + grid.thread();
      own.further = at.slots > grid.threads() ? at.slots - grid.thread() : 0;
      own.poll_at = *own.slot == places::none ? nullptr : at.flag(*own.slot);
    }
    own.goal = Grid::memory::template load<memory_order::relaxed, scope::device>(flag) + 1;
    return own;
  }

  /// find() and arrive() in one. `lost`: what `log` then knows of a lost phase.
  GPUSYNC_API_TEMPLATE
  template <bool Foremost, class Grid>
  GPUSYNC_HD static token arrive_first(Grid grid, const places& at, membership who, state& own, const arrival_log& log,
                                       uint32_t& lost) {
    own = find<Foremost>(grid, at, who);
    const token arrived = arrive(grid, at.flags, own);
    lost = log.lost_to_block(grid);
    return arrived;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t*, state& own) {
    release_block<order>(grid);
    const token goal = own.goal++;
    if (own.own != nullptr) Grid::memory::template store<publishes<order>, scope::device>(own.own, goal);
    return goal;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, uint32_t* words, const state& own, token goal, Context& context) {
    const auto reached = [goal](uint32_t flag) { return phase_reached(flag, goal); };
    wait_status status = wait_status::completed;
    // Asked before the polls: the whole block waits for what comes behind them.
    if (__builtin_expect(own.further != 0, 0)) {
      status = wait_in_turn(grid, words, own, goal, context);
    } else if (own.poll_at != nullptr) {
      grid.delay(own.poll_backoff);
      status = poll_until<sees<order>, scope::device>(grid, own.poll_at, reached, context);
    }
    return sync_block_status(grid, status, context);
  }

 private:
  /// For blocks of fewer threads than there are neighbours: the slots of this thread, one after the other. State and
  /// context are copies, or they would lie in memory.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD GPUSYNC_COLD static wait_status wait_in_turn(Grid grid, const uint32_t* words, state own, token goal,
                                                          Context context) {
    wait_status status = wait_status::completed;
    grid.delay(own.poll_backoff);
    GPUSYNC_UNROLL(1)
    for (uint32_t i = 0; i < own.further && status == wait_status::completed; i += grid.threads()) {
      if (own.slot[i] == places::none) continue;
      status = poll_until<sees<order>, scope::device>(
          grid, words + size_t{own.slot[i]} * gpusync::detail::line_words,
          [goal](uint32_t flag) { return phase_reached(flag, goal); }, context);
    }
    return status;
  }
};

}  // namespace grid

}  // namespace gpusync
