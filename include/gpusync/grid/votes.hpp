// Votes and sums that a phase of a grid barrier brings along: the grid's __syncthreads_or() and __syncthreads_count().
#pragma once

#include <gpusync/core/concepts.hpp>
#include <gpusync/core/handle.hpp>
#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/ordered.hpp>

namespace gpusync {

/// The end of a vote that had a deadline.
template <class Answer>
struct [[nodiscard]] voted {
  wait_status status;  ///< timed_out: leave the kernel
  Answer answer;       ///< means something only if the vote was completed
};

namespace grid {

/// One 64-bit word in which the members of a barrier vote: its low half is a phase_word, its high half adds up what
/// they bring. So one add says both that a block is here and what it brings, and one load both that all are and what
/// has come together.
///
/// Nothing in it is ever reset. A vote adds 2^16 to the low half and the sum to the high half, and once in 2^16 votes a
/// carry from the one to the other, of which a block knows before the vote.
///
/// A line has two, which votes use in turn: who has seen the end of a vote may add to the next one before a slow block
/// has read what came together in this, but to the one after that only when all have read it.
struct vote_word {
  /// Where a line has its two, in words of 32 bits. No plan of placed counters has its word there: these belong to
  /// more copies of counters than a line can have (see packed_plan::word()).
  static constexpr uint32_t first = 10;
  static constexpr uint32_t second = 14;  ///< see `first`

  /// The first of a line that begins at `line`; the second is `apart` words of 64 bits behind it.
  static constexpr uint32_t apart = (second - first) / 2;
  /// See `apart`.
  GPUSYNC_HD static uint64_t* of_line(uint32_t* line) { return reinterpret_cast<uint64_t*>(line + first); }

  /// What a block adds that brings `value`, and adds `arrival` to a phase_word.
  GPUSYNC_HD static constexpr uint64_t step(uint32_t arrival, uint32_t value) {
    return static_cast<uint64_t>(value) << 32 | arrival;
  }
  /// Whether the vote has ended that began when the word was `before`.
  GPUSYNC_HD static constexpr bool ended(uint64_t now, uint64_t before) {
    return phase_reached(static_cast<uint32_t>(now), static_cast<uint32_t>(before) + phase_word::one_phase);
  }
  /// What its high half will hold at the end of the vote that began when the word was `before`, what comes together in
  /// this not counted: a vote's arrivals add one phase to the low half, and whether that carries shows before.
  GPUSYNC_HD static constexpr uint32_t sum_so_far(uint64_t before) {
    return static_cast<uint32_t>((before + phase_word::one_phase) >> 32);
  }
  /// What has come together in the vote, once it has ended.
  GPUSYNC_HD static constexpr uint32_t sum(uint64_t now, uint32_t so_far) {
    return static_cast<uint32_t>(now >> 32) - so_far;
  }
  /// Makes both words of a fresh line those of phase `phase`, and the sums so far as high: tests can begin before a
  /// wrap of either half.
  GPUSYNC_HD static void start_at(uint32_t* line, uint32_t phase) {
    for (uint32_t half = 0; half < 2; ++half) {
      line[first + half] = phase_word::start_of(phase);
      line[second + half] = phase_word::start_of(phase);
    }
  }
};

}  // namespace grid

namespace detail {

class kept_block;  // device_functions.cuh: keeps between two calls what a barrier's handle does

/// What a vote is about, and what its answer is.
struct vote_or {
  using answer = bool;
};
struct vote_count {
  using answer = uint32_t;
};
struct vote_add {
  using answer = uint32_t;
};

/// A thread's own part in its barrier's votes.
struct vote_state {
  uint64_t before = 0;  ///< in threads that poll: the word of the vote to come, when its last vote had ended
  uint64_t other = 0;   ///< the same of the other word
  uint64_t found = 0;   ///< in threads that poll: what ask() has read
  uint32_t count = 0;   ///< votes of this launch so far
  uint32_t polled = 0;  ///< words that the block polls
  uint32_t shared = 0;  ///< where the block's threads share words
  uint32_t open = 0;    ///< 1: the rest is known
  bool asked = false;   ///< in the vote to come: see `found`

