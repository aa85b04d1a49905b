// Counters by which the tasks of a graph wait for each other inside one kernel: a task awaits the counters of what it
// needs, and publishes to those of what it has made.
//
//   __global__ void run_tasks(gpusync::dependency_counters counters, task_list tasks, …) {
//     for (uint32_t t : tasks.of(blockIdx.x)) {
//       counters.await(t);                                        // all that task t needs has been published
//       work(t);
//       counters.publish(tasks.followers(t), tasks.followers_of(t));
//     }
//   }
#pragma once

#include <gpusync/core/concepts.hpp>
#include <gpusync/core/handle.hpp>
#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>

namespace gpusync {

namespace detail {

/// Where the words of dependency counters lie.
struct dependency_places {
  uint32_t* epochs;                ///< by block: the epochs that it has begun
  uint32_t* counters;              ///< all publishes so far, `pitch` words from one to the next
  const uint32_t* expected;        ///< by counter: publishes in an epoch
  const uint32_t* first_producer;  ///< by counter, where its part of `producers` begins; null: they are not known
  const uint32_t* producers;       ///< blocks
  uint32_t count;                  ///< of counters
  uint32_t pitch;                  ///< 1, or a line's words

  GPUSYNC_HD uint32_t* counter(uint32_t number) const { return counters + size_t{number} * pitch; }
};

/// What a storage gives to a kernel.
struct counters_argument {
  handle_header header;
  dependency_places places;
  arrival_log log;
};

/// The arithmetic of epochs: what counters are compared with. A class of its own, so that the explorer can run the text
/// with each line of it wrong.
struct counter_epochs {
  /// What a counter holds before the first publish of an epoch, modulo 2^32: it is never reset.
  GPUSYNC_HD static constexpr uint32_t begin(uint32_t epoch, uint32_t expected) { return epoch * expected; }
  /// Whether a counter has come so far, or further: producers may be epochs ahead of who looks.
  GPUSYNC_HD static constexpr bool reached(uint32_t value, uint32_t goal) { return phase_reached(value, goal); }
  /// Whether a publish must see to it that the epoch before is complete. In a launch's first epoch it is, for launches
  /// follow each other.
  GPUSYNC_HD static constexpr bool may_mix(uint32_t epoch, uint32_t first) { return epoch != first; }
};

/// One counter, of a list or alone.
struct one_counter {
  uint32_t number;
  GPUSYNC_HD static constexpr uint32_t size() { return 1; }
  GPUSYNC_HD uint32_t operator[](uint32_t) const { return number; }
};
struct several_counters {
  const uint32_t* numbers;
  uint32_t count;
  GPUSYNC_HD uint32_t size() const { return count; }
  GPUSYNC_HD uint32_t operator[](uint32_t i) const { return numbers[i]; }
};

}  // namespace detail

/// Dependency counters of one running grid. The parameter of a kernel, by value; whatever the kernel calls takes it by
/// reference. It stays valid as long as the storage that made it.
///
/// A counter is told on the host how many publishes it gets in an epoch. publish() says that what the block has written
/// so far can be read; await() returns once all publishes of the epoch are there. Any block may publish to a counter,
/// any number of times, as long as the numbers add up; any number of blocks may await it, as often as they like.
///
/// Order: what the threads of a block wrote before publish() is visible to the threads of a block after its await() of
/// the same counter in the same epoch, and so is what they had come to see (release and acquire at device scope). A
/// publish orders nothing the other way: a block that overwrites what others may still be reading must await a counter
/// to which these publish when they have read.
///
/// Epochs: a launch begins one, next_epoch() another, in each block for itself; nothing is reset, also not between
/// launches. All blocks of a launch go through as many epochs, and each calls some function of the handle in every
/// launch, if only enter(), or the number of the epoch in which it stands falls behind. No publish is taken for one of
/// another epoch: from a launch's second epoch on, publish() waits until the epoch before is complete, which it most
/// often long is. So within an epoch publishes must not depend on what comes in a later one.
///
/// All threads of a block call each function together, with the same arguments.
///
/// What breaks the contract and can be seen ends the launch (see misuse): a publish more than the storage was told, one
/// to a counter that earlier launches have left incomplete, a counter that does not exist, a wait without a deadline
/// (publish()'s too) after one was given up. On the host the launch throws; on a GPU it fails, and the storage has the
/// reason (storage.report()). A surplus publish is found with the block's next call. One that is a block's last call of
/// a launch may never be found, and lets waits of later launches end too early: call enter() behind the last publish.
///
/// Progress: that of the blocks that publish; launch it with gpusync::launch(), which sees to it that all run at once.
/// A graph whose tasks come, in each block, in an order in which they can be done one after the other cannot deadlock.
/// Cost: publish() is a block barrier, a release and an addition in L2; await() polls of L2 by one thread, an acquire,
/// a block barrier. A list costs as much as its slowest member, for each thread takes one. The first call in a launch
/// costs a load and a block barrier more. Storage: 4 bytes a counter, or a line of 128, see counter_spacing.
///
/// Grid: cuda_grid or host_grid. Epochs: the arithmetic, which only tests change.
template <class Grid, class Epochs = detail::counter_epochs>
class basic_dependency_counters : public detail::passed_by_reference<basic_dependency_counters<Grid, Epochs>> {
  static_assert(is_grid<Grid>, "a Grid has what core/concepts.hpp says");
  static_assert(Grid::whole_block, "tasks are run by whole blocks");

