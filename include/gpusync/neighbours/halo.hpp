// Halo exchange: in each step a block publishes some words, and reads those of its neighbours.
//
//   __global__ void relax(gpusync::halo<float> halo, …) {
//     const auto left = halo.word(0, 0), right = halo.word(1, 0);   // word 0 of the neighbours in slots 0 and 1
//     for (int step = 0; step < steps; ++step) {
//       if (threadIdx.x == 0) halo.put(0, mine);
//       halo.send();
//       …                                                           // what needs nothing from others
//       halo.receive();
//       const float l = halo.get(left), r = halo.get(right);
//       …
//       halo.next();
//     }
//   }
#pragma once

#if !defined(__CUDACC_RTC__)
#include <string.h>  // memcpy, as run-time compilers have it
#endif

#include <gpusync/core/concepts.hpp>
#include <gpusync/core/handle.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/neighbours/flags.hpp>

namespace gpusync {

/// How the words of a halo get to the neighbours.
enum class halo_form : uint32_t {
  words,     ///< each with the number of its step beside it, which proves it: no fence, no flag; every word is polled
  flags,     ///< as plain data behind a flag of the block
  automatic  ///< as the launch finds better
};

/// A word of a neighbour's: where it lies. Made by a halo's word(), once, before the steps.
struct halo_word {
  uint32_t at = ~0u;  ///< ~0: there is no neighbour in that slot

  /// Whether there is a neighbour.
  GPUSYNC_HD bool exists() const { return at != ~0u; }
};

/// A word of the calling block: where it lies. Made by a halo's own(), once, before the steps.
struct halo_own_word {
  uint32_t at;
};
/// Two words of the calling block that go by one access where they are of 4 bytes. Made by a halo's own_pair().
struct halo_own_pair {
  uint32_t at;
};

namespace detail {

/// The bits of a halo's values, and what is polled for one.
template <size_t Bytes>
struct halo_unit;
/// {value, step}
template <>
struct halo_unit<4> {
  using bits = uint32_t;
  using unit = uint64_t;
  GPUSYNC_HD static unit make(bits value, uint32_t step) { return uint64_t{step} << 32 | value; }
  /// 0 if the word is of that step: something that needs no branch where there are many.
  GPUSYNC_HD static uint32_t apart(unit word, uint32_t step) { return static_cast<uint32_t>(word >> 32) ^ step; }
  GPUSYNC_HD static bool is_of(unit word, uint32_t step) { return apart(word, step) == 0; }
  /// Whether the word of that step has been overwritten by one of a later step.
  GPUSYNC_HD static bool is_gone(unit word, uint32_t step) {
    return static_cast<uint32_t>(word >> 32) - step - 1 < most_ahead;
  }
  GPUSYNC_HD static bits value(unit word) { return static_cast<bits>(word); }

  /// Further apart than that, a word was left by an earlier launch.
  static constexpr uint32_t most_ahead = 1u << 20;
};
/// {low half, step}, {high half, step}
template <>
struct halo_unit<8> {
  using bits = uint64_t;
  using unit = word_pair;
  using half = halo_unit<4>;
  GPUSYNC_HD static unit make(bits value, uint32_t step) {
    return {half::make(static_cast<uint32_t>(value), step), half::make(static_cast<uint32_t>(value >> 32), step)};
  }
  GPUSYNC_HD static uint32_t apart(const unit& word, uint32_t step) {
    return half::apart(word.first, step) | half::apart(word.second, step);
  }
  GPUSYNC_HD static bool is_of(const unit& word, uint32_t step) { return apart(word, step) == 0; }
  GPUSYNC_HD static bool is_gone(const unit& word, uint32_t step) {
    return half::is_gone(word.first, step) || half::is_gone(word.second, step);
  }
  GPUSYNC_HD static bits value(const unit& word) {
    return uint64_t{half::value(word.second)} << 32 | half::value(word.first);
  }
};

/// Words of neighbours that a thread has asked for, as far as they had come then. Kept in registers: by reference only.
template <class Word, uint32_t Count>
struct halo_asked {
  Word found[Count];
};

/// What a storage gives to a halo.
template <class T>
struct halo_argument {
  using unit = typename halo_unit<sizeof(T)>::unit;
  using bits = typename halo_unit<sizeof(T)>::bits;

