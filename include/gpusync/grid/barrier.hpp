// The front door to the grid barriers: what a kernel holds in its hand.
#pragma once

#include <gpusync/core/concepts.hpp>
#include <gpusync/core/handle.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/votes.hpp>

namespace gpusync {

namespace detail {

/// What a storage gives to a barrier; the same for all threads of all blocks.
template <class Algorithm>
struct barrier_argument {
  handle_header header;
  typename Algorithm::places places;
  uint32_t capacity;  ///< the most members
  uint32_t* words;
  arrival_log log;
};

/// Where a barrier's grid comes from: a block finds its own when it asks; a view of some of its warps is kept.
template <class Grid, bool WholeBlock = Grid::whole_block>
class grid_source {
 public:
  GPUSYNC_API Grid operator()() const { return Grid::current(); }
};
template <class Grid>
class grid_source<Grid, false> {
 public:
  GPUSYNC_HD explicit grid_source(Grid view) : view_(view) {}
  GPUSYNC_HD Grid operator()() const { return view_; }

 private:
  Grid view_;
};

}  // namespace detail

/// A barrier that joins blocks of one running grid. The parameter of a kernel, by value; whatever the kernel calls
/// takes it by reference (`grid_barrier& barrier`), for it cannot be copied. It stays valid as long as the storage that
/// made it.
///
/// All threads of a block call each function together, and all members pass through the same sequence of phases.
/// Between arrive() and wait() a block may do work of its own that needs nothing from the other blocks.
///
/// The number of members may differ from launch to launch, up to the storage's capacity. One storage serves one running
/// kernel at a time, through one handle; kernels that follow each other in a stream share it freely.
///
/// What breaks the contract and can be seen ends the launch instead of corrupting the barrier (see misuse): a call by a
/// block that is no member, a second arrival before the wait for the first, a token waited for twice, a wait without a
/// deadline after a phase was given up. On the host the launch throws; on a GPU it fails, and the CUDA context with it,
/// and the storage has the reason (storage.report()).
///
/// Algorithm: one of namespace grid, e.g. grid::lock_based<>. Grid: cuda_grid or host_grid. Members: whole_grid,
/// block_range (a part of the grid) or dropping_blocks (blocks may leave early).
template <class Algorithm, class Grid, class Members = whole_grid>
class basic_grid_barrier : public detail::passed_by_reference<basic_grid_barrier<Algorithm, Grid, Members>>,
                           public grid_votes<basic_grid_barrier<Algorithm, Grid, Members>, Algorithm, Grid, Members> {
  static_assert(is_grid<Grid>, "a Grid has what core/concepts.hpp says");

 public:
  /// How its blocks wait for each other.
  using algorithm = Algorithm;
  /// Which blocks it joins.
  using members = Members;

  /// Of votes: sync_or(), sync_count(), sync_add() and their other forms.
  using votes = grid_votes<basic_grid_barrier, Algorithm, Grid, Members>;
  using votes::wait;
  using votes::wait_for;

  /// What a storage makes it from.
  using argument = detail::barrier_argument<Algorithm>;

  /// Proof of arrival in one phase; to be given to wait() or wait_for() once, by the same thread, before the block
  /// arrives again. Dropped, it leaves an arrival that nobody waits for: the block's next call ends the launch.
  /// Should there be no such call, nothing is seen of it, and the arrival counts for the first phase of the next
  /// launch: wait for every token before the kernel ends.
  class [[nodiscard]] arrival_token {
   public:
    GPUSYNC_HD arrival_token(arrival_token&& other) noexcept
        : value_(static_cast<typename Algorithm::token&&>(other.value_)),
          first_(other.first_),
          lost_(other.lost_),
          of_(other.of_),
          spent_(other.spent_) {
      other.spent_ = true;
    }
    arrival_token(const arrival_token&) = delete;
    arrival_token& operator=(const arrival_token&) = delete;

   private:
    friend class basic_grid_barrier;
    GPUSYNC_API arrival_token(typename Algorithm::token&& value, const uint32_t* of)
        : value_(static_cast<typename Algorithm::token&&>(value)), of_(of) {}
    typename Algorithm::token value_;
    bool first_ = false;  ///< of the phases since the block joined: the wait looks whether a phase was lost before
    uint32_t lost_ = 0;   ///< what it looks at
    const uint32_t* of_;  ///< the words of its barrier
    bool spent_ = false;  ///< waited for, or moved from
  };

  /// Use the storage's barrier() instead.
  GPUSYNC_HD explicit basic_grid_barrier(const argument& given, Members who = Members()) : given_(given), who_(who) {
    if constexpr (Grid::handle_per_thread) standing_ = standing::original;
  }
  /// A view of some warps: use on().
  GPUSYNC_HD basic_grid_barrier(const argument& given, Members who, Grid view)
      : given_(given), who_(who), grid_(view) {}
  /// For launches on host threads: what one thread of `original`'s kernel gets.
  GPUSYNC_HD basic_grid_barrier(detail::for_one_thread, const basic_grid_barrier& original)
      : given_(original.given_), who_(original.who_) {}

  /// The most members that the storage behind this barrier serves.
  GPUSYNC_HD uint32_t capacity() const { return given_.capacity; }
  /// The report of the storage behind this barrier, readable by the host.
  GPUSYNC_HD const timeout_report* report() const { return given_.log.report; }
  /// Which blocks it joins.
  GPUSYNC_HD const Members& who() const { return who_; }
  /// What the storage gave, for handles that have a barrier in them.
  GPUSYNC_HD const argument& given() const { return given_; }
  /// How a launch finds the storage.
  GPUSYNC_HD const detail::handle_header& header() const { return given_.header; }
  /// Phases that the block has passed in this launch.
  GPUSYNC_HD uint32_t phase() const { return phase_; }
  /// 0 and 1 in turn: which of two buffers is to be written before the next wait, and read after it. Two suffice, for
  /// no block writes to a buffer again before all that wait for it have passed another phase, behind their reading.
  GPUSYNC_HD uint32_t parity() const { return phase_ & 1u; }

  /// The same barrier for another view of the calling threads: some warps that act for their block (cuda_warps_grid).
  /// Before the first phase; from then on the view is used, and this barrier not, or the launch ends.
  GPUSYNC_API_TEMPLATE
  template <class OtherGrid>
  GPUSYNC_HD basic_grid_barrier<Algorithm, OtherGrid, Members> on(OtherGrid view) {
    static_assert(OtherGrid::whole_block || !Algorithm::whole_grid_only,
                  "this algorithm joins nothing but whole blocks: some of their warps cannot act for them");
    if (standing_ == standing::original) refuse(view, given_.log.report, standing_, 0);
    if (standing_ != standing::fresh || phase_ != 0) view.fail(given_.log.report, misuse::lent, 0);
    if (!view.valid()) view.fail(given_.log.report, misuse::bad_view, view.threads());
    standing_ = standing::lent;
    return {given_, who_, view};
  }

  /// Does now what the block's first arrival would do, finds the block's part in the barrier and the phase that it is
  /// in, and says that the block is here: a report of a time-out in the first phase tells it from one that was never
  /// seen. Need not be called. Before a loop of phases it keeps this out of the loop's code, which is worth a few
  /// registers and instructions, and costs a round trip to memory that the first arrival would hide. Not between
  /// arrive() and wait(). After a phase was given up it ends the launch, as a wait without a deadline does.
  GPUSYNC_API void enter() {
    if (standing_ == standing::joined) return;
    Grid grid = grid_();
    const membership_of_phase found = join(grid, given_, who_, standing_, state_);
    state_ = found.state;
    note_entry(grid);
    if constexpr (watches_loss) {
      // Asked of the block: a branch that warps could part at would slow down the loop that follows.
      if (grid.sync_block_or(found.lost != 0)) refuse(grid, given_.log.report, standing::lost, 0);
    }
    standing_ = standing::joined;
  }

  /// The same for kernels whose waits carry deadlines. timed_out: a phase has been given up, by an earlier launch most
  /// likely; leave the kernel, as after sync_for().
  GPUSYNC_API wait_status try_enter() {
    require_bounded();
    if (standing_ == standing::joined) return wait_status::completed;
    if (standing_ == standing::lost) return wait_status::timed_out;
    Grid grid = grid_();
    const membership_of_phase found = join(grid, given_, who_, standing_, state_);
    state_ = found.state;
    standing_ = standing::joined;
    note_entry(grid);
    if constexpr (watches_loss) {
      if (settled<deadline>(grid, given_, found.lost) == wait_status::timed_out) {
        standing_ = standing::lost;
        return wait_status::timed_out;
      }
    }
    return wait_status::completed;
  }

  /// Says that this block has come to the end of its phase; does not wait for the others. The block owes the wait for
  /// the token before it arrives again, and may owe it to the others besides (Algorithm::wait_needed_by_others).
  GPUSYNC_API arrival_token arrive() {
    Grid grid = grid_();
    bool first = false;
    uint32_t lost = 0;
    if (standing_ != standing::joined) {
      const membership_of_phase found = join(grid, given_, who_, standing_, state_);
      state_ = found.state;
      lost = found.lost;
      first = true;
      if (found.how != standing::lost) settle(state_);
      if constexpr (watches_loss) {
        if (found.how == standing::lost) {
          standing_ = standing::lost;
          arrival_token none(typename Algorithm::token{}, given_.words);
          none.first_ = true;
          return none;
        }
      }
    }
    arrival_token token(Algorithm::arrive(grid, given_.words, state_), given_.words);
    token.first_ = first;
    token.lost_ = lost;
    standing_ = standing::waiting;
    if constexpr (Algorithm::bounded) {
      // The block may stay away from wait() for long: only this note tells it from a missing one.
      if (grid.thread() == 0) given_.log.mark(grid, who_.place(grid), Algorithm::stamp(token.value_));
    }
    return token;
  }

  /// Waits until every member has arrived in the token's phase.
  GPUSYNC_API void wait(arrival_token&& token) { (void)wait_split(token, no_deadline{}); }

  /// arrive() and wait().
  GPUSYNC_API void sync() { (void)sync_within(no_deadline{}); }

  /// As wait(), but gives up `span` after the first few polls have failed, which on a GPU is some ten microseconds
  /// after the call; and at once where a phase has been given up before, by this launch or by an earlier one. All
  /// threads of a block get the same answer.
  ///
  /// After timed_out the phase is lost and the barrier unusable until its storage is reset: leave the kernel. Another
  /// block may still pass this phase, if the last arrivals come at that very moment, but no block passes a later one:
  /// waits with a deadline answer timed_out, and one without ends the launch. The host finds the missing blocks in the
  /// storage. The first block to give up names them; a block that arrives in the last few microseconds before that may
  /// be named too.
  /// Cost: that of wait(), one read of shared memory (a word of static shared memory per block), and a block barrier.
  GPUSYNC_API wait_status wait_for(arrival_token&& token, timeout span) {
    require_bounded();
    return wait_split(token, deadline(span));
  }

  /// arrive() and wait_for(). Cost: that of sync() and one read of shared memory.
  GPUSYNC_API wait_status sync_for(timeout span) {
    require_bounded();
    return sync_within(deadline(span));
  }

  /// Arrives in this phase, and takes part in none after it: the block may leave the kernel or go on without the
  /// barrier, which it must not call again. Waits only where the algorithm needs every member's help to end the phase
  /// (Algorithm::wait_needed_by_others). Members: dropping_blocks.
  GPUSYNC_API void arrive_and_drop() { (void)drop_within(no_deadline{}); }

  /// As arrive_and_drop(), with a deadline for where it waits. timed_out: leave the kernel, as after sync_for().
  GPUSYNC_API wait_status arrive_and_drop_for(timeout span) {
    require_bounded();
    return drop_within(deadline(span));
  }

 private:
  friend votes;

  /// How this handle stands to its barrier. One word, for a kernel's compiler does not know what it is at first.
  enum class standing : uint32_t {
    joined,    ///< state_ is known, and the block may arrive
    fresh,     ///< not yet used in this launch, or the members have changed
    waiting,   ///< the block has arrived and not yet waited
    lost,      ///< a phase has been given up
    lent,      ///< a view of some warps is used instead
    left,      ///< the block has dropped out
    original,  ///< given to a launch, which makes one of it for each thread
  };

  static constexpr bool watches_loss = Algorithm::bounded && Grid::may_lose_phases;
  using state_type = typename Algorithm::state;

  /// What a block finds when it joins.
  struct membership_of_phase {
    state_type state;
    standing how;   ///< joined, or lost before
    uint32_t lost;  ///< whether a phase was lost before, as far as the calling thread has seen
  };

  GPUSYNC_HD static constexpr void require_bounded() {
    static_assert(detail::always_false<Grid> || Algorithm::bounded,
                  "this algorithm's waits cannot carry a deadline; choose one whose `bounded` is true");
  }

  /// Out of line, stamps and all: one thread, once. What it takes is a copy, or the handle would lie in memory.
  GPUSYNC_API GPUSYNC_COLD static void report(Grid grid, arrival_log log, Members who, typename Algorithm::token token,
                                              uint32_t phase) {
    if (grid.thread() == 0) {
      log.report_missing(grid, who, Algorithm::stamp(token), Algorithm::next_stamp(token), phase);
    }
  }

  /// Finds the block's part in the barrier, of a handle that stands so. What it loads need not be there when it
  /// returns.
  GPUSYNC_API static membership_of_phase join(Grid grid, const argument& given, const Members& who, standing how,
                                              const state_type& known) {
    if (how == standing::lost) return {known, how, 1};
    if (how == standing::joined) return {known, how, 0};
    const membership own = admitted(grid, given, who, how);
    membership_of_phase found{{}, standing::joined, 0};
    if constexpr (watches_loss) found.lost = given.log.lost(grid);
    if constexpr (Algorithm::has_places) {
      // Not out of line: it reads the kernel's parameters where they are.
      found.state = Algorithm::template find<Members::may_drop>(grid, given.places, own);
    } else {
      found.state = joined(grid, given.words, own);
    }
    return found;
  }

  /// The block among the members, of a handle that it may join with.
  GPUSYNC_API static membership admitted(Grid grid, const argument& given, const Members& who, standing how) {
    const membership own = who.of(grid);
    // An outsider's arrivals would be counted as other blocks'.
    if (how != standing::fresh || own.rank >= own.count || own.count > given.capacity) {
      refuse(grid, given.log.report, how, own.count);
    }
    return own;
  }

  /// Out of line: some KB of code that every loop of phases would have to jump over.
  GPUSYNC_API GPUSYNC_COLD static state_type joined(Grid grid, uint32_t* words, membership own) {
    return Algorithm::join(grid, words, own);
  }

  /// Out of line: a kernel has many such calls, and of what it can tell apart here its compiler would make a jump
  /// table, for each phase to pass through.
  GPUSYNC_API_TEMPLATE
  template <class AnyGrid>
  [[noreturn]] GPUSYNC_HD GPUSYNC_COLD static void refuse(AnyGrid grid, timeout_report* report, standing how,
                                                          uint32_t members) {
    grid.fail(report,
              how == standing::waiting    ? misuse::unfinished_arrival
              : how == standing::lost     ? misuse::lost_phase
              : how == standing::lent     ? misuse::lent
              : how == standing::left     ? misuse::left
              : how == standing::original ? misuse::shared_handle
                                          : misuse::outsider,
              members);
  }

  /// Makes of what join() has found what a phase leaves behind.
  GPUSYNC_API static void settle(state_type& state) {
    if constexpr (Algorithm::has_fused_form) Algorithm::settle(state);
  }

  GPUSYNC_API void note_entry(Grid grid) {
    settle(state_);
    if constexpr (watches_loss) {
      if (grid.thread() != 0) return;
      given_.log.mark_entry(grid, who_.place(grid), Algorithm::stamp(Algorithm::upcoming(state_)));
    }
  }

  /// For a block that waits at once.
  GPUSYNC_API static typename Algorithm::token arrive_to_wait(Grid grid, uint32_t* words, state_type& state) {
    if constexpr (Algorithm::has_fused_form) {
      return Algorithm::arrive_fused(grid, words, state);
    } else {
      return Algorithm::arrive(grid, words, state);
    }
  }

  /// The same for one that has not yet joined. `lost`: whether a phase was lost before, in a thread that sees to it;
  /// looked up behind the arrival, whose release would wait for it.
  GPUSYNC_API static typename Algorithm::token arrive_first(Grid grid, const argument& given, membership own,
                                                            state_type& state, uint32_t& lost) {
    if constexpr (Algorithm::has_places) {
      return Algorithm::template arrive_first<Members::may_drop>(grid, given.places, own, state, given.log, lost);
    } else {
      state = joined(grid, given.words, own);
      typename Algorithm::token token = arrive_to_wait(grid, given.words, state);
      if constexpr (watches_loss) lost = given.log.lost_to_block(grid);
      return token;
    }
  }

  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status sync_within(Deadline limit) {
    Grid grid = grid_();
    if (standing_ == standing::joined) {
      typename Algorithm::token token = arrive_to_wait(grid, given_.words, state_);
      return ended(pass<true, false>(grid, given_, who_, state_, timeout_flag_,
                                     static_cast<typename Algorithm::token&&>(token), phase_, limit),
                   grid);
    }
    return first_sync(grid, limit);
  }

  /// The first phase, or a call that must fail: a copy of the other phases' text, so that what it looks at besides
  /// takes no register of theirs.
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status first_sync(Grid grid, Deadline limit) {
    if constexpr (watches_loss && Deadline::bounded) {
      if (standing_ == standing::lost) return wait_status::timed_out;
    }
    [[maybe_unused]] uint32_t lost = 0;
    typename Algorithm::token token = arrive_first(grid, given_, admitted(grid, given_, who_, standing_), state_, lost);
    wait_status status = pass<false, true>(grid, given_, who_, state_, timeout_flag_,
                                           static_cast<typename Algorithm::token&&>(token), phase_, limit);
    if constexpr (watches_loss) {
      if (status == wait_status::completed) status = settled<Deadline>(grid, given_, lost);
    }
    return ended(status, grid);
  }

  /// The handle after a phase. Said plainly in each case, for a compiler to see what it is in the next.
  GPUSYNC_API wait_status ended(wait_status status, Grid grid) {
    if (__builtin_expect(status == wait_status::timed_out, 0)) {
      standing_ = standing::lost;
      return wait_status::timed_out;
    }
    standing_ = standing::joined;
    if constexpr (Members::may_drop) {
      if (who_.changed(grid, phase_)) standing_ = standing::fresh;
    }
    ++phase_;
    return wait_status::completed;
  }

  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status wait_split(arrival_token& token, Deadline limit) {
    Grid grid = grid_();
    if (token.spent_) grid.fail(given_.log.report, misuse::spent_token, 0);
    if (token.of_ != given_.words) grid.fail(given_.log.report, misuse::foreign_token, 0);
    token.spent_ = true;
    if constexpr (watches_loss) {
      if (standing_ == standing::lost) return ended(settled<Deadline>(grid, given_, 1), grid);
    }
    if constexpr (Deadline::bounded) grid.separate_timeout_flags();
    wait_status status = pass<false, false>(grid, given_, who_, state_, timeout_flag_,
                                            static_cast<typename Algorithm::token&&>(token.value_), phase_, limit);
    if constexpr (watches_loss) {
      if (token.first_ && status == wait_status::completed) status = settled<Deadline>(grid, given_, token.lost_);
    }
    return ended(status, grid);
  }

  /// The end of the first phase, or of a call after one was lost: what has become of a phase that was passed by count.
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD static wait_status settled(Grid grid, const argument& given, uint32_t lost) {
    if constexpr (Deadline::bounded) {
      // Not all threads need have seen it.
      return grid.sync_block_or(lost != 0) ? wait_status::timed_out : wait_status::completed;
    } else {
      if (lost != 0) refuse(grid, given.log.report, standing::lost, 0);
      return wait_status::completed;
    }
  }

  /// The wait for a phase, the launch's `phase`-th. First: of first_sync().
  GPUSYNC_API_TEMPLATE
  template <bool JustArrived, bool First, class Deadline>
  GPUSYNC_HD static wait_status pass(Grid grid, const argument& given, const Members& who, state_type& state,
                                     uint32_t& timeout_flag, typename Algorithm::token&& token, uint32_t phase,
                                     Deadline limit) {
    if constexpr (Deadline::bounded) {
      if (timeout_flag == 0) timeout_flag = grid.prepare_timeout_flag();
    }
    [[maybe_unused]] const auto copy = kept<Deadline>(token);
    wait_context<Deadline, First> context(limit, given.log, who.place(grid), Algorithm::stamp(token), timeout_flag);
    wait_status status;
    if constexpr (JustArrived && Algorithm::has_fused_form) {
      status =
          Algorithm::wait_fused(grid, given.words, state, static_cast<typename Algorithm::token&&>(token), context);
    } else {
      status = Algorithm::wait(grid, given.words, state, static_cast<typename Algorithm::token&&>(token), context);
    }
    if constexpr (Deadline::bounded) {
      if (__builtin_expect(status == wait_status::timed_out, 0)) {
        report(grid, given.log, who, copy, phase);
        return wait_status::timed_out;
      }
    }
    return wait_status::completed;
  }

  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD static auto kept([[maybe_unused]] const typename Algorithm::token& token) {
    if constexpr (Deadline::bounded) {
      return token;
    } else {
      return 0;
    }
  }

  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status drop_within(Deadline limit) {
    static_assert(Members::may_drop, "only a barrier made by dropping_barrier() can be left early");
    static_assert(Algorithm::safe, "as published in 2010, its number of members is fixed");
    static_assert(Algorithm::order != ordering::none, "nothing would order the news of the drop before the arrival");
    Grid grid = grid_();
    const bool first = standing_ != standing::joined;
    const membership_of_phase found = join(grid, given_, who_, standing_, state_);
    state_ = found.state;
    standing_ = found.how;
    if (first && standing_ == standing::joined) settle(state_);
    wait_status status = wait_status::completed;
    if (standing_ == standing::joined) {
      if (grid.thread() == 0) who_.drop(grid, phase_);
      typename Algorithm::token token = Algorithm::arrive(grid, given_.words, state_);
      if constexpr (Algorithm::wait_needed_by_others) {
        if constexpr (Deadline::bounded) grid.separate_timeout_flags();
        status = pass<false, false>(grid, given_, who_, state_, timeout_flag_,
                                    static_cast<typename Algorithm::token&&>(token), phase_, limit);
      }
    }
    if constexpr (watches_loss) {
      if (first && status == wait_status::completed) status = settled<Deadline>(grid, given_, found.lost);
    }
    standing_ = standing::left;
    return status;
  }

  argument given_;
  Members who_;
  detail::grid_source<Grid> grid_;
  typename Algorithm::state state_{};
  uint32_t phase_ = 0;
  standing standing_ = standing::fresh;
  uint32_t timeout_flag_ = 0;  ///< what the grid needs to tell a block of a timed-out wait; 0: not asked for yet
  detail::vote_state votes_;
};

}  // namespace gpusync
