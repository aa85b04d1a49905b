// What a grid barrier's algorithm is: the list of its members, and what those are that it need not have.
#pragma once

#include <gpusync/core/config.hpp>
#include <gpusync/core/ordering.hpp>

namespace gpusync {

namespace detail {

/// For algorithms that are given nothing with a kernel besides their words.
struct no_places {};

}  // namespace detail

namespace grid {

/// @page Algorithm
/// How the members of a grid barrier wait for each other: a struct without data, derived from algorithm_defaults.
/// Memory is touched through Grid::memory only, the block through `grid` only, and who takes part is said by `who`, not
/// by grid.block(): then host threads, sanitizers, the explorer and mutants see the text that ships. Besides the
/// members that have defaults there, it has
/// - `order`, `family`: its ordering and its name; see name_of() in registry.hpp
/// - `max_blocks`: a storage for more members is refused
/// - `words(blocks)`: 32-bit words of shared state for so many members
/// - `start_at(words, blocks, phase)`: makes fresh words, which are zero, those of phase `phase` (modulo its width), so
///   that tests can start before a wrap
/// - `token`: proof of an arrival, moved to wait()
/// - `stamp(token)`, `next_stamp(token)`: marks of the arrival's phase and of the next, never 0 without `stamps_wrap`,
///   the same in all blocks; the second only if `bounded`
/// - `state`: a thread's own part, value-initializable
///
/// and these, which all threads of a block call together:
/// - `join(grid, words, who)`: the state of a thread of member who.rank of who.count, before the block's first arrival
///   in a launch and whenever the members have changed
/// - `upcoming(state)`: the token of the phase to come; only if `bounded`
/// - `arrive(grid, words, state)`: says that the block is here: release_block<Order>(grid) first (ordered.hpp)
/// - `wait(grid, words, state, token, context)`: polls with poll_until(…, context), which notes long waits and looks at
///   deadlines; ends with sync_block_status(grid, status, context)

/// What most algorithms are: the base of all. An algorithm that differs says so in a member of the same name. Fulfils
/// @ref Algorithm with what derives from it.
struct algorithm_defaults {
  /// Waits can carry a deadline.
  static constexpr bool bounded = true;
  /// Other blocks' waits end only if this one calls wait() too.
  static constexpr bool wait_needed_by_others = false;
  /// The name ends with the ordering, for there are several.
  static constexpr bool has_orderings = true;
  /// It joins nothing but whole grids of whole blocks: no parts, no early leaving, no proxy.
  static constexpr bool whole_grid_only = false;
  /// A phase's stamp is its number and 1, modulo 2^32: then what nobody has entered is marked by the number of the
  /// first phase, not by 0.
  static constexpr bool stamps_wrap = false;
  /// It means something in launches in clusters only.
  static constexpr bool for_clusters = false;
  /// It keeps what barriers promise. Not so: the texts of 2010.
  static constexpr bool safe = true;
  /// There is a form of its own for a block that waits as soon as it has arrived: arrive_fused(grid, words, state),
  /// wait_fused(grid, words, state, token, context), and settle(state), which makes of what join() has found what a
  /// phase leaves behind.
  static constexpr bool has_fused_form = false;
  /// Its phases can bring a vote or a sum along (votes.hpp): each line of counters has two vote_words as well, and
  /// there are, of a state, vote_adds(grid, state) and vote_polls(grid, state): whether this thread does, the first
  /// threads of a warp, or the block's first 1, 2, 4 or 8; vote_first(grid, state): whether it is the block's first,
  /// which polls; vote_added(words, state) and vote_polled(words, state): the first vote_word of its line; `step`: what
  /// it adds to a phase_word; vote_drain<Grid>(state) and vote_backoff<AtOnce>(state): what a wait right after the
  /// arrival does before it polls; vote_adds_at_once(grid, state): whether this thread adds where that need not wait
  /// for the block, with the same vote_added() and `step`; and vote_lanes(state): a bit for each thread that does, the
  /// first ones of the first warp. vote_adds() holds for exactly as many, the first ones of their warp: they wait for
  /// each other.
  static constexpr bool has_votes = false;
  /// Something besides the words travels with every kernel: `places`, made by places_in(words). Then the state is found
  /// by find<Foremost>(grid, places, who) instead of join(), and there is arrive_first<Foremost>(grid, places, who,
  /// state, log, lost) for a block that has not joined yet: see placed_counters.
  static constexpr bool has_places = false;
  /// What that is.
  using places = detail::no_places;
  /// For a barrier whose memory begins at `words`.
  GPUSYNC_HD static places places_in(uint32_t*) { return {}; }
};

}  // namespace grid

}  // namespace gpusync