  handle_header header;
  neighbour_places places;  ///< flags count steps; slots tell who reads whom
  unit* units;              ///< two buffers of `blocks` x `pitch`
  bits* plain;              ///< the same, for halo_form::flags
  uint32_t blocks;
  uint32_t words;  ///< of a block
  uint32_t pitch;  ///< words from block to block: even
  halo_form form;  ///< never automatic when a kernel gets it from gpusync::launch()
  arrival_log log;
};

}  // namespace detail

/// Words that each block of a grid publishes, and its neighbours read, step after step. The parameter of a kernel, by
/// value; whatever the kernel calls takes it by reference. It stays valid as long as the storage that made it.
///
/// A step: any threads put() the block's words, each word at most once; then all threads of the block call send(), then
/// receive(), then any threads get() words of neighbours, then all call next(). A get() waits until the neighbour's
/// word of this step is there. All blocks go through equally many steps of a launch; a step counts once it was sent,
/// and words that are put behind the last one are lost.
///
/// It is a channel and no barrier: with halo_form::words nothing is ordered but the words themselves, and what else a
/// neighbour has written before its put() need not be seen. A neighbour may be one step ahead.
///
/// In each step a block gets at least one word of each of its neighbours, for that is how it knows that the neighbour
/// has got its words of the step before: a block that does not look goes on and overwrites them. Whoever wants a word
/// that has been overwritten ends the launch (misuse::overtaken).
///
/// halo_form::words: a word and the number of its step are one access of 8 bytes, so the number proves the word; each
/// reader polls the very words it wants. The quickest way for up to some 9 MB that the grid polls in a step; a cliff
/// beyond (docs/neighbours.md). halo_form::flags: plain data, and the flags of a neighbour barrier.
/// halo_form::automatic: as the storage's rule says for the launch.
///
/// T: trivially copyable, of 4 or 8 bytes. Form: halo_form::automatic serves all; a kernel that is compiled for one
/// form saves the branches. Grid: cuda_grid or host_grid. Misuse that can be seen ends the launch, as a barrier's does
/// (see misuse).
template <class T, class Grid, halo_form Form = halo_form::automatic>
class basic_halo : public detail::passed_by_reference<basic_halo<T, Grid, Form>> {
  static_assert(is_grid<Grid>, "a Grid has what core/concepts.hpp says");
  static_assert(__is_trivially_copyable(T) && (sizeof(T) == 4 || sizeof(T) == 8),
                "a halo's values are trivially copyable, of 4 or 8 bytes");

 public:
  /// What a word holds.
  using value_type = T;
  /// What a storage makes it from.
  using argument = detail::halo_argument<T>;
  static constexpr halo_form form_of = Form;  ///< the form that it is compiled for
  /// What ask() and ask_pairs() return, to be kept in registers: so many words, or pairs of words.
  template <uint32_t Count>
  using asked_words = detail::halo_asked<typename argument::unit, Count>;
  template <uint32_t Count>
  using asked_pairs = detail::halo_asked<word_pair, Count>;

  /// Use the storage's halo() instead.
  GPUSYNC_HD explicit basic_halo(const argument& given) : given_(given) {
    if constexpr (Grid::handle_per_thread) stage_ = stage::original;
  }
  /// For launches on host threads: what one thread of `original`'s kernel gets.
  GPUSYNC_HD basic_halo(detail::for_one_thread, const basic_halo& original) : given_(original.given_) {}
  /// In the place of another form's: see in_form().
  GPUSYNC_HD basic_halo(detail::for_one_thread, const argument& given) : given_(given) {}

