// Ordered streams from one block to another, for wavefronts and pipelines. Each word that is sent carries a tag that
// proves it, so that a stream needs no fence, no barrier of the grid and no reset between launches.
//
//   __global__ void stage(gpusync::channels<float> channels, …) {
//     auto in = channels.receiver(blockIdx.x - 1);        // channel c leads from block c to block c + 1
//     auto out = channels.sender(blockIdx.x);
//     for (int chunk = 0; chunk < chunks; ++chunk) {
//       const float x = in.get(threadIdx.x);              // waits for this one word
//       in.next();                                        // the block has its chunk: gives the credit back
//       out.put(threadIdx.x, f(x));                       // waits until there is room for the chunk
//       out.next();
//     }
//   }
#pragma once

#include <gpusync/core/concepts.hpp>
#include <gpusync/core/handle.hpp>
#include <gpusync/core/wait.hpp>

#if !defined(__CUDACC_RTC__)
#include <cstring>
#endif

namespace gpusync {

namespace detail {

/// Where the words of channels lie. Words of 64 bits: two lines of counters for each channel, then its ring.
struct channel_layout {
  static constexpr uint32_t line = line_words / 2;  ///< words of 64 bits
  static constexpr uint32_t table_words = 4;  ///< of 32 bits for each channel: from, to, depth, first line of its ring

  /// Chunks that the receiver has taken. The credit: written by the receiver, polled by the sender.
  GPUSYNC_HD static constexpr size_t taken(uint32_t channel) { return size_t{channel} * 2 * line; }
  /// Chunks that the sender has sent. For its next launch, and for reports; nobody waits for it.
  GPUSYNC_HD static constexpr size_t sent(uint32_t channel) { return taken(channel) + line; }
  /// Lines of a ring.
  GPUSYNC_HD static constexpr uint64_t ring_lines(uint64_t words) { return (words + line - 1) / line; }
};

/// A value as it is in memory: of 4 bytes in one word with its tag, of 8 bytes in two words with a tag each, which are
/// written by one access and prove themselves each.
template <class T, size_t Size = sizeof(T)>
struct tagged_word;

template <class T>
struct tagged_word<T, 4> {
  using type = uint64_t;
  static constexpr uint32_t words = 1;

  GPUSYNC_HD static type of(const T& value, uint32_t tag) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return uint64_t{tag} << 32 | bits;
  }
  GPUSYNC_HD static bool proves(const type& word, uint32_t tag) { return static_cast<uint32_t>(word >> 32) == tag; }
  GPUSYNC_HD static T value(const type& word) {
    const auto bits = static_cast<uint32_t>(word);
    T value;
    memcpy(static_cast<void*>(&value), &bits, sizeof(bits));
    return value;
  }
};

template <class T>
struct tagged_word<T, 8> {
  using type = word_pair;
  static constexpr uint32_t words = 2;

  GPUSYNC_HD static type of(const T& value, uint32_t tag) {
    uint32_t bits[2];
    memcpy(bits, &value, sizeof(bits));
    return {uint64_t{tag} << 32 | bits[0], uint64_t{tag} << 32 | bits[1]};
  }
  GPUSYNC_HD static bool proves(const type& word, uint32_t tag) {
    return static_cast<uint32_t>(word.first >> 32) == tag && static_cast<uint32_t>(word.second >> 32) == tag;
  }
  GPUSYNC_HD static T value(const type& word) {
    const uint32_t bits[2] = {static_cast<uint32_t>(word.first), static_cast<uint32_t>(word.second)};
    T value;
    memcpy(static_cast<void*>(&value), bits, sizeof(bits));
    return value;
  }
};

/// What a storage gives to its handle.
struct channels_argument {
  handle_header header;
  uint64_t* words;        ///< see channel_layout
  const uint32_t* table;  ///< see channel_layout
  uint32_t channels;
  uint32_t chunk;
  arrival_log log;
};

/// What a poll is asked until it says yes, and the word that made it do so.
template <class Word, class Accepts>
struct keeps_word {
  Accepts accepts;
  Word word;
  GPUSYNC_HD bool operator()(const Word& seen) {
    word = seen;
    return accepts(seen);
  }
};

/// One end of a channel: its place in the stream.
template <class T, class Grid>
class channel_end {
 protected:
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a channel carries values of 4 or of 8 bytes");
  static_assert(__is_trivially_copyable(T), "a channel carries bytes");
  using memory = typename Grid::memory;
  using tagged = tagged_word<T>;
  using word = typename tagged::type;