  /// A mark of the vote to come for the arrival log: never 0, and no mark of a phase without a vote, which has no
  /// such bit. Comes back after 2^25 votes.
  GPUSYNC_HD uint32_t stamp() const { return stamp_of(count); }
  GPUSYNC_HD static uint32_t stamp_of(uint32_t number) { return number << 7 | 1u << 6 | 1u; }
};

/// What a poll of a vote word asks once the wait has become long.
struct vote_ended {
  uint64_t before;

  GPUSYNC_HD bool operator()(uint64_t now) const { return grid::vote_word::ended(now, before); }
};

}  // namespace detail

/// The votes of a grid barrier; basic_grid_barrier is derived from it. For algorithms with has_votes (the default ones
/// on CUDA devices and on host threads), for members that stay to the end of a launch, and for whole blocks; else
/// refused when compiled.
///
/// A vote is a phase of its barrier that brings an answer along, the same to all threads of all members. All threads of
/// a block call together, and all members make the same sequence of calls: sync(), arrive(), votes, in any order.
/// - `or`: whether `mine` is true in one thread of one member at least
/// - `count`: in how many threads of all members `mine` is true
/// - `add`: the sum, modulo 2^32, of a number per block: the value in its first thread; others' are not looked at
///
/// and, with the same numbers,
/// - `sync_…` is a barrier as well: it orders all that sync() does
/// - `vote_…` orders nothing between blocks: only the answer comes. What other blocks have written before it may be
///   seen after it or not. For tests of convergence and for work lists whose data goes other ways. 0.2 to 0.8 us
///   less. vote_add() and cast_add() bring what the first thread has as soon as its warp is there, and by that the
///   block has come: other warps may be behind, and deadlines of other blocks do not see whether they come
/// - `arrive_…` and `cast_…`: their split forms, which say what the block brings and do not wait. wait() then brings
///   the answer. ask() in between starts to read it, so that the trip to memory goes on while the block works
///
/// The first vote of a launch passes one phase more, in which all members learn what the words held before, also in
/// the split forms; enter_votes() does that at a better place. arrive_… and cast_… wait for that phase without a
/// deadline: kernels whose waits carry one begin with enter_votes_for(). Nothing is reset between launches.
///
/// Cost: that of sync(), and of a read of shared memory (40 bytes of static shared memory per block); split forms meet
/// the block twice more. Adds of 64 bits instead of 32.
template <class Barrier, class Algorithm, class Grid, class Members>
class grid_votes {
  using or_kind = detail::vote_or;
  using count_kind = detail::vote_count;
  using add_kind = detail::vote_add;

 public:
  /// Proof of what a block has brought to one vote; to be given to wait() or wait_for() once, by the same thread,
  /// before the block's next call. Ordered: of arrive_…, not of cast_….
  template <class Kind, bool Ordered>
  class [[nodiscard]] vote_token {
   public:
    GPUSYNC_HD vote_token(vote_token&& other) noexcept : of_(other.of_), spent_(other.spent_) { other.spent_ = true; }
    vote_token(const vote_token&) = delete;
    vote_token& operator=(const vote_token&) = delete;

   private:
    friend class grid_votes;
    GPUSYNC_HD explicit vote_token(const uint32_t* of) : of_(of) {}
    const uint32_t* of_;
    bool spent_ = false;
  };

  /// Does now what the first vote of a launch does besides: a phase of the barrier, which all members pass. Need not be
  /// called. Before a loop it keeps this out of the loop's code.
  GPUSYNC_API void enter_votes() { (void)open(no_deadline{}); }
  /// The same with a deadline. timed_out: leave the kernel.
  GPUSYNC_API wait_status enter_votes_for(timeout span) { return open(deadline(span)); }