  /// Calls `use(halo)` with a halo of the one form that the launch has chosen, in the place of this one: the steps are
  /// compiled for each form, and neither pays for the other. Before the first use of this halo, which is not used from
  /// then on. All threads of the block.
  GPUSYNC_API_TEMPLATE
  template <class Use>
  GPUSYNC_HD void in_form(Use&& use) {
    if (stage_ != stage::fresh) refuse(given_.log.report, stage_);
    stage_ = stage::lent;
    if (by_words()) {
      basic_halo<T, Grid, halo_form::words> fixed(detail::for_one_thread{}, given_);
      use(fixed);
    } else {
      basic_halo<T, Grid, halo_form::flags> fixed(detail::for_one_thread{}, given_);
      use(fixed);
    }
  }

  /// Words of a block.
  GPUSYNC_HD uint32_t words() const { return given_.words; }
  /// Slots of the neighbourhood.
  GPUSYNC_HD uint32_t slots() const { return given_.places.slots; }
  /// How words travel in this launch.
  GPUSYNC_HD halo_form form() const { return by_words() ? halo_form::words : halo_form::flags; }
  /// How a launch finds the storage.
  GPUSYNC_HD const detail::handle_header& header() const { return given_.header; }

  /// Finds the step that the block is in, and meets the block's threads. Need not be called; before a loop of steps it
  /// keeps both out of the loop's code. All threads of the block. After a step was given up it ends the launch.
  GPUSYNC_API void enter() {
    if (stage_ == stage::fresh) join();
    // Said plainly, for a compiler to know what it is in the steps that follow.
    if (stage_ != stage::putting) refuse(given_.log.report, stage_);
    meet(Grid::current());
  }
  /// The same for kernels whose waits carry deadlines: they begin with it, for a first put() or send() is an enter().
  /// timed_out: a step has been given up, by an earlier launch most likely; leave the kernel.
  GPUSYNC_API wait_status try_enter() {
    if (stage_ == stage::lost) return wait_status::timed_out;
    const Grid grid = Grid::current();
    if (stage_ != stage::putting) find_step(grid);
    if constexpr (Grid::may_lose_phases) {
      if (grid.sync_block_or(given_.log.lost(grid) != 0)) {
        stage_ = stage::lost;
        return wait_status::timed_out;
      }
      met_ = true;
    } else {
      meet(grid);
    }
    return wait_status::completed;
  }

  /// Where word `i` of the neighbour in a slot lies. A slot or a word that is not there ends the launch.
  GPUSYNC_API halo_word word(uint32_t slot, uint32_t i) const {
    if (slot >= slots() || i >= words()) refuse_word(given_.log.report, slot >= slots() ? slot : i);
    const uint32_t block = given_.places.row(Grid::current().block())[slot];
    return {block == detail::neighbour_places::none ? ~0u : block * given_.pitch + i};
  }

  /// Where word `i` of the calling block lies, or words `i` and `i + 1`, of which `i` is even: for a put() in each of
  /// many steps, which then need not look whether it is there. One that is not there ends the launch.
  GPUSYNC_API halo_own_word own(uint32_t i) const {
    if (i >= words()) refuse_word(given_.log.report, i);
    return {Grid::current().block() * given_.pitch + i};
  }
  GPUSYNC_API halo_own_pair own_pair(uint32_t i) const {
    if (i % 2 != 0 || i / 2 >= words() / 2) refuse_word(given_.log.report, i);
    return {Grid::current().block() * given_.pitch + i};
  }

  /// Word `i` of the calling block in this step. Precondition: nobody else puts it in this step. A word that is not
  /// there ends the launch.
  GPUSYNC_API void put(uint32_t i, T value) {
    at_stage(stage::putting);
    // Others wait for the store, so what the test costs comes behind it.
    const bool is_there = i < given_.words;
    store_word(own_ + (is_there ? i : 0), value);
    if (!is_there) refuse_word(given_.log.report, i);
  }

  /// Words `i` and `i + 1`, by one access where they are of 4 bytes. `i` is even: an odd one, as words that are not
  /// there, ends the launch.
  GPUSYNC_API void put_pair(uint32_t i, T first, T second) {
    at_stage(stage::putting);
    const bool is_there = i % 2 == 0 && i / 2 < given_.words / 2;
    store_pair(own_ + (is_there ? i : 0), first, second);
    if (!is_there) refuse_word(given_.log.report, i);
  }