  /// `mine`, `others`: the channel's counters, this end's and the other's. `side`: 0 for the sender, 1 for the
  /// receiver.
  GPUSYNC_API channel_end(const channels_argument& given, uint32_t channel, uint32_t side, const Grid& grid)
      : grid_(grid), log_(given.log), chunk_(given.chunk) {
    // What an earlier end of this block has noted is there.
    grid_.sync_block();
    if (channel >= given.channels) grid.fail(log_.report, misuse::wrong_end, channel);
    const uint32_t* const row = given.table + channel * channel_layout::table_words;
    const auto entry = [row](uint32_t i) {
      return memory::template load<memory_order::relaxed, scope::device>(row + i);
    };
    if (entry(side) != grid.block()) grid.fail(log_.report, misuse::wrong_end, channel);
    partner_ = entry(1 - side);
    depth_ = entry(2);
    ring_ = reinterpret_cast<word*>(given.words + size_t{entry(3)} * channel_layout::line);
    uint64_t* const taken = given.words + channel_layout::taken(channel);
    uint64_t* const sent = given.words + channel_layout::sent(channel);
    mine_ = side == 0 ? sent : taken;
    others_ = side == 0 ? taken : sent;
    first_ = count_ = memory::template load<memory_order::relaxed, scope::device>(mine_);
    others_first_ = memory::template load<memory_order::relaxed, scope::device>(others_);
    grid_.sync_block();  // all have read it before the first thread counts on
    tag_ = static_cast<uint32_t>(count_ / depth_) + 1;
    slot_ = static_cast<uint32_t>(count_ % depth_);
  }

  /// Where the i-th word of the chunk is.
  GPUSYNC_API word* at(uint32_t i) const {
    if (i >= chunk_) grid_.fail(log_.report, misuse::beyond_chunk, i);
    return ring_ + (size_t{slot_} * chunk_ + i);
  }

  /// The chunk is done with; counted by one thread.
  GPUSYNC_API void count_chunk() {
    ++count_;
    if (grid_.thread() == 0) memory::template store<memory_order::relaxed, scope::device>(mine_, count_);
    if (++slot_ == depth_) {
      slot_ = 0;
      ++tag_;
    }
  }

  /// Polls until `accepts(*address)`; `seen` is what it accepted.
  GPUSYNC_API_TEMPLATE
  template <class Word, class Accepts, class Deadline>
  GPUSYNC_HD wait_status wait_for(const Word* address, Accepts accepts, Deadline limit, Word& seen) const {
    const auto phase = static_cast<uint32_t>(count_ - first_);
    wait_context<Deadline> context(limit, log_, grid_.block(), phase + 1);
    keeps_word<Word, Accepts> later{accepts, {}};
    const auto soon = [&seen, accepts](const Word& found) {
      seen = found;
      return accepts(found);
    };
    const auto end = poll_until_or<memory_order::relaxed, scope::device>(grid_, address, soon, later, context);
    if (end.status == wait_status::timed_out) {
      report(phase);
      return end.status;
    }
    if (!accepts(seen)) seen = end.done.word;
    return wait_status::completed;
  }

  Grid grid_;
  arrival_log log_;
  word* ring_;
  uint64_t *mine_, *others_;  ///< counters of chunks
  uint64_t count_;            ///< chunks done with at this end, ever
  uint64_t first_;            ///< the same when the end was made
  uint64_t others_first_;     ///< the same of the other end
  uint32_t chunk_, depth_;
  uint32_t slot_;  ///< of the chunk, and
  uint32_t tag_;   ///< how often the ring has been gone through, and 1: memory is zero at first
  uint32_t partner_;

 private:
  GPUSYNC_API void report(uint32_t phase) const {
    const uint32_t partner = partner_;
    const bool seen = memory::template load<memory_order::relaxed, scope::device>(others_) != others_first_;
    log_.report_late(
        grid_, 1, phase,
        [partner, seen](uint32_t) -> arrival_log::presence {
          return {partner, true, true, seen};
        },
        [] {});
  }
};

}  // namespace detail

/// The end of a channel at which values go in. Made by channels::sender() in the kernel; stays with the threads that
/// made it, and is passed by reference.
///
/// Each thread puts words of the current chunk, every word once and by one thread; a word can be got as soon as it is
/// put, and other words than those that are got need not be put. Grid: of the threads of the end.
template <class T, class Grid>
class channel_sender : public detail::passed_by_reference<channel_sender<T, Grid>>, detail::channel_end<T, Grid> {
  using end = detail::channel_end<T, Grid>;

