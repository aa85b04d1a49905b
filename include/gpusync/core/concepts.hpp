// The two things that barriers and phased grids are written in, each said once: a Memory and a Grid. What a kernel's
// machine lacks is found when it is compiled, by is_memory and is_grid.
#pragma once

#include <gpusync/core/arrival_log.hpp>

namespace gpusync {

/// @page Memory
/// A type with static functions, by which alone threads of different blocks reach shared words, of 32 bits at least.
/// Each names its memory_order and its scope.
/// - `load<Order, Scope>(address)`: the word. relaxed or acquire
/// - `store<Order, Scope>(address, value)`: relaxed or release
/// - `fetch_add<Order, Scope>(address, value)`: adds, and returns what the word held before. All but seq_cst
/// - `fetch_add_both<Order, Scope>(first, second, value)`: the same on two words, in any order: two_words. relaxed or
///   release
/// - `add<Order, Scope>(address, value)`: adds, and waits for nothing. relaxed or release
/// - `acquire<Scope>(address)`: makes visible what was released before the value last read from `address` was written
/// - `fence<Scope>()`: orders all of the thread's accesses before it with all behind it
/// - `drain(times)`: waits until the thread's writes are performed (times: 0 or 1). Orders nothing; may do nothing

/// @page Grid
/// What a thread of a running kernel knows and can ask: small, copied freely, not shared between threads. All threads
/// of a block call the functions whose names begin with sync_, prepare_timeout_flag() and separate_timeout_flags()
/// together.
/// - `memory`: a Memory
/// - `polls_per_look`: after so many polls of a word a wait counts as long, and then looks at the clock and at the
///   arrival log as often
/// - `warp_size`: threads that execute together
/// - `whole_block`: whether "the block" is all threads of a block, and not some of its warps
/// - `current()`: the grid of the calling thread, if whole_block
/// - `valid()`: whether these warps can act for their block, if not whole_block
/// - `may_lose_phases`: whether a launch may come upon a phase that was given up; then barriers look for one
/// - `handle_per_thread`: whether launches make a handle for each thread
/// - `blocks()`, `block()`: how many blocks the grid has, and which one is calling, from 0
/// - `threads()`, `thread()`: the same of the threads of the block
/// - `sync_block()`: waits for all threads of the block and orders their accesses, at block scope
/// - `sync_block_or(value)`: the same; whether `value` was true in one of them
/// - `prepare_timeout_flag()`: once, before the first sync_block_any() of a barrier: the flag, not 0, to give to
///   raise_timeout_flag() and sync_block_any()
/// - `separate_timeout_flags()`: before a wait that may raise a flag, if no sync_block() stands between it and an
///   earlier wait
/// - `raise_timeout_flag(flag)`: a thread that gives up
/// - `sync_block_any(value, flag)`: sync_block(); whether a thread has raised the flag, as one does
///   whose `value` is true
/// - `sm_id()`: the multiprocessor that runs the block
/// - `opaque(pointer)`, `opaque(value)`: the argument, about which the compiler then knows nothing
/// - `pick(values, index)`: values[index], for arrays among a kernel's parameters
/// - `delay(cycles)`: lets that many cycles pass; may do nothing
/// - `cycles()`: of the same clock, so far; 0 if delay() does nothing
/// - `delay_until(cycles)`: until cycles() has come so far; may do nothing
/// - `now()`: nanoseconds of a clock that all blocks share
/// - `pause()`: between two polls
/// - `has_named_barriers`, `warps_of_block`: what pace asks for besides: whether there is
///   `sync_named<number>(threads)`, at which parts of a block meet, and the warps of a block as the members of a small
///   grid, with `memory`, `blocks()`, `block()`, `threads()`, `thread()`, `sync_block()`, `now()` and `pause()`
/// - `sync_block_count(value)`, `shared_words()`, `share(words, index, value)`, `shared(words, index)`: what votes ask
///   for besides: sync_block() that returns in how many threads `value` was true; and ten words that a block's threads
///   share (nine where warps are single threads), where they are, a write and a read of one, which a sync_block() must
///   part
/// - `first_value(takes, lanes, value)`, `sum_of_first(count, value)`: the same of grids whose warps have several
///   threads: in those of the first warp's first threads that take it, each with a bit in `lanes`, the `value` of the
///   block's first thread, where all threads call it; and in the block's first `count` threads (1, 2, 4 or 8), all of
///   which call it, the sum of their values
/// - `share_alike(words, index, value)`, `count_shared(words, index, value)`, `clear_shared(words, index, lanes)`: of
///   these grids, too: share() by several threads, who write the same; one more in a word for each thread whose `value`
///   is true; and 0 in it, by the first threads of a warp, all of those with a bit in `lanes`, once they have read it
/// - `fail(report, reason, detail)`: ends the launch for a broken contract, which it leaves in the report, if that is
///   not null; does not return

namespace detail {

template <class T>
GPUSYNC_HD T thing();

template <class...>
struct made_void {
  using type = void;
};
template <class... Types>
using void_type = typename made_void<Types...>::type;

template <class Memory, class = void>
struct memory_words {
  static constexpr bool value = false;
};
template <class Memory>
struct memory_words<
    Memory,
    void_type<decltype(Memory::template load<memory_order::acquire, scope::device>(thing<const uint32_t*>()) + 0u),
              decltype(Memory::template store<memory_order::release, scope::device>(thing<uint32_t*>(), 0u)),
              decltype(Memory::template fetch_add<memory_order::acq_rel, scope::device>(thing<uint32_t*>(), 0u) + 0u),
              decltype(Memory::template fetch_add_both<memory_order::release, scope::device>(thing<uint32_t*>(),
                                                                                             thing<uint32_t*>(), 0u)
                           .second),
              decltype(Memory::template add<memory_order::release, scope::device>(thing<uint32_t*>(), 0u)),
              decltype(Memory::template acquire<scope::device>(thing<const uint32_t*>())),
              decltype(Memory::template fence<scope::device>()), decltype(Memory::drain(0u))>> {
  static constexpr bool value = true;
};

/// What only one of the two kinds of grids has.
template <class Grid, bool WholeBlock, class = void>
struct grid_origin {
  static constexpr bool value = false;
};
template <class Grid>
struct grid_origin<Grid, true, void_type<decltype(Grid::current().block())>> {
  static constexpr bool value = true;
};
template <class Grid>
struct grid_origin<Grid, false, void_type<decltype(!thing<const Grid&>().valid())>> {
  static constexpr bool value = true;
};

template <class Grid, class = void>
struct grid_words {
  static constexpr bool value = false;
};
template <class Grid>
struct grid_words<
    Grid,
    void_type<decltype(Grid::polls_per_look + Grid::warp_size), decltype(!Grid::may_lose_phases),
              decltype(!Grid::handle_per_thread),
              decltype(thing<const Grid&>().blocks() + thing<const Grid&>().block() + thing<const Grid&>().threads() +
                       thing<const Grid&>().thread() + thing<const Grid&>().sm_id() + 0u),
              decltype(thing<const Grid&>().sync_block()), decltype(!thing<const Grid&>().sync_block_or(true)),
              decltype(thing<const Grid&>().prepare_timeout_flag() + 0u),
              decltype(thing<const Grid&>().separate_timeout_flags()),
              decltype(thing<const Grid&>().raise_timeout_flag(1u)),
              decltype(!thing<const Grid&>().sync_block_any(true, 1u)),
              decltype(*thing<const Grid&>().opaque(thing<uint32_t*>()) + thing<const Grid&>().opaque(1u) + 0u),
              decltype(thing<const Grid&>().pick(thing<const uint32_t (&)[4]>(), 0u) + 0u),
              decltype(thing<const Grid&>().delay(1u)), decltype(thing<const Grid&>().cycles() + uint64_t{0}),
              decltype(thing<const Grid&>().delay_until(uint64_t{1})),
              decltype(thing<const Grid&>().now() + uint64_t{0}), decltype(thing<const Grid&>().pause()),
              decltype(thing<const Grid&>().fail(thing<timeout_report*>(), misuse::none, 0u))>> {
  static constexpr bool value =
      memory_words<typename Grid::memory>::value && grid_origin<Grid, Grid::whole_block>::value;
};

}  // namespace detail

/// Whether a type has what a Memory has.
template <class T>
inline constexpr bool is_memory = detail::memory_words<T>::value;

/// Whether a type has what a Grid has, its memory included.
template <class T>
inline constexpr bool is_grid = detail::grid_words<T>::value;

}  // namespace gpusync