  /// The same for words whose places own() and own_pair() have said.
  GPUSYNC_API void put(halo_own_word to, T value) {
    at_stage(stage::putting);
    store_word(to.at, value);
  }
  GPUSYNC_API void put_pair(halo_own_pair to, T first, T second) {
    at_stage(stage::putting);
    store_pair(to.at, first, second);
  }

  /// The block has put all its words of this step. All threads of the block.
  GPUSYNC_API void send() {
    at_stage(stage::putting);
    const Grid grid = Grid::current();
    if (by_words()) {
      // The next launch goes on behind this step, whether the block comes to its end or not. First of all, when all
      // threads of the block know which step they are in.
      meet(grid);
      if (count_ != nullptr) memory::template store<memory_order::relaxed, scope::device>(count_, step_);
      if (given_.places.poll_backoff != 0) sent_at_ = static_cast<uint32_t>(grid.cycles());
    } else {
      (void)grid::neighbour_flags::arrive(grid, given_.places.flags, state_);
    }
    stage_ = stage::sent;
  }

  /// Asks for words between send() and receive(), without waiting: the trip to memory goes on while the thread does
  /// what needs nothing from others. get() of what it returns then waits for those that had not come. Each thread for
  /// itself. With halo_form::flags, where words come behind a flag only, get() makes the trip.
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count>
  GPUSYNC_HD asked_words<Count> ask(const halo_word (&from)[Count]) {
    at_stage(stage::sent);
    asked_words<Count> asked;
    if (by_words()) look<halves>(from, asked.found, bits_of(T()));
    asked_ = true;
    return asked;
  }
  /// The same for words and those behind them: see get_pairs().
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count>
  GPUSYNC_HD asked_pairs<Count> ask_pairs(const halo_word (&from)[Count]) {
    static_assert(sizeof(T) == 4, "words of 4 bytes go in pairs");
    at_stage(stage::sent);
    asked_pairs<Count> asked;
    if (by_words()) look<detail::halo_unit<8>>(from, asked.found, pair_of(T()));
    asked_ = true;
    return asked;
  }

  /// From here on words may be got. All threads of the block. Waits here with halo_form::flags, in get() otherwise.
  GPUSYNC_API void receive() { (void)receive_within(no_deadline{}); }
  /// The same, but gives up after `span`: see basic_grid_barrier::sync_for(). timed_out: leave the kernel. Once it, or
  /// next_for(), has said so, all calls with deadlines do, and the others end the launch.
  GPUSYNC_API wait_status receive_for(timeout span) { return receive_within(deadline(span)); }

  /// A neighbour's word of this step; T() if there is no neighbour.
  GPUSYNC_API T get(halo_word from) {
    const halo_word one[1] = {from};
    T value[1];
    get(one, value);
    return value[0];
  }
  /// Several words at once, which takes one trip to memory and not one for each.
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count>
  GPUSYNC_HD void get(const halo_word (&from)[Count], T (&values)[Count]) {
    (void)get_within(from, values, no_deadline{});
  }
  /// The same, but gives up after `span`. Each thread for itself: what it answers is to be given to next_for().
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count>
  GPUSYNC_HD wait_status get_for(const halo_word (&from)[Count], T (&values)[Count], timeout span) {
    return get_within(from, values, deadline(span));
  }
  /// Those that ask(from) has asked for in this step.
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count>
  GPUSYNC_HD void get(const halo_word (&from)[Count], asked_words<Count>& asked, T (&values)[Count]) {
    (void)get_asked_within(from, asked, values, no_deadline{});
  }
  /// Words and those behind them, as put_pair() puts them. Precondition: each is an even one.
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count>
  GPUSYNC_HD void get_pairs(const halo_word (&from)[Count], T (&values)[Count][2]) {
    (void)get_pairs_within(from, values, no_deadline{});
  }
  /// Those that ask_pairs(from) has asked for in this step.
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count>
  GPUSYNC_HD void get_pairs(const halo_word (&from)[Count], asked_pairs<Count>& asked, T (&values)[Count][2]) {
    (void)get_asked_pairs_within(from, asked, values, no_deadline{});
  }
  /// The same, but gives up after `span`: see get_for().
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count>
  GPUSYNC_HD wait_status get_pairs_for(const halo_word (&from)[Count], T (&values)[Count][2], timeout span) {
    return get_pairs_within(from, values, deadline(span));
  }

