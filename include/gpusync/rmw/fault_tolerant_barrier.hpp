// A grid barrier whose blocks may die: the late are removed by agreement, and the others go on.
#pragma once

#include <gpusync/core/deadline.hpp>
#include <gpusync/core/handle.hpp>
#include <gpusync/core/misuse.hpp>
#include <gpusync/rmw/survivor_agreement.hpp>

namespace gpusync {

/// What became of a phase of a fault-tolerant barrier.
enum class phase_outcome {
  passed,        ///< by all members of the phase before
  members_lost,  ///< by those that are members still: some have been removed
  removed,       ///< not by this block: the others go on without it, and it must stop
};

/// The members of a fault-tolerant barrier as one of them sees them.
struct survivors {
  uint32_t epoch;  ///< how often members have been lost
  uint32_t count;  ///< of members
  uint32_t rank;   ///< of the calling block among them, in the order of their numbers
};

/// A grid barrier that outlives its blocks. Whoever waits longer than its deadline closes the phase; then all members
/// agree, by a wait-free object, on who has arrived in it. The others are removed, and the barrier goes on as one of
/// those that are left. The parameter of a kernel, by value; whatever the kernel calls takes it by reference, for it
/// cannot be copied. It stays valid as long as the storage that made it. Each launch begins with all blocks as members:
/// gpusync::launch() sees to it, also in every replay of a graph that it was captured into.
///
///   gpusync::launch(gpu, stream, {132, 256}, kernel, storage.barrier());      // on the host
///   ...
///   switch (barrier.arrive_and_wait(10_ms)) {                                 // in the kernel
///     case phase_outcome::removed: return;                                    // the others go on without this block
///     case phase_outcome::members_lost: share_out_again(barrier.members());   // all survivors see the same members
///     case phase_outcome::passed: break;
///   }
///
/// All threads of a block call each function together. A block dies as a whole: it returns, traps nothing, and never
/// comes to the barrier again; or it hangs in code of its own. What cannot be survived is what ends the whole grid (a
/// trap, an illegal address), or a block of which some threads go on to the barrier while others do not.
///
/// What a phase promises. If arrive_and_wait() in phase p returns `passed` or `members_lost`, then all blocks for which
/// is_member() holds have arrived in p, and what they did before it happens before what this block does next. All that
/// pass p agree on its members, as long as they are not removed themselves. A member that has died after its arrival is
/// a member still: it will be missing in the next phase.
///
/// What it cannot promise. Nobody can tell a dead block from a slow one: a block that comes after the others' deadline
/// is told `removed` by wait(), at the latest in the phase that it missed. Until then it may still write what it was
/// about to write, and read what the others have written over. So the writes of a block in a phase must not matter once
/// it has been removed: they go to memory that the survivors do not use (buffers of its own, which the survivors read
/// only for members), or they are what the survivors would write there too, at any later time.
///
/// Preconditions: at most N blocks, which run at once; a block has at least Machine::lanes threads (on CUDA, a warp of
///   32); deadlines longer than members' work can differ, or live blocks are removed.
/// Synchronizes: device scope; see above.
/// Progress: wait() ends after its deadline and a bounded number of steps, max_steps accesses to memory besides polls,
///   whatever the others do, and whoever of them has died where. Other barriers need every block to make progress.
/// Cost: without faults one atomic add, one store and polls of one word per block and phase, as grid::lock_based but
///   for the store and for the answer, which the block's threads get as in wait_for(). A loss: the deadline; then each
///   member reads the flags of all and applies one operation to an object of N participants. On CUDA the code for that
///   takes as many registers as the kernel may have: bound them (__launch_bounds__), it is not made for speed.
/// Storage: bytes(blocks): some 264 bytes a block, and those of the object, which grows with N^2 (N = 32: 60 KB in all,
///   132: 2.0 MB, 264: 12 MB). An epoch lasts for 2^48 arrivals.
///
/// N: the most blocks, up to 480. Grid: cuda_grid or host_grid. Machine: of a wait-free object, with arrive(), poll(),
/// acquire() and late(): rmw::cuda_survivor, rmw::host_survivor. Agreement: only the explorer has another one.
template <uint32_t N, class Grid, class Machine, class Agreement = rmw::detail::agreement<N, Machine>>
class basic_fault_tolerant_barrier
    : public detail::passed_by_reference<basic_fault_tolerant_barrier<N, Grid, Machine, Agreement>> {
  using layout = rmw::detail::survivor_layout<N>;
  using log = rmw::detail::lost_blocks_log<N>;
  using verdict = rmw::detail::phase_verdict<N>;
  using word = rmw::detail::arrival_word;
  static constexpr uint32_t lost_words = log::words;

 public:
  /// The most blocks.
  static constexpr uint32_t max_blocks = N;

  /// Use the storage's barrier() instead. `words`: bytes(blocks) of memory at a multiple of 128, zero before the
  /// launch.
  GPUSYNC_HD basic_fault_tolerant_barrier(uint64_t* words, uint32_t blocks,
                                          const detail::handle_header& header = detail::handle_header())
      : header_(header), words_(words), blocks_(blocks), goal_(blocks), count_(blocks) {
    if constexpr (Grid::handle_per_thread) rank_ = shared;
  }
  /// For launches on host threads: what one thread of `original`'s kernel gets.
  GPUSYNC_HD basic_fault_tolerant_barrier(detail::for_one_thread, const basic_fault_tolerant_barrier& original)
      : basic_fault_tolerant_barrier(original.words_, original.blocks_, original.header_) {
    rank_ = unknown;
  }

  /// Of the memory behind a barrier of so many blocks.
  GPUSYNC_HD static constexpr size_t bytes(uint32_t blocks) {
    return layout{blocks}.object() * sizeof(uint64_t) + Agreement::bytes;
  }
  /// The most accesses to memory of arrive() and wait() together, without the polls that fail.
  GPUSYNC_HD static constexpr uint64_t max_steps(uint32_t blocks) {
    // The arrival, a poll, an acquire; compare-and-swaps, each but one of which fails because of somebody's arrival in
    // this phase or in the one before; the flags; joining the object, the operation.
    return 4 + (2 * uint64_t{blocks} + 1) + blocks + Agreement::max_steps + 2 * uint64_t{Agreement::words};
  }

  /// Blocks of the launch.
  GPUSYNC_HD uint32_t blocks() const { return blocks_; }
  /// How a launch finds the storage.
  GPUSYNC_HD const detail::handle_header& header() const { return header_; }

  /// The calling block has come to the end of its phase; does not wait. If nobody's deadline was over before, it will
  /// not be removed in this phase, however long it stays away from wait(). After `removed` does nothing.
  GPUSYNC_API void arrive() {
    Grid grid = Grid::current();
    if (rank_ >= shared) enter(grid);
    grid.sync_block();
    if (removed_ || !acts(grid)) return;
    const Machine machine;
    seen_ = machine.arrive(words_ + at().flag(grid.block()), phase_ + 1, words_ + at().arrivals(epoch_)) + 1;
  }

  /// Waits until all members have arrived in the phase in which this block has, or until `span` is over, which
  /// begins after the first failed polls. All threads of the block get the same answer.
  GPUSYNC_API phase_outcome wait(timeout span) {
    Grid::current().separate_timeout_flags();
    return wait_after_arrival(span);
  }

  /// arrive() and wait().
  GPUSYNC_API phase_outcome arrive_and_wait(timeout span) {
    arrive();
    return wait_after_arrival(span);
  }

  /// The members of the last phase that this block has passed; before the first, all blocks. The same in all survivors,
  /// but for the rank.
  GPUSYNC_API survivors members() const { return {epoch_, count_, rank_ >= shared ? Grid::current().block() : rank_}; }
  /// Whether a block is a member.
  GPUSYNC_HD bool is_member(uint32_t block) const { return block < blocks_ && !has(lost_, block); }
  /// Whether a block was a member until the last loss: those that were and are not have been lost then.
  GPUSYNC_HD bool was_member(uint32_t block) const { return block < blocks_ && !has(lost_before_, block); }
  /// The rank of a member, or the rank that it had until the last loss.
  GPUSYNC_HD uint32_t rank_of(uint32_t block) const { return block - ones_below(lost_, block); }
  /// The rank that a block had until the last loss.
  GPUSYNC_HD uint32_t rank_before(uint32_t block) const { return block - ones_below(lost_before_, block); }
  /// Members until the last loss.
  GPUSYNC_HD uint32_t count_before() const { return blocks_ - ones_below(lost_before_, blocks_); }

  /// Phases that this block has passed, modulo 2^32.
  GPUSYNC_HD uint32_t phase() const { return phase_; }
  /// The barrier's words, for tests.
  GPUSYNC_HD uint64_t* memory() const { return words_; }

 private:
  static constexpr uint32_t unknown = ~0u;
  static constexpr uint32_t shared = unknown - 1;  ///< on host threads: what a launch is to be given, not its threads

  /// Nothing but the block's arrival stands between this wait and any other.
  GPUSYNC_API phase_outcome wait_after_arrival(timeout span) {
    Grid grid = Grid::current();
    if (removed_) return phase_outcome::removed;
    if (timeout_flag_ == 0) timeout_flag_ = grid.prepare_timeout_flag();
    phase_outcome outcome = phase_outcome::passed;
    if (acts(grid)) {
      outcome = wait_alone(grid, span);
      if (outcome != phase_outcome::passed) {
        post(grid);
        grid.raise_timeout_flag(timeout_flag_);
      }
    }
    if (grid.sync_block_any(outcome != phase_outcome::passed, timeout_flag_)) {
      if (!acts(grid)) read_notice(grid);
      outcome = removed_ ? phase_outcome::removed : phase_outcome::members_lost;
    }
    ++phase_;
    goal_ += count_;
    return outcome;
  }

  GPUSYNC_HD layout at() const { return {blocks_}; }
  /// Whether the calling thread is one of those that act for the block.
  GPUSYNC_API static bool acts(Grid grid) { return grid.thread() < Machine::lanes; }

  GPUSYNC_API void enter(Grid grid) {
    if (rank_ == shared) grid.fail(nullptr, misuse::shared_handle, 0);
    if (grid.block() >= blocks_) grid.fail(nullptr, misuse::outsider, blocks_);
    rank_ = grid.block();
  }

  /// Whether the phase has ended, or must be ended by agreement. A word that is closed says so whatever it counts:
  /// arrivals that came after it was closed do not undo that.
  GPUSYNC_HD bool over(uint64_t seen) const { return is_closed(seen) || word::count(seen) >= goal_; }
  GPUSYNC_HD bool is_closed(uint64_t seen) const { return word::closings(seen) != closings_; }

  /// For the threads that act.
  GPUSYNC_API phase_outcome wait_alone(Grid grid, timeout span) {
    const Machine machine;
    uint64_t* const arrivals = words_ + at().arrivals(epoch_);
    uint64_t seen = seen_;
    if (!over(seen)) {
      deadline limit(span);
      for (uint32_t polls = 1;; ++polls) {
        seen = machine.poll(arrivals, seen);
        if (over(seen)) {
          machine.acquire(arrivals);
          break;
        }
        if (polls % Grid::polls_per_look == 0 && machine.late(grid, limit)) {
          seen = close(machine, arrivals, seen);
          break;
        }
        grid.pause();
      }
    }
    if (!is_closed(seen)) return phase_outcome::passed;
    const uint32_t self = grid.block();
    return accept(agree(words_, blocks_, self, epoch_, phase_, seen), self);
  }

  /// Ends the phase in which others are missing, unless it has come to its end just then. Arrivals of the phase, and of
  /// those who were counted by their flags in the one before, may come in between, each once.
  GPUSYNC_API uint64_t close(const Machine& machine, uint64_t* arrivals, uint64_t seen) const {
    while (!over(seen)) {
      const uint64_t closed = word::closed(seen, phase_);
      const uint64_t before = machine.template compare_exchange<memory_order::acq_rel>(arrivals, seen, closed);
      if (before == seen) return closed;
      seen = before;
    }
    return seen;
  }

  /// The word was found closed: proposes an end of the phase, and learns which end it has taken. Out of line, for it is
  /// rare and long; and of values, so that the barrier itself can stay in registers.
  GPUSYNC_API GPUSYNC_COLD static log agree(uint64_t* words, uint32_t blocks, uint32_t self, uint32_t epoch,
                                            uint32_t phase, uint64_t seen) {
    const Machine machine;
    const layout at{blocks};
    verdict proposed;
    proposed.epoch = static_cast<uint16_t>(epoch);
    proposed.closings = word::before(word::closings(seen));
    // If it was closed in the phase after this block's, then that was missed, and this block is among the late ones.
    const uint32_t closed = word::parity(seen) == (phase & 1) ? phase : phase + 1;
    find_late(machine, words + at.flag(0), blocks, closed, proposed.late);
    auto me = Agreement(words + at.object()).join(self, machine);
    return proposed(me.apply(proposed));
  }

  /// What this block makes of what has been agreed. If it is a member, that is the end of its own phase: nobody is a
  /// member after the end of a later one who has not arrived there.
  GPUSYNC_API phase_outcome accept(const log& agreed, uint32_t self) {
    removed_ = has(agreed.lost, self);
    if (!removed_ && agreed.epoch == epoch_) {
      closings_ = agreed.closings;
      return phase_outcome::passed;
    }
    adopt(agreed.epoch, agreed.lost, self);
    return removed_ ? phase_outcome::removed : phase_outcome::members_lost;
  }

  /// Bits of those that have not arrived in `phase`. An acquire of each flag, for who is found there is waited for no
  /// longer.
  GPUSYNC_API static void find_late(const Machine& machine, const uint64_t* flags, uint32_t blocks, uint32_t phase,
                                    uint32_t (&late)[lost_words]) {
    for (uint32_t i = 0; i < lost_words; ++i) {
      late[i] = 0;
      for (uint32_t bit = 0; bit < 32; bit += Machine::lanes) {
        const uint32_t block = 32 * i + bit + machine.lane();
        bool missing = false;
        if (block < blocks) {
          const uint64_t flag = machine.template load<memory_order::acquire>(flags + block);
          missing = static_cast<int32_t>(static_cast<uint32_t>(flag) - (phase + 1)) < 0;
        }
        late[i] |= machine.ballot(missing) << bit;
      }
    }
  }

  /// The members have changed.
  GPUSYNC_API void adopt(uint32_t epoch, const uint32_t (&lost)[lost_words], uint32_t self) {
    epoch_ = epoch;
    closings_ = 0;
    for (uint32_t i = 0; i < lost_words; ++i) {
      lost_before_[i] = lost_[i];
      lost_[i] = lost[i];
    }
    count_ = blocks_ - ones_below(lost_, blocks_);
    rank_ = self - ones_below(lost_, self);
    goal_ = 0;  // wait() adds the first phase's
  }

  /// For the block's other threads, which read it behind a block barrier.
  GPUSYNC_API void post(Grid grid) const {
    if (grid.threads() <= Machine::lanes || grid.thread() != 0) return;
    const Machine machine;
    uint64_t* const notice = words_ + at().notice(grid.block());
    machine.template store<memory_order::relaxed>(notice, epoch_);
    machine.template store<memory_order::relaxed>(notice + 1, removed_ ? 1 : 0);
    for (uint32_t i = 0; i < lost_words; ++i) {
      machine.template store<memory_order::relaxed>(notice + 2 + i, lost_[i]);
    }
  }
  GPUSYNC_API void read_notice(Grid grid) {
    const Machine machine;
    const uint64_t* const notice = words_ + at().notice(grid.block());
    uint32_t lost[lost_words];
    for (uint32_t i = 0; i < lost_words; ++i) {
      lost[i] = static_cast<uint32_t>(machine.template load<memory_order::relaxed>(notice + 2 + i));
    }
    removed_ = machine.template load<memory_order::relaxed>(notice + 1) != 0;
    adopt(static_cast<uint32_t>(machine.template load<memory_order::relaxed>(notice)), lost, grid.block());
  }

  GPUSYNC_HD static bool has(const uint32_t (&bits)[lost_words], uint32_t block) {
    return (bits[block / 32] >> block % 32 & 1) != 0;
  }
  GPUSYNC_HD static uint32_t ones_below(const uint32_t (&bits)[lost_words], uint32_t block) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < lost_words; ++i) {
      uint32_t rest = bits[i];
      if (block <= 32 * i) rest = 0;
      if (block > 32 * i && block < 32 * i + 32) rest &= (1u << (block - 32 * i)) - 1;
      for (; rest != 0; rest &= rest - 1) ++count;
    }
    return count;
  }

  detail::handle_header header_;
  uint64_t* words_;
  uint32_t blocks_;
  uint32_t phase_ = 0;
  uint64_t goal_;      ///< arrivals of the epoch when this phase has ended
  uint64_t seen_ = 0;  ///< the arrivals' word just after the own one
  uint32_t epoch_ = 0;
  uint32_t count_;
  uint32_t rank_ = unknown;
  uint32_t timeout_flag_ = 0;
  uint16_t closings_ = 0;  ///< of this epoch, as far as this block has heard of their ends
  bool removed_ = false;
  uint32_t lost_[lost_words] = {};
  uint32_t lost_before_[lost_words] = {};
};

}  // namespace gpusync