 public:
  /// Use the storage's counters() instead.
  GPUSYNC_HD explicit basic_dependency_counters(const detail::counters_argument& given) : given_(given) {
    if constexpr (Grid::handle_per_thread) standing_ = standing::original;
  }
  /// For launches on host threads: what one thread of `original`'s kernel gets.
  GPUSYNC_HD basic_dependency_counters(detail::for_one_thread, const basic_dependency_counters& original)
      : given_(original.given_) {}

  /// How many counters there are. They are numbered from 0.
  GPUSYNC_HD uint32_t size() const { return given_.places.count; }
  /// Publishes that a counter gets in an epoch.
  GPUSYNC_HD uint32_t expected(uint32_t counter) const { return given_.places.expected[counter]; }
  /// How a launch finds the storage.
  GPUSYNC_HD const detail::handle_header& header() const { return given_.header; }

  /// Does now what the block's first call would do: finds the epoch that the block is in. For blocks that have nothing
  /// to do, and before a loop of tasks. Behind a loop it looks whether the block's last publish was one too many.
  GPUSYNC_API void enter() {
    Grid grid = Grid::current();
    join(grid);
    check_published(grid);
  }

  /// The epoch that the block is in, counted from 0 since the storage was made, modulo 2^32. Its parity tells which of
  /// two buffers is this epoch's.
  GPUSYNC_API uint32_t epoch() {
    enter();
    return epoch_;
  }

  /// Says that all threads of the block have done what who awaits the counter waits for.
  GPUSYNC_API void publish(uint32_t counter) { (void)publish_within(detail::one_counter{counter}, no_deadline{}); }
  /// The same to several counters at once, one thread each; a counter may stand in the list more than once. `counters`:
  /// memory that all threads of the block can read, and that stays as it is until they have met again.
  GPUSYNC_API void publish(const uint32_t* counters, uint32_t count) {
    (void)publish_within(detail::several_counters{counters, count}, no_deadline{});
  }

  /// Waits until all publishes of this epoch to the counter are there.
  GPUSYNC_API void await(uint32_t counter) { (void)await_within(detail::one_counter{counter}, no_deadline{}); }
  /// The same for several counters at once, one thread each.
  GPUSYNC_API void await(const uint32_t* counters, uint32_t count) {
    (void)await_within(detail::several_counters{counters, count}, no_deadline{});
  }

  /// As await(), but gives up `span` after the first few polls have failed, and at once where a wait has been given up
  /// before, by this launch or by an earlier one. All threads of a block get the same answer.
  ///
  /// After timed_out the epoch is lost and the counters unusable until their storage is reset: leave the kernel. The
  /// storage says which counter was waited for in which epoch, how many of its publishes were there, and which blocks
  /// may have failed to come, if it was told who publishes.
  /// Cost: that of await(), two block barriers and a word of static shared memory more.
  GPUSYNC_API wait_status await_for(uint32_t counter, timeout span) {
    return await_within(detail::one_counter{counter}, deadline(span));
  }
  /// The same for several counters.
  GPUSYNC_API wait_status await_for(const uint32_t* counters, uint32_t count, timeout span) {
    return await_within(detail::several_counters{counters, count}, deadline(span));
  }

  /// As publish(), with a deadline for where it waits: until the epoch before is complete. timed_out: nothing was
  /// published; leave the kernel.
  GPUSYNC_API wait_status publish_for(uint32_t counter, timeout span) {
    return publish_within(detail::one_counter{counter}, deadline(span));
  }
  /// The same to several counters.
  GPUSYNC_API wait_status publish_for(const uint32_t* counters, uint32_t count, timeout span) {
    return publish_within(detail::several_counters{counters, count}, deadline(span));
  }

  /// The block goes on to the next epoch; waits for nobody. It has made all its publishes of this one.
  GPUSYNC_API void next_epoch() {
    Grid grid = Grid::current();
    join(grid);
    check_published(grid);
    last_ = none;
    ++epoch_;
    if (grid.thread() == 0) note_epoch(grid);
  }