  /// The step is over for the block. All threads of the block; none may put before all have got.
  GPUSYNC_API void next() {
    at_stage(stage::received);
    Grid::current().sync_block();
    end_step();
  }
  /// The same without a meeting of the block's threads, which so may be in different steps. Only where each thread gets
  /// what the thread of its number puts, and of each neighbour in each step: then a thread that goes on overwrites no
  /// word but those that it knows to have been got. And the block's threads have met at least once between their
  /// enter() and their first next_alone().
  GPUSYNC_API void next_alone() {
    at_stage(stage::received);
    end_step();
  }
  /// As next(), for threads that have waited with deadlines: `mine` is what get_for() has answered. timed_out: one of
  /// the block's threads has given up; leave the kernel.
  GPUSYNC_API wait_status next_for(wait_status mine) {
    if (stage_ == stage::lost) return wait_status::timed_out;
    at_stage(stage::received);
    if (Grid::current().sync_block_or(mine == wait_status::timed_out)) {
      stage_ = stage::lost;
      return wait_status::timed_out;
    }
    end_step();
    return wait_status::completed;
  }

 private:
  using memory = typename Grid::memory;
  using halves = detail::halo_unit<sizeof(T)>;
  using unit = typename argument::unit;
  using bits = typename argument::bits;

  enum class stage : uint32_t { putting, sent, received, fresh, lost, original, lent };

  GPUSYNC_HD bool by_words() const {
    if constexpr (Form == halo_form::words) return true;
    if constexpr (Form == halo_form::flags) return false;
    return given_.form == halo_form::words;
  }
  /// The number of this step: never that of one of the two before it.
  GPUSYNC_HD uint32_t step() const { return step_; }
  /// The buffer of this step, of two.
  GPUSYNC_API_TEMPLATE
  template <class Word>
  GPUSYNC_HD Word* buffer() const {
    return reinterpret_cast<Word*>(buffer_);
  }
  GPUSYNC_API void turn_buffer(Grid grid) {
    const size_t place = (step_ & 1u) != 0 ? size_t{given_.blocks} * given_.pitch : 0;
    // Opaque, or the compiler would choose anew for each word and poll, and where others wait for it.
    buffer_ = grid.opaque(by_words() ? reinterpret_cast<uint32_t*>(given_.units + place)
                                     : reinterpret_cast<uint32_t*>(given_.plain + place));
  }

  GPUSYNC_API void store_word(uint32_t at, T value) {
    if (by_words()) {
      memory::template store<memory_order::relaxed, scope::device>(buffer<unit>() + at,
                                                                   halves::make(bits_of(value), step()));
    } else {
      buffer<bits>()[at] = bits_of(value);
    }
  }
  GPUSYNC_API void store_pair(uint32_t at, T first, T second) {
    if constexpr (sizeof(T) == 4) {
      if (by_words()) {
        memory::template store<memory_order::relaxed, scope::device>(
            reinterpret_cast<word_pair*>(buffer<unit>() + at),
            word_pair{halves::make(bits_of(first), step()), halves::make(bits_of(second), step())});
        return;
      }
    }
    store_word(at, first);
    store_word(at + 1, second);
  }

  GPUSYNC_HD static bits bits_of(T value) {
    bits copy;
    memcpy(&copy, &value, sizeof(T));
    return copy;
  }
  GPUSYNC_HD static T value_of(bits copy) {
    T value;
    memcpy(&value, &copy, sizeof(T));
    return value;
  }