  /// A barrier; returns whether `mine` is true in any thread of any member.
  GPUSYNC_API bool sync_or(bool mine) { return whole<or_kind, true>(mine, no_deadline{}).answer; }
  /// A barrier; returns in how many threads of all members `mine` is true.
  GPUSYNC_API uint32_t sync_count(bool mine) { return whole<count_kind, true>(mine, no_deadline{}).answer; }
  /// A barrier; returns the sum of the members' values, modulo 2^32: of each, that of its first thread.
  GPUSYNC_API uint32_t sync_add(uint32_t value) { return whole<add_kind, true>(value, no_deadline{}).answer; }

  /// sync_or() that orders nothing between blocks.
  GPUSYNC_API bool vote_or(bool mine) { return whole<or_kind, false>(mine, no_deadline{}).answer; }
  /// sync_count() that orders nothing between blocks.
  GPUSYNC_API uint32_t vote_count(bool mine) { return whole<count_kind, false>(mine, no_deadline{}).answer; }
  /// sync_add() that orders nothing between blocks.
  GPUSYNC_API uint32_t vote_add(uint32_t value) { return whole<add_kind, false>(value, no_deadline{}).answer; }

  /// The same with deadlines: see basic_grid_barrier::wait_for().
  GPUSYNC_API voted<bool> sync_or_for(bool mine, timeout span) { return whole<or_kind, true>(mine, deadline(span)); }
  /// See sync_or_for().
  GPUSYNC_API voted<uint32_t> sync_count_for(bool mine, timeout span) {
    return whole<count_kind, true>(mine, deadline(span));
  }
  /// See sync_or_for().
  GPUSYNC_API voted<uint32_t> sync_add_for(uint32_t value, timeout span) {
    return whole<add_kind, true>(value, deadline(span));
  }
  /// See sync_or_for().
  GPUSYNC_API voted<bool> vote_or_for(bool mine, timeout span) { return whole<or_kind, false>(mine, deadline(span)); }
  /// See sync_or_for().
  GPUSYNC_API voted<uint32_t> vote_count_for(bool mine, timeout span) {
    return whole<count_kind, false>(mine, deadline(span));
  }
  /// See sync_or_for().
  GPUSYNC_API voted<uint32_t> vote_add_for(uint32_t value, timeout span) {
    return whole<add_kind, false>(value, deadline(span));
  }

  /// Arrives as arrive() does, and brings `mine`; wait() brings what sync_or() would return.
  GPUSYNC_API vote_token<or_kind, true> arrive_or(bool mine) { return arrive_in<or_kind, true>(mine); }
  /// The same for sync_count().
  GPUSYNC_API vote_token<count_kind, true> arrive_count(bool mine) { return arrive_in<count_kind, true>(mine); }
  /// The same for sync_add().
  GPUSYNC_API vote_token<add_kind, true> arrive_add(uint32_t value) { return arrive_in<add_kind, true>(value); }
  /// The same for vote_or().
  GPUSYNC_API vote_token<or_kind, false> cast_or(bool mine) { return arrive_in<or_kind, false>(mine); }
  /// The same for vote_count().
  GPUSYNC_API vote_token<count_kind, false> cast_count(bool mine) { return arrive_in<count_kind, false>(mine); }
  /// The same for vote_add().
  GPUSYNC_API vote_token<add_kind, false> cast_add(uint32_t value) { return arrive_in<add_kind, false>(value); }

  /// Starts to read the answer to the token's vote, and does not wait for it: if all members have brought their part by
  /// now, wait() finds it without a trip to memory; if not, it waits as ever. All threads of the block, any number of
  /// times.
  GPUSYNC_API_TEMPLATE
  template <class Kind, bool Ordered>
  GPUSYNC_HD void ask(const vote_token<Kind, Ordered>& token) {
    constexpr ordering order = Ordered ? Algorithm::order : ordering::none;
    Barrier& own = self();
    Grid grid = own.grid_();
    require_mine(grid, token);
    if constexpr (Barrier::watches_loss) {
      if (own.standing_ == Barrier::standing::lost) return;  // the wait says so
    }
    if (Algorithm::vote_polls(grid, own.state_)) {
      own.votes_.found = Grid::memory::template load<grid::sees<order>, scope::device>(
          polled_word(own.given_.words, own.state_, own.votes_));
    }
    own.votes_.asked = true;
  }

