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

#include <gpusync/core/concepts.hpp>
#include <gpusync/core/handle.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/neighbours/flags.hpp>
#include <gpusync/neighbours/halo_polls.hpp>
#include <gpusync/neighbours/halo_words.hpp>

namespace gpusync {

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
/// reader polls the very words it wants. The quickest way for up to some 7 MB that the grid polls in a step; a cliff
/// beyond (docs/neighbours.md). halo_form::flags: plain data, and the flags of a neighbour barrier.
/// halo_form::automatic: as the storage's rule says for the launch.
///
/// T: trivially copyable, of 4 or 8 bytes. Form: halo_form::automatic serves all; a kernel that is compiled for one
/// form saves the branches. Grid: cuda_grid or host_grid. Misuse that can be seen ends the launch, as a barrier's does
/// (see misuse).
template <class T, class Grid, halo_form Form = halo_form::automatic>
class basic_halo : public detail::passed_by_reference<basic_halo<T, Grid, Form>>, detail::halo_polls<T, Grid, Form> {
  using polls = detail::halo_polls<T, Grid, Form>;
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
  /// See asked_words.
  template <uint32_t Count>
  using asked_pairs = detail::halo_asked<word_pair, Count>;

  /// Use the storage's halo() instead.
  GPUSYNC_HD explicit basic_halo(const argument& given) : polls(given) {
    if constexpr (Grid::handle_per_thread) stage_ = stage::original;
  }
  /// For launches on host threads: what one thread of `original`'s kernel gets.
  GPUSYNC_HD basic_halo(detail::for_one_thread, const basic_halo& original) : polls(original.given_) {}
  /// In the place of another form's: see in_form().
  GPUSYNC_HD basic_halo(detail::for_one_thread, const argument& given) : polls(given) {}

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
    return {block == detail::neighbour_places::none ? ~0u : given_.place(block, i)};
  }

  /// Where word `i` of the calling block lies, or words `i` and `i + 1`, of which `i` is even: for a put() in each of
  /// many steps, which then need not look whether it is there. One that is not there ends the launch.
  GPUSYNC_API halo_own_word own(uint32_t i) const {
    if (i >= words()) refuse_word(given_.log.report, i);
    return {given_.place(Grid::current().block(), i)};
  }
  /// The same for words `i` and `i + 1`: see put_pair().
  GPUSYNC_API halo_own_pair own_pair(uint32_t i) const {
    if (i % 2 != 0 || i / 2 >= words() / 2) refuse_word(given_.log.report, i);
    return {given_.place(Grid::current().block(), i)};
  }

  /// Word `i` of the calling block in this step. Precondition: nobody else puts it in this step. A word that is not
  /// there ends the launch.
  GPUSYNC_API void put(uint32_t i, T value) {
    at_stage(stage::putting);
    // Others wait for the store, so what the test costs comes behind it.
    const bool is_there = i < given_.words;
    store_word(own_place(is_there ? i : 0), value);
    if (!is_there) refuse_word(given_.log.report, i);
  }

  /// Words `i` and `i + 1`, by one access where they are of 4 bytes. `i` is even: an odd one, as words that are not
  /// there, ends the launch.
  GPUSYNC_API void put_pair(uint32_t i, T first, T second) {
    at_stage(stage::putting);
    const bool is_there = i % 2 == 0 && i / 2 < given_.words / 2;
    store_pair(own_place(is_there ? i : 0), first, second);
    if (!is_there) refuse_word(given_.log.report, i);
  }

  /// The same for words whose places own() and own_pair() have said.
  GPUSYNC_API void put(halo_own_word to, T value) {
    at_stage(stage::putting);
    store_word(to.at, value);
  }
  /// The same for a pair.
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
      if (given_.places.poll_backoff != 0) sent_at_ = grid.cycles();
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
    if constexpr (Form == halo_form::flags) asked = {};
    if (by_words()) this->template look<halves>(from, asked.found, bits_of(T()));
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
    if constexpr (Form == halo_form::flags) asked = {};
    if (by_words()) this->template look<detail::halo_unit<8>>(from, asked.found, pair_of(T()));
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
  using polls::asked_;
  using polls::at_stage;
  using polls::bits_of;
  using polls::by_words;
  using polls::count_;
  using polls::end_step;
  using polls::find_step;
  using polls::get_asked_pairs_within;
  using polls::get_asked_within;
  using polls::get_pairs_within;
  using polls::get_within;
  using polls::given_;
  using polls::join;
  using polls::meet;
  using polls::met_;
  using polls::own_place;
  using polls::pair_of;
  using polls::receive_within;
  using polls::refuse;
  using polls::refuse_word;
  using polls::sent_at_;
  using polls::stage_;
  using polls::state_;
  using polls::step_;
  using polls::store_pair;
  using polls::store_word;
  using typename polls::halves;
  using typename polls::memory;
  using typename polls::stage;
  using typename polls::unit;
};

}  // namespace gpusync