  /// Precondition of a function, and the first thing that a block does.
  GPUSYNC_API void at_stage(stage wanted) {
    if (stage_ == wanted) return;
    if (stage_ == stage::fresh && wanted == stage::putting) return join();
    refuse(given_.log.report, stage_);
  }
  /// Calls with a deadline say so again once a step was given up; others end the launch.
  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD bool is_lost_to() const {
    if constexpr (Deadline::bounded) return stage_ == stage::lost;
    return false;
  }
  GPUSYNC_API_TEMPLATE
  template <class Nothing = void>
  [[noreturn]] GPUSYNC_HD GPUSYNC_COLD static void refuse(timeout_report* report, stage found) {
    Grid::current().fail(report,
                         found == stage::lost       ? misuse::lost_phase
                         : found == stage::original ? misuse::shared_handle
                                                    : misuse::out_of_turn,
                         0);
  }

  GPUSYNC_API_TEMPLATE
  template <class Nothing = void>
  [[noreturn]] GPUSYNC_HD GPUSYNC_COLD static void refuse_word(timeout_report* report, uint32_t number) {
    Grid::current().fail(report, misuse::no_such_word, number);
  }

  /// Before the block counts its first step of the launch, all its threads have read the count. All threads of the
  /// block; enter() does it outside a loop of steps.
  GPUSYNC_API void meet(Grid grid) {
    if (by_words() && !met_) grid.sync_block();
    met_ = true;
  }

  GPUSYNC_API void join() {
    const Grid grid = Grid::current();
    find_step(grid);
    if constexpr (Grid::may_lose_phases) {
      if (given_.log.lost(grid) != 0) grid.fail(given_.log.report, misuse::lost_phase, 0);
    }
  }

  GPUSYNC_API void find_step(Grid grid) {
    if (stage_ != stage::fresh) refuse(given_.log.report, stage_);
    if (grid.blocks() != given_.blocks) grid.fail(given_.log.report, misuse::outsider, given_.blocks);
    own_ = grid.block() * given_.pitch;
    if (by_words()) {
      uint32_t* const count = given_.places.flag(grid.block());
      step_ = memory::template load<memory_order::relaxed, scope::device>(count) + 1;
      // Opaque, or both the thread and the address would be found anew in each step.
      count_ = grid.opaque(grid.thread() == 0 ? count : nullptr);
    } else {
      state_ = grid::neighbour_flags::find<false>(grid, given_.places, {grid.block(), given_.blocks});
      step_ = state_.goal;
    }
    turn_buffer(grid);
    stage_ = stage::putting;
  }

  GPUSYNC_API void end_step() {
    ++step_;
    ++passed_;
    asked_ = false;
    turn_buffer(Grid::current());
    stage_ = stage::putting;
  }

  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status receive_within(Deadline limit) {
    if (is_lost_to<Deadline>()) return wait_status::timed_out;
    at_stage(stage::sent);
    const Grid grid = Grid::current();
    if (by_words()) {
      // Polls that come too early delay the words that they wait for.
      if (!asked_ && given_.places.poll_backoff != 0) {
        const uint32_t gone = static_cast<uint32_t>(grid.cycles()) - sent_at_;
        if (gone < given_.places.poll_backoff) grid.delay(given_.places.poll_backoff - gone);
      }
    } else {
      uint32_t flag = 0;
      if constexpr (Deadline::bounded)
        flag = timeout_flag_ = timeout_flag_ != 0 ? timeout_flag_ : grid.prepare_timeout_flag();
      wait_context<Deadline> context(limit, given_.log, grid.block(), step_, flag);
      const wait_status status = grid::neighbour_flags::wait(grid, given_.places.flags, state_, step_, context);
      if constexpr (Deadline::bounded) {
        if (status == wait_status::timed_out) {
          if (grid.thread() == 0) report_flags(grid);
          stage_ = stage::lost;
          return status;
        }
      }
    }
    stage_ = stage::received;
    return wait_status::completed;
  }

  GPUSYNC_API GPUSYNC_COLD void report_flags(Grid grid) const {
    const detail::neighbour_blocks who(given_.places);
    given_.log.report_missing(grid, who, step_, step_ + 1, passed_);
  }