  /// Waits until every member has brought its part to the token's vote, and returns the answer.
  GPUSYNC_API_TEMPLATE
  template <class Kind, bool Ordered>
  GPUSYNC_HD typename Kind::answer wait(vote_token<Kind, Ordered>&& token) {
    return wait_in(token, no_deadline{}).answer;
  }
  /// The same with a deadline.
  GPUSYNC_API_TEMPLATE
  template <class Kind, bool Ordered>
  GPUSYNC_HD voted<typename Kind::answer> wait_for(vote_token<Kind, Ordered>&& token, timeout span) {
    return wait_in(token, deadline(span));
  }

 private:
  friend class detail::kept_block;

  /// In what threads of a block share: behind the polled words' sums, the value of its first thread.
  static constexpr uint32_t own_value = 8;
  /// And how many say yes; 0 between two votes.
  static constexpr uint32_t yeses = 9;
  /// Whether they are counted there: on GPUs a block barrier that counts takes longer with each warp.
  static constexpr bool counts_in_shared = Grid::warp_size > 1;

  GPUSYNC_HD Barrier& self() { return static_cast<Barrier&>(*this); }

  GPUSYNC_HD static constexpr void require_votes() {
    static_assert(detail::always_false<Grid> || Algorithm::has_votes,
                  "this algorithm has no votes; choose one whose `has_votes` is true: grid::placed_counters or "
                  "grid::lock_based, of an ordering that orders data");
    static_assert(detail::always_false<Grid> || !Members::may_drop,
                  "a barrier that blocks may leave early has no votes: use storage.barrier()");
    static_assert(detail::always_false<Grid> || Grid::whole_block,
                  "votes are of whole blocks, not of views of some of their warps");
  }

  /// What the first vote of a launch does before it: the words are read, then a phase is passed, before whose end
  /// nobody can have added to them.
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status open(Deadline limit) {
    require_votes();
    Barrier& own = self();
    if (own.votes_.open == 0 || own.standing_ != Barrier::standing::joined) {
      if (begin(limit) == wait_status::timed_out) return wait_status::timed_out;
    }
    // Said plainly, for a compiler to see it in a loop of votes.
    own.votes_.open = 1;
    own.standing_ = Barrier::standing::joined;
    return wait_status::completed;
  }

  /// open(), where there is something to do, or to refuse.
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status begin(Deadline limit) {
    Barrier& own = self();
    if constexpr (Deadline::bounded) {
      if (own.try_enter() == wait_status::timed_out) return wait_status::timed_out;
    } else {
      own.enter();
    }
    Grid grid = own.grid_();
    look(grid, own.given_.words, own.state_, own.votes_);
    if constexpr (Barrier::watches_loss) {
      // Votes are numbered anew in each launch: nothing of earlier ones may be left in the log.
      if (grid.thread() == 0) own.given_.log.mark(grid, own.who_.place(grid), 0);
    }
    if (own.sync_within(limit) == wait_status::timed_out) return wait_status::timed_out;
    --own.phase_;  // no call of its own
    return wait_status::completed;
  }

  /// What the words hold before the first vote, and how many the block polls.
  GPUSYNC_API static void look(Grid grid, uint32_t* words, const typename Algorithm::state& own,
                               detail::vote_state& votes) {
    const bool polls = Algorithm::vote_polls(grid, own);
    votes.shared = grid.shared_words();
    if constexpr (counts_in_shared) {
      if (Algorithm::vote_first(grid, own)) grid.share(votes.shared, yeses, 0);
    }
    if (polls) {
      const uint64_t* const word = Algorithm::vote_polled(words, own);
      votes.before = Grid::memory::template load<memory_order::relaxed, scope::device>(word);
      votes.other = Grid::memory::template load<memory_order::relaxed, scope::device>(word + grid::vote_word::apart);
    }
    votes.polled = grid.sync_block_count(polls);
  }