 public:
  /// Use channels::sender() instead.
  GPUSYNC_API channel_sender(const detail::channels_argument& given, uint32_t channel, const Grid& grid)
      : end(given, channel, 0, grid) {
    taken_ = this->others_first_;
  }

  /// Sends `value` as the chunk's word number `i`; first waits until there is room for the chunk, that is, until the
  /// receiver has done with the one that was `depth` before it. Called by one thread; one relaxed store.
  GPUSYNC_API void put(uint32_t i, const T& value) { (void)put_within(i, value, no_deadline{}); }
  /// The same. timed_out: there was no room within `span`, nothing was sent, and the channels of the storage are lost:
  /// leave the kernel. The storage's report() names the receiver's block and the chunk.
  GPUSYNC_API wait_status put_for(uint32_t i, const T& value, timeout span) {
    return put_within(i, value, deadline(span));
  }

  /// The thread has put its words of this chunk and goes on to the next. Called by all threads of the end, which need
  /// not meet for it; waits for nothing.
  GPUSYNC_API void next() { this->count_chunk(); }

 private:
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status put_within(uint32_t i, const T& value, Deadline limit) {
    typename end::word* const to = this->at(i);
    const uint64_t needed = this->count_ + 1 - this->depth_;
    const auto there_is_room = [needed](uint64_t taken) { return static_cast<int64_t>(taken - needed) >= 0; };
    if (!there_is_room(taken_)) {
      if (this->wait_for(this->others_, there_is_room, limit, taken_) == wait_status::timed_out)
        return wait_status::timed_out;
    }
    end::memory::template store<memory_order::relaxed, scope::device>(to, end::tagged::of(value, this->tag_));
    return wait_status::completed;
  }

  uint64_t taken_;  ///< chunks that the receiver has taken, as far as this thread knows
};

/// The end of a channel at which values come out. Made by channels::receiver() in the kernel; stays with the threads
/// that made it, and is passed by reference.
template <class T, class Grid>
class channel_receiver : public detail::passed_by_reference<channel_receiver<T, Grid>>, detail::channel_end<T, Grid> {
  using end = detail::channel_end<T, Grid>;

 public:
  /// Use channels::receiver() instead.
  GPUSYNC_API channel_receiver(const detail::channels_argument& given, uint32_t channel, const Grid& grid)
      : end(given, channel, 1, grid) {}

  /// The chunk's word number `i`; waits until it has been put. Any threads of the end may get any words, in any order
  /// and more than once.
  GPUSYNC_API T get(uint32_t i) {
    T value{};
    (void)get_within(i, value, no_deadline{});
    return value;
  }
  /// The same. timed_out: it did not come within `span`, `value` is as it was, and the channels of the storage are
  /// lost: leave the kernel. The storage's report() names the sender's block and the chunk.
  GPUSYNC_API wait_status get_for(uint32_t i, T& value, timeout span) { return get_within(i, value, deadline(span)); }

  /// The threads of the end have got what they want of this chunk: they meet, the sender has its credit, and the next
  /// chunk is the current one. Called by all threads of the end.
  GPUSYNC_API void next() {
    // All have their values in registers: no more than that must have happened before the credit, so it can be relaxed.
    this->grid_.sync_block();
    this->count_chunk();
  }

 private:
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status get_within(uint32_t i, T& value, Deadline limit) const {
    const typename end::word* const from = this->at(i);
    const uint32_t tag = this->tag_;
    // Equal and nothing else: what was put a lap before is still there, and what is to be put a lap later is not, for
    // the sender waits for this chunk's credit.
    const auto is_there = [tag](const typename end::word& found) { return end::tagged::proves(found, tag); };
    typename end::word seen{};
    if (this->wait_for(from, is_there, limit, seen) == wait_status::timed_out) return wait_status::timed_out;
    value = end::tagged::value(seen);
    return wait_status::completed;
  }
};