 private:
  enum class standing : uint32_t {
    joined,   ///< the epoch is known
    fresh,    ///< not yet used in this launch
    lost,     ///< a wait was given up
    original  ///< given to a launch, which makes one of it for each thread
  };

  /// Finds the block's epoch, in the first call of a launch.
  GPUSYNC_API void join(Grid grid) {
    if (standing_ == standing::joined || standing_ == standing::lost) return;
    if (standing_ == standing::original) grid.fail(given_.log.report, misuse::shared_handle, 0);
    using memory = typename Grid::memory;
    first_ = epoch_ = memory::template load<memory_order::relaxed, scope::device>(own_epochs(grid));
    // Behind the barrier nobody reads the word any more.
    const bool lost = grid.sync_block_or(given_.log.lost_to_block(grid) != 0);
    standing_ = lost ? standing::lost : standing::joined;
    if (grid.thread() == 0 && !lost) note_epoch(grid);
  }

  GPUSYNC_API uint32_t* own_epochs(Grid grid) const { return given_.places.epochs + grid.block(); }
  /// The word has the epochs that were begun: the next launch begins the one behind them.
  GPUSYNC_API void note_epoch(Grid grid) const {
    Grid::memory::template store<memory_order::relaxed, scope::device>(own_epochs(grid), epoch_ + 1);
  }

  GPUSYNC_API void require_counter(Grid grid, uint32_t number) const {
    if (number >= given_.places.count) refuse(grid, given_.log.report, misuse::unknown_counter, number);
  }

  GPUSYNC_API GPUSYNC_COLD static void refuse(Grid grid, timeout_report* report, misuse reason, uint32_t detail) {
    grid.fail(report, reason, detail);
  }

  /// A call on counters that were lost before.
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status in_vain(Grid grid) const {
    if constexpr (!Deadline::bounded) refuse(grid, given_.log.report, misuse::lost_phase, 0);
    return wait_status::timed_out;
  }

  /// Polls a counter until all publishes of the epochs before `epoch` are there.
  GPUSYNC_API_TEMPLATE
  template <memory_order Order, class Deadline>
  GPUSYNC_HD wait_status poll(Grid grid, uint32_t number, uint32_t epoch, wait_context<Deadline>& context) const {
    using memory = typename Grid::memory;
    require_counter(grid, number);
    const uint32_t* const word = given_.places.counter(number);
    // The first look is under way while what it is compared with is read: one round trip to L2, and not two.
    const uint32_t seen = memory::template load<memory_order::relaxed, scope::device>(word);
    const uint32_t goal = Epochs::begin(epoch, given_.places.expected[number]);
    if (Epochs::reached(seen, goal)) {
      if constexpr (Order == memory_order::acquire) memory::template acquire<scope::device>(word);
      return wait_status::completed;
    }
    grid.pause();
    return poll_until<Order, scope::device>(
        grid, word, [goal](uint32_t value) { return Epochs::reached(value, goal); }, context);
  }

  /// A thread's part of the waits for counters until all publishes of the epochs before `epoch` are there.
  /// `late`: the one that was waited for in vain.
  GPUSYNC_API_TEMPLATE
  template <memory_order Order, class Counters, class Deadline>
  GPUSYNC_HD wait_status poll_all(Grid grid, Counters counters, uint32_t epoch, wait_context<Deadline>& context,
                                  uint32_t& late) const {
    GPUSYNC_UNROLL(1)
    for (uint32_t i = grid.thread(); i < counters.size(); i += grid.threads()) {
      late = counters[i];
      if (poll<Order>(grid, late, epoch, context) == wait_status::timed_out) return wait_status::timed_out;
    }
    return wait_status::completed;
  }

  /// What a wait carries. Precondition: all threads of the block call it.
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_context<Deadline> begin_wait(Grid grid, Deadline limit) {
    if constexpr (Deadline::bounded) {
      if (timeout_flag_ == 0) {
        timeout_flag_ = grid.prepare_timeout_flag();
      } else {
        grid.separate_timeout_flags();
      }
    }
    return {limit, given_.log, grid.block(), 1, timeout_flag_};
  }

  /// The end of a wait for all publishes of `epoch`: the block meets. timed_out: who has given up says so.
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status end_wait(Grid grid, wait_status mine, const wait_context<Deadline>& context, uint32_t late,
                                  uint32_t epoch) {
    const wait_status status = sync_block_status(grid, mine, context);
    if constexpr (Deadline::bounded) {
      if (__builtin_expect(status == wait_status::timed_out, 0)) {
        if (mine == wait_status::timed_out) report(grid, given_.places, given_.log, late, epoch, first_);
        standing_ = standing::lost;
      }
    }
    return status;
  }