  GPUSYNC_API_TEMPLATE
  template <class Kind, bool Ordered, class Deadline>
  GPUSYNC_HD voted<typename Kind::answer> whole(uint32_t mine, Deadline limit) {
    Barrier& own = self();
    if (open(limit) == wait_status::timed_out) return {wait_status::timed_out, {}};
    Grid grid = own.grid_();
    bring<Kind, Ordered, true>(grid, own.given_.words, own.state_, own.votes_, mine);
    return answered<Kind, Ordered, true>(grid, limit);
  }

  GPUSYNC_API_TEMPLATE
  template <class Kind, bool Ordered>
  GPUSYNC_HD vote_token<Kind, Ordered> arrive_in(uint32_t mine) {
    require_votes();
    Barrier& own = self();
    vote_token<Kind, Ordered> token(own.given_.words);
    if constexpr (Barrier::watches_loss) {
      if (own.standing_ == Barrier::standing::lost) return token;  // the wait says so
    }
    (void)open(no_deadline{});
    Grid grid = own.grid_();
    bring<Kind, Ordered, false>(grid, own.given_.words, own.state_, own.votes_, mine);
    own.standing_ = Barrier::standing::waiting;
    if constexpr (Algorithm::bounded) {
      if (grid.thread() == 0) own.given_.log.mark(grid, own.who_.place(grid), own.votes_.stamp());
    }
    return token;
  }

  GPUSYNC_API_TEMPLATE
  template <class Kind, bool Ordered>
  GPUSYNC_HD void require_mine(Grid grid, const vote_token<Kind, Ordered>& token) {
    const auto& given = self().given_;
    if (token.spent_) grid.fail(given.log.report, misuse::spent_token, 0);
    if (token.of_ != given.words) grid.fail(given.log.report, misuse::foreign_token, 0);
  }

  GPUSYNC_API_TEMPLATE
  template <class Kind, bool Ordered, class Deadline>
  GPUSYNC_HD voted<typename Kind::answer> wait_in(vote_token<Kind, Ordered>& token, Deadline limit) {
    Barrier& own = self();
    Grid grid = own.grid_();
    require_mine(grid, token);
    token.spent_ = true;
    if constexpr (Barrier::watches_loss) {
      if (own.standing_ == Barrier::standing::lost) {
        return {own.ended(Barrier::template settled<Deadline>(grid, own.given_, 1), grid), {}};
      }
    }
    // All threads have read what an earlier vote, of another barrier perhaps, has left in shared memory.
    grid.sync_block();
    return answered<Kind, Ordered, false>(grid, limit);
  }

  /// Whether a vote is a number that nothing goes with.
  template <class Kind, bool Ordered>
  GPUSYNC_HD static constexpr bool adds_at_once() {
    return detail::same_type<Kind, add_kind> && !Ordered;
  }

  /// Says that the block is here, and what it brings. Just: it waits at once.
  GPUSYNC_API_TEMPLATE
  template <class Kind, bool Ordered, bool Just>
  GPUSYNC_HD static void bring(Grid grid, uint32_t* words, const typename Algorithm::state& own,
                               const detail::vote_state& votes, uint32_t mine) {
    constexpr ordering order = Ordered ? Algorithm::order : ordering::none;
    // A number that nothing goes with need not wait for the block: its first thread knows it, and its warp adds.
    if constexpr (adds_at_once<Kind, Ordered>()) {
      const bool adds = Algorithm::vote_adds_at_once(grid, own);
      const uint32_t value = first_value(grid, votes, adds, Algorithm::vote_lanes(own), mine);
      if (adds) add<order>(words, own, votes, value);
      // Under way already. All threads have read what an earlier vote, of another barrier perhaps, has left in shared
      // memory.
      if constexpr (Just) grid.sync_block();
      return;
    }
    // As release_block(), with what the block's threads bring.
    if constexpr (order == ordering::fence) Grid::memory::template fence<scope::device>();
    const bool adds = Algorithm::vote_adds(grid, own);
    const uint32_t value = block_value<Kind, Just>(grid, own, votes, adds, mine);
    if (adds) {
      add<order>(words, own, votes, value);
      if constexpr (Ordered && Just) Algorithm::template vote_drain<Grid>(own);
      if constexpr (Just) forget<Kind>(grid, own, votes);
    }
  }