/// Channels between the blocks of a running grid, each from one block to another, or to itself: ordered streams of
/// chunks of words. The parameter of a kernel, by value; whatever the kernel calls takes it by reference. It stays
/// valid as long as the storage that made it.
///
/// A channel has a ring of `depth` chunks of `chunk` words. The sender puts the words of a chunk and goes on to the
/// next(); it may be as many chunks ahead of the receiver as there are in the ring. The receiver gets the words and
/// gives the chunk's place back by next(). An end is held by all threads of a block or, given a view of them
/// (cuda_warps_grid), by some of its warps. A block may hold any number of ends, both of one channel too if other
/// warps hold them; an end that is made anew goes on where the one before has stopped, also in the next launch: what
/// was sent and not taken is taken then.
/// The last chunk of an end needs its next() too: without it the chunk does not count, so a sender made anew puts the
/// same chunk again, and a receiver made anew gets it again.
///
/// What it orders: nothing but its own words. A value that was got is the one that was put in its place; weak data
/// that the sender wrote before need not be visible to who got it. That is why no fence is needed: each word carries a
/// tag, the number of its ring's lap, written with the value by one access, and is accepted only with the right tag.
/// The receiver's credit may be relaxed, for its values are in registers by then.
///
/// Deadlines: put_for() and get_for(); each thread waits for itself. After one has timed out, all later waits with a
/// deadline on the storage's channels that turn out long time out too, those without end the launch
/// (misuse::lost_phase), and further launches are refused until the storage's reset().
///
/// Cost: of a word one store of 8 bytes (16 for values of 8) and the polls of one address by who gets it; of a chunk
/// one store at each end, a meeting of the receiver's threads, and a poll by each putting thread when it has come to
/// the end of the credit that it knows of. Storage: see channel_storage. Progress: the block at the other end must be
/// running: gpusync::launch() sees to that.
///
/// Counts go to 2^64 chunks. Tags come back after 2^32 laps: a word that no chunk of its slot has held for exactly so
/// many laps, and that is got before it is put, would be taken for new.
///
/// T: trivially copyable, of 4 or 8 bytes. Grid: cuda_grid or host_grid. Source: a ring of words of value and tag as in
/// the LL protocol of NCCL, with credits as in virtual-channel flow control (W. J. Dally, 1992).
template <class T, class Grid>
class basic_channels : public detail::passed_by_reference<basic_channels<T, Grid>> {
  static_assert(is_grid<Grid>, "a Grid has what core/concepts.hpp says");
  static_assert(Grid::whole_block, "the grid of the kernel; views of warps are given to sender() and receiver()");

 public:
  /// Use the storage's channels() instead.
  GPUSYNC_HD explicit basic_channels(const detail::channels_argument& given) : given_(given) {}
  /// For launches on host threads: what one thread of `original`'s kernel gets.
  GPUSYNC_HD basic_channels(detail::for_one_thread, const basic_channels& original) : given_(original.given_) {}

  /// The sending end of a channel, for all threads of the block, which call together. A block that is not the channel's
  /// sender ends the launch (misuse::wrong_end). At most one thing holds an end at a time.
  GPUSYNC_API channel_sender<T, Grid> sender(uint32_t channel) const {
    return channel_sender<T, Grid>(given_, channel, Grid::current());
  }
  /// The same for some warps of the block, which call together.
  GPUSYNC_API_TEMPLATE
  template <class View>
  GPUSYNC_HD channel_sender<T, View> sender(uint32_t channel, const View& view) const {
    require_valid(view);
    return channel_sender<T, View>(given_, channel, view);
  }
  /// The receiving end of a channel, for all threads of the block, which call together. A block that is not the
  /// channel's receiver ends the launch (misuse::wrong_end).
  GPUSYNC_API channel_receiver<T, Grid> receiver(uint32_t channel) const {
    return channel_receiver<T, Grid>(given_, channel, Grid::current());
  }
  /// The same for some warps of the block, which call together.
  GPUSYNC_API_TEMPLATE
  template <class View>
  GPUSYNC_HD channel_receiver<T, View> receiver(uint32_t channel, const View& view) const {
    require_valid(view);
    return channel_receiver<T, View>(given_, channel, view);
  }

  /// How many channels there are.
  GPUSYNC_HD uint32_t size() const { return given_.channels; }
  /// Words of a chunk.
  GPUSYNC_HD uint32_t chunk() const { return given_.chunk; }
  /// How a launch finds the storage.
  GPUSYNC_HD const detail::handle_header& header() const { return given_.header; }

 private:
  GPUSYNC_API_TEMPLATE
  template <class View>
  GPUSYNC_HD void require_valid(const View& view) const {
    static_assert(is_grid<View>, "a view has what core/concepts.hpp says of a Grid");
    if constexpr (!View::whole_block) {
      if (!view.valid()) view.fail(given_.log.report, misuse::bad_view, view.threads());
    }
  }

  detail::channels_argument given_;
};

}  // namespace gpusync