  GPUSYNC_API_TEMPLATE
  template <uint32_t Count, class Deadline>
  GPUSYNC_HD wait_status get_within(const halo_word (&from)[Count], T (&values)[Count], Deadline limit) {
    asked_words<Count> asked;
    if (is_lost_to<Deadline>()) return wait_status::timed_out;
    at_stage(stage::received);
    if (by_words()) look<halves>(from, asked.found, bits_of(T()));
    return get_asked_within(from, asked, values, limit);
  }
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count, class Deadline>
  GPUSYNC_HD wait_status get_asked_within(const halo_word (&from)[Count], asked_words<Count>& asked, T (&values)[Count],
                                          Deadline limit) {
    if (is_lost_to<Deadline>()) return wait_status::timed_out;
    at_stage(stage::received);
    if (!by_words()) {
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < Count; ++i) {
        values[i] = from[i].exists() ? value_of(buffer<bits>()[from[i].at]) : T();
      }
      return wait_status::completed;
    }
    const wait_status status = await<halves>(from, asked.found, limit);
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < Count; ++i) values[i] = value_of(halves::value(asked.found[i]));
    return status;
  }

  GPUSYNC_API_TEMPLATE
  template <uint32_t Count, class Deadline>
  GPUSYNC_HD wait_status get_pairs_within(const halo_word (&from)[Count], T (&values)[Count][2], Deadline limit) {
    if constexpr (sizeof(T) == 4) {
      asked_pairs<Count> asked;
      if (is_lost_to<Deadline>()) return wait_status::timed_out;
      at_stage(stage::received);
      if (by_words()) look<detail::halo_unit<8>>(from, asked.found, pair_of(T()));
      return get_asked_pairs_within(from, asked, values, limit);
    } else {
      return get_pairs_singly(from, values, limit);
    }
  }
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count, class Deadline>
  GPUSYNC_HD wait_status get_asked_pairs_within(const halo_word (&from)[Count], asked_pairs<Count>& asked,
                                                T (&values)[Count][2], Deadline limit) {
    if (!by_words()) return get_pairs_singly(from, values, limit);
    if (is_lost_to<Deadline>()) return wait_status::timed_out;
    at_stage(stage::received);
    // Two words of 4 bytes lie as the halves of one of 8.
    const wait_status status = await<detail::halo_unit<8>>(from, asked.found, limit);
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < Count; ++i) {
      values[i][0] = value_of(halves::value(asked.found[i].first));
      values[i][1] = value_of(halves::value(asked.found[i].second));
    }
    return status;
  }
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count, class Deadline>
  GPUSYNC_HD wait_status get_pairs_singly(const halo_word (&from)[Count], T (&values)[Count][2], Deadline limit) {
    halo_word all[2 * Count];
    T flat[2 * Count];
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < 2 * Count; ++i) all[i] = {from[i / 2].exists() ? from[i / 2].at + i % 2 : ~0u};
    const wait_status status = get_within(all, flat, limit);
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < 2 * Count; ++i) values[i / 2][i % 2] = flat[i];
    return status;
  }

  /// Two of a value, as words of 4 bytes lie in one of 8.
  GPUSYNC_HD static uint64_t pair_of(T value) { return uint64_t{bits_of(value)} << 32 | bits_of(value); }

  /// Loads all words as they are. Of pairs, `from` counts in single words. `absent`: the value where there is no
  /// neighbour, for a word that is of every step: it needs no test of its own.
  GPUSYNC_API_TEMPLATE
  template <class Words, uint32_t Count, class Word>
  GPUSYNC_HD void look(const halo_word (&from)[Count], Word (&found)[Count], typename Words::bits absent) {
    const Word* const in = buffer<Word>();
    constexpr uint32_t per_word = sizeof(Word) / sizeof(unit);
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < Count; ++i) {
      found[i] = Words::make(absent, step_);
      if (from[i].exists())
        found[i] = memory::template load<memory_order::relaxed, scope::device>(in + from[i].at / per_word);
    }
  }

  /// Polls all words that look() has not found until each is of this step.
  GPUSYNC_API_TEMPLATE
  template <class Words, uint32_t Count, class Word, class Deadline>
  GPUSYNC_HD wait_status await(const halo_word (&from)[Count], Word (&found)[Count], Deadline limit) {
    const Grid grid = Grid::current();
    const Word* const in = buffer<Word>();
    constexpr uint32_t per_word = sizeof(Word) / sizeof(unit);
    const uint32_t wanted = step_;
    GPUSYNC_UNROLL(1)
    for (uint32_t polls = Grid::polls_per_look; polls != 0; --polls) {
      uint32_t apart = 0;
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < Count; ++i) apart |= Words::apart(found[i], wanted);
      if (apart == 0) return wait_status::completed;
      grid.pause();
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < Count; ++i) {
        if (!Words::is_of(found[i], wanted)) {
          found[i] = memory::template load<memory_order::relaxed, scope::device>(in + from[i].at / per_word);
        }
      }
    }
    wait_status status = wait_status::completed;
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < Count; ++i) {
      if (Words::is_of(found[i], wanted)) continue;
      const Word* const word = in + from[i].at / per_word;
      if (status == wait_status::completed) {
        const auto ended = wait_for_word<Words>(grid, given_.log, word, wanted, limit);
        status = ended.status;
        limit = ended.limit;
      }
      if (status == wait_status::completed)
        found[i] = memory::template load<memory_order::relaxed, scope::device>(word);
    }
    if constexpr (Deadline::bounded) {
      if (status == wait_status::timed_out) report_words<Words>(grid, in, from);
    }
    return status;
  }

  /// What a long wait for a word is over with. A word that can come no more ends the launch.
  template <class Words>
  struct word_of_step {
    uint32_t step;
    timeout_report* report;
    GPUSYNC_API_TEMPLATE
    template <class Word>
    GPUSYNC_HD bool operator()(const Word& word) const {
      if (Words::is_gone(word, step)) Grid::current().fail(report, misuse::overtaken, 0);
      return Words::is_of(word, step);
    }
  };

  /// A wait for one word that was not soon over. Out of line, as all that is long.
  GPUSYNC_API_TEMPLATE
  template <class Words, class Word, class Deadline>
  GPUSYNC_HD static detail::long_wait<word_of_step<Words>, Deadline> wait_for_word(Grid grid, const arrival_log& log,
                                                                                   const Word* word, uint32_t step,
                                                                                   Deadline limit) {
    return detail::wait_long<memory_order::relaxed, scope::device>(
        grid, word, word_of_step<Words>{step, log.report}, wait_context<Deadline>(limit, log, grid.block(), step));
  }

  /// Names the neighbours whose words have not come.
  GPUSYNC_API_TEMPLATE
  template <class Words, class Word, uint32_t Count>
  GPUSYNC_HD GPUSYNC_COLD void report_words(Grid grid, const Word* in, const halo_word (&from)[Count]) const {
    constexpr uint32_t per_word = sizeof(Word) / sizeof(unit);
    const uint32_t wanted = step_, pitch = given_.pitch, steps_passed = passed_;
    bool named[Count] = {};
    given_.log.report_late(
        grid, Count, passed_,
        [&](uint32_t i) -> arrival_log::presence {
          if (!from[i].exists()) return {0, false, false, false};
          const uint32_t block = from[i].at / pitch;
          named[i] = !Words::is_of(
              memory::template load<memory_order::relaxed, scope::device>(in + from[i].at / per_word), wanted);
          const bool late = named[i];
          for (uint32_t before = 0; before < i; ++before) {
            if (named[before] && from[before].at / pitch == block) return {block, false, false, false};  // once each
          }
          return {block, true, late, steps_passed != 0};
        },
        [] {});
  }

  argument given_;
  grid::neighbour_flags::state state_{};
  uint32_t own_ = 0;            ///< the block's first word
  uint32_t* buffer_ = nullptr;  ///< of this step, of two
  uint32_t step_ = 0;           ///< counted through all launches, modulo 2^32
  uint32_t passed_ = 0;
  stage stage_ = stage::fresh;
  bool met_ = false;           ///< the block's threads, in this launch
  bool asked_ = false;         ///< in this step
  uint32_t* count_ = nullptr;  ///< of the steps that the block has sent; of its thread 0 alone
  uint32_t timeout_flag_ = 0;
  uint32_t sent_at_ = 0;  ///< by the multiprocessor's clock, modulo 2^32
};

}  // namespace gpusync