  /// What the block brings, in the threads that add it. The block meets, and in a split form once more.
  GPUSYNC_API_TEMPLATE
  template <class Kind, bool Just>
  GPUSYNC_HD static uint32_t block_value(Grid grid, const typename Algorithm::state& own,
                                         const detail::vote_state& votes, bool adds, uint32_t mine) {
    constexpr bool sums = detail::same_type<Kind, add_kind>;
    if constexpr (sums) {
      if (Algorithm::vote_first(grid, own)) grid.share(votes.shared, own_value, mine);
    } else if constexpr (counts_in_shared && detail::same_type<Kind, or_kind>) {
      if (mine != 0) grid.share_alike(votes.shared, yeses, 1);
    } else if constexpr (counts_in_shared) {
      grid.count_shared(votes.shared, yeses, mine != 0);
    } else {
      return grid.sync_block_count(mine != 0);
    }
    grid.sync_block();
    uint32_t value = 0;
    if (adds) value = grid.shared(votes.shared, sums ? own_value : yeses);
    if constexpr (!Just) {
      // What threads share is read before they write the next, of another barrier perhaps; and not behind the add,
      // whose fence takes as long as what the block has stored.
      if (adds) forget<Kind>(grid, own, votes);
      grid.sync_block();
    }
    return value;
  }

  /// Nobody says yes any longer. Called by the threads that have read how many do.
  GPUSYNC_API_TEMPLATE
  template <class Kind>
  GPUSYNC_HD static void forget(Grid grid, const typename Algorithm::state& own, const detail::vote_state& votes) {
    if constexpr (counts_in_shared && !detail::same_type<Kind, add_kind>) {
      grid.clear_shared(votes.shared, yeses, Algorithm::vote_lanes(own));
    }
  }

  /// In the threads that take it, of which `lanes` has a bit each: what the block's first thread brings. By a shuffle;
  /// where warps are single threads, one knows it, and several tell each other.
  GPUSYNC_API_TEMPLATE
  GPUSYNC_HD static uint32_t first_value(Grid grid, const detail::vote_state& votes, bool takes, uint32_t lanes,
                                         uint32_t mine) {
    if constexpr (Grid::warp_size > 1) {
      return grid.first_value(takes, lanes, mine);
    } else {
      if (lanes == 1) return mine;
      if (grid.thread() == 0) grid.share(votes.shared, own_value, mine);
      grid.sync_block();
      const uint32_t first = grid.shared(votes.shared, own_value);
      grid.sync_block();
      return first;
    }
  }

  GPUSYNC_API_TEMPLATE
  template <ordering Order>
  GPUSYNC_HD static void add(uint32_t* words, const typename Algorithm::state& own, const detail::vote_state& votes,
                             uint32_t value) {
    uint64_t* const word = Algorithm::vote_added(words, own) + (votes.count & 1) * grid::vote_word::apart;
    Grid::memory::template add<grid::publishes<Order>, scope::device>(word, grid::vote_word::step(own.step, value));
  }

  /// What the thread polls of the vote under way.
  GPUSYNC_API static const uint64_t* polled_word(uint32_t* words, const typename Algorithm::state& own,
                                                 const detail::vote_state& votes) {
    return Algorithm::vote_polled(words, own) + (votes.count & 1) * grid::vote_word::apart;
  }

  /// The wait for the answer.
  GPUSYNC_API_TEMPLATE
  template <class Kind, bool Ordered, bool Just, class Deadline>
  GPUSYNC_HD voted<typename Kind::answer> answered(Grid grid, Deadline limit) {
    Barrier& own = self();
    uint32_t sum = 0;
    const wait_status status = poll<Ordered, Just, adds_at_once<Kind, Ordered>()>(
        grid, own.given_, own.who_, own.state_, own.votes_, own.timeout_flag_, own.phase_, limit, sum);
    if constexpr (detail::same_type<Kind, or_kind>) return {own.ended(status, grid), sum != 0};
    if constexpr (!detail::same_type<Kind, or_kind>) return {own.ended(status, grid), sum};
  }