  GPUSYNC_API_TEMPLATE
  template <class Counters, class Deadline>
  GPUSYNC_HD wait_status await_within(Counters counters, Deadline limit) {
    Grid grid = Grid::current();
    join(grid);
    if (standing_ == standing::lost) return in_vain<Deadline>(grid);
    wait_context<Deadline> context = begin_wait(grid, limit);
    uint32_t late = 0;
    const wait_status mine = poll_all<memory_order::acquire>(grid, counters, epoch_ + 1, context, late);
    check_published(grid);
    return end_wait(grid, mine, context, late, epoch_);
  }

  GPUSYNC_API_TEMPLATE
  template <class Counters, class Deadline>
  GPUSYNC_HD wait_status publish_within(Counters counters, Deadline limit) {
    Grid grid = Grid::current();
    join(grid);
    if (standing_ == standing::lost) return in_vain<Deadline>(grid);
    wait_context<Deadline> context = begin_wait(grid, limit);
    if (Epochs::may_mix(epoch_, first_)) {
      // A publish before the last one of the epoch before would be taken for that, by who awaits it. The same thread
      // adds behind the barrier: its addition comes after all that this load has counted. Nothing is read that they
      // have published, so relaxed.
      uint32_t late = 0;
      const wait_status mine = poll_all<memory_order::relaxed>(grid, counters, epoch_, context, late);
      if (end_wait(grid, mine, context, late, epoch_ - 1) == wait_status::timed_out) return wait_status::timed_out;
    } else {
      grid.sync_block();
    }
    GPUSYNC_UNROLL(1)
    for (uint32_t i = grid.thread(); i < counters.size(); i += grid.threads()) add(grid, counters[i]);
    return wait_status::completed;
  }

  /// Adds a publish. What the counter held is looked at with the next call, for it takes a round trip to L2 to come.
  GPUSYNC_API void add(Grid grid, uint32_t number) {
    check_published(grid);
    require_counter(grid, number);
    last_ = number;
    last_expected_ = given_.places.expected[number];
    last_found_ =
        Grid::memory::template fetch_add<memory_order::release, scope::device>(given_.places.counter(number), 1u);
  }

  /// Whether the thread's last publish of this epoch was one of those that the storage was told of.
  GPUSYNC_API void check_published(Grid grid) const {
    if (last_ == none) return;
    const uint32_t before = last_found_ - Epochs::begin(epoch_, last_expected_);
    if (__builtin_expect(before < last_expected_, 1)) return;
    refuse(grid, given_.log.report, before < 1u << 31 ? misuse::surplus_publish : misuse::incomplete_epoch, last_);
  }

  /// Out of line: one thread, once. Of the counter's producers those are named that have not gone on to a later epoch.
  GPUSYNC_API GPUSYNC_COLD static void report(Grid grid, detail::dependency_places at, arrival_log log, uint32_t number,
                                              uint32_t epoch, uint32_t first) {
    using memory = typename Grid::memory;
    // Claims are counted in 16 bits, and here any number of threads may come.
    uint32_t claims = 0;
    if (log.lost(grid) != 0 || !log.claim_report(grid, claims)) return;
    const uint32_t found = memory::template load<memory_order::relaxed, scope::device>(at.counter(number));
    log.note_counter(grid, number, found - Epochs::begin(epoch, at.expected[number]), at.expected[number]);
    const uint32_t begin = at.first_producer == nullptr ? 0 : at.first_producer[number];
    const uint32_t end = at.first_producer == nullptr ? 0 : at.first_producer[number + 1];
    log.write_report(grid, claims, end - begin, epoch - first, [&](uint32_t i) -> arrival_log::presence {
      const uint32_t block = at.producers[begin + i];
      const uint32_t begun = memory::template load<memory_order::relaxed, scope::device>(at.epochs + block);
      return {block, true, !phase_reached(begun, epoch + 2), phase_reached(begun, first + 1)};
    });
  }

  static constexpr uint32_t none = ~0u;

  detail::counters_argument given_;
  uint32_t last_ = none;        ///< the counter that the thread has published to last in this epoch
  uint32_t last_expected_ = 0;  ///< its publishes in an epoch
  uint32_t last_found_ = 0;     ///< what it held before
  uint32_t epoch_ = 0;          ///< that the block is in
  uint32_t first_ = 0;          ///< of the launch
  standing standing_ = standing::fresh;
  uint32_t timeout_flag_ = 0;  ///< what the grid needs to tell a block of a timed-out wait; 0: not asked for yet
};

}  // namespace gpusync