  GPUSYNC_API_TEMPLATE
  template <bool Ordered, bool Just, bool AtOnce, class Argument, class Deadline>
  GPUSYNC_HD static wait_status poll(Grid grid, const Argument& given, const Members& who,
                                     const typename Algorithm::state& own, detail::vote_state& votes,
                                     uint32_t& timeout_flag, uint32_t phase, Deadline limit, uint32_t& sum) {
    constexpr ordering order = Ordered ? Algorithm::order : ordering::none;
    if constexpr (Deadline::bounded) {
      if (timeout_flag == 0) timeout_flag = grid.prepare_timeout_flag();
    }
    wait_context<Deadline> context(limit, given.log, who.place(grid), votes.stamp(), timeout_flag);
    wait_status status = wait_status::completed;
    uint64_t seen = votes.found;
    if (Algorithm::vote_polls(grid, own)) {
      if constexpr (Ordered && Just) Algorithm::template vote_drain<Grid>(own);
      if constexpr (Just) grid.delay(Algorithm::template vote_backoff<AtOnce>(own));
      const uint64_t before = votes.before;
      // Computed here and not between the end of the wait and those who wait for it.
      const uint32_t so_far = grid.opaque(grid::vote_word::sum_so_far(before));
      if (Just || !votes.asked || !grid::vote_word::ended(seen, before)) {
        const uint64_t* const word = polled_word(given.words, own, votes);
        const auto ended_now = [before, &seen](uint64_t now) {
          seen = now;
          return grid::vote_word::ended(now, before);
        };
        if (!soon_over<grid::sees<order>, scope::device>(grid, word, ended_now)) {
          status = detail::wait_long<grid::sees<order>, scope::device>(grid, word, detail::vote_ended{before}, context)
                       .status;
          // What ended the wait stands there until this block has come to the next vote.
          seen = Grid::memory::template load<memory_order::relaxed, scope::device>(word);
        }
      }
      // Before what others' writes need and a sum does not, so as to be there as early.
      share_sum(grid, votes, grid::vote_word::sum(seen, so_far));
      grid::after_poll<order>(grid);
    }
    status = sync_block_status(grid, status, context);
    if constexpr (Deadline::bounded) {
      if (__builtin_expect(status == wait_status::timed_out, 0)) {
        report(grid, given.log, who, votes.count, phase);
        return wait_status::timed_out;
      }
    }
    sum = shared_sum(grid, votes);
    votes.before = votes.other;
    votes.other = seen;
    votes.asked = false;
    ++votes.count;
    return wait_status::completed;
  }

  /// What the threads that poll have found, to all of the block, who read it behind a sync_block(). Where warps are
  /// single threads each reads all; else the warp that polls adds it up, for with eight blocks of 256 threads on a
  /// multiprocessor 8 reads by each thread take half a microsecond.
  GPUSYNC_API static void share_sum(Grid grid, const detail::vote_state& votes, uint32_t part) {
    if constexpr (Grid::warp_size > 1) {
      // Each writes for itself: behind a common write the compiler would have them meet first.
      if (votes.polled == 1) {
        grid.share(votes.shared, 0, part);
      } else {
        grid.share_alike(votes.shared, 0, grid.sum_of_first(votes.polled, part));
      }
    } else {
      grid.share(votes.shared, grid.thread(), part);
    }
  }
  GPUSYNC_API static uint32_t shared_sum(Grid grid, const detail::vote_state& votes) {
    uint32_t sum = grid.shared(votes.shared, 0);
    if constexpr (Grid::warp_size == 1) {
      for (uint32_t i = 1; i < votes.polled; ++i) sum += grid.shared(votes.shared, i);
    }
    return sum;
  }

  /// What it takes is a copy, or the handle would lie in memory.
  GPUSYNC_API GPUSYNC_COLD static void report(Grid grid, arrival_log log, Members who, uint32_t number,
                                              uint32_t phase) {
    if (grid.thread() != 0) return;
    // All have passed the phase before the first vote.
    log.report_missing(grid, who, detail::vote_state::stamp_of(number), detail::vote_state::stamp_of(number + 1), phase,
                       true);
  }
};

}  // namespace gpusync
