// How words of a halo are waited for: see halo.hpp.
#pragma once

#include <gpusync/neighbours/halo_steps.hpp>

namespace gpusync::detail {

/// A thread's waits for its neighbours' words, or flags, of a step.
template <class T, class Grid, halo_form Form>
class halo_polls : public halo_steps<T, Grid, Form> {
 protected:
  using steps = halo_steps<T, Grid, Form>;
  using steps::asked_;
  using steps::at_stage;
  using steps::bits_of;
  using steps::by_words;
  using steps::given_;
  using steps::halo_steps;
  using steps::passed_;
  using steps::sent_at_;
  using steps::stage_;
  using steps::state_;
  using steps::step_;
  using steps::timeout_flag_;
  using steps::value_of;
  using typename steps::argument;
  using typename steps::bits;
  using typename steps::halves;
  using typename steps::memory;
  using typename steps::stage;
  using typename steps::unit;
  template <uint32_t Count>
  using asked_words = halo_asked<typename argument::unit, Count>;
  template <uint32_t Count>
  using asked_pairs = halo_asked<word_pair, Count>;

  GPUSYNC_API_TEMPLATE
  template <class Deadline>
  GPUSYNC_HD wait_status receive_within(Deadline limit) {
    if (this->template is_lost_to<Deadline>()) return wait_status::timed_out;
    at_stage(stage::sent);
    const Grid grid = Grid::current();
    if (by_words()) {
      // Polls that come too early delay the words that they wait for.
      if (!asked_ && given_.places.poll_backoff != 0) grid.delay_until(sent_at_ + given_.places.poll_backoff);
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
    const neighbour_blocks who(given_.places);
    given_.log.report_missing(grid, who, step_, step_ + 1, passed_);
  }

  GPUSYNC_API_TEMPLATE
  template <uint32_t Count, class Deadline>
  GPUSYNC_HD wait_status get_within(const halo_word (&from)[Count], T (&values)[Count], Deadline limit) {
    asked_words<Count> asked;
    if (this->template is_lost_to<Deadline>()) return wait_status::timed_out;
    at_stage(stage::received);
    if (by_words()) look<halves>(from, asked.found, bits_of(T()));
    return get_asked_within(from, asked, values, limit);
  }
  GPUSYNC_API_TEMPLATE
  template <uint32_t Count, class Deadline>
  GPUSYNC_HD wait_status get_asked_within(const halo_word (&from)[Count], asked_words<Count>& asked, T (&values)[Count],
                                          Deadline limit) {
    if (this->template is_lost_to<Deadline>()) return wait_status::timed_out;
    at_stage(stage::received);
    if (!by_words()) {
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < Count; ++i) {
        values[i] = from[i].exists() ? value_of(this->template buffer<bits>()[from[i].at]) : T();
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
      if (this->template is_lost_to<Deadline>()) return wait_status::timed_out;
      at_stage(stage::received);
      if (by_words()) look<halo_unit<8>>(from, asked.found, pair_of(T()));
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
    if (this->template is_lost_to<Deadline>()) return wait_status::timed_out;
    at_stage(stage::received);
    // Two words of 4 bytes lie as the halves of one of 8.
    const wait_status status = await<halo_unit<8>>(from, asked.found, limit);
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
    const Word* const in = this->template buffer<Word>();
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
    const Word* const in = this->template buffer<Word>();
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
  GPUSYNC_HD static long_wait<word_of_step<Words>, Deadline> wait_for_word(Grid grid, const arrival_log& log,
                                                                           const Word* word, uint32_t step,
                                                                           Deadline limit) {
    return wait_long<memory_order::relaxed, scope::device>(grid, word, word_of_step<Words>{step, log.report},
                                                           wait_context<Deadline>(limit, log, grid.block(), step));
  }

  /// The neighbour whose word this is.
  GPUSYNC_API_TEMPLATE
  template <class Nothing = void>
  GPUSYNC_HD GPUSYNC_COLD uint32_t block_of(Grid grid, halo_word word) const {
    const uint32_t* const row = given_.places.row(grid.block());
    for (uint32_t slot = 0; slot < given_.places.slots; ++slot) {
      if (row[slot] == neighbour_places::none) continue;
      for (uint32_t i = 0; i < given_.words; i += argument::page_words) {
        if (word.at - given_.place(row[slot], i) < argument::page_words) return row[slot];
      }
    }
    return neighbour_places::none;
  }

  /// Names the neighbours whose words have not come.
  GPUSYNC_API_TEMPLATE
  template <class Words, class Word, uint32_t Count>
  GPUSYNC_HD GPUSYNC_COLD void report_words(Grid grid, const Word* in, const halo_word (&from)[Count]) const {
    constexpr uint32_t per_word = sizeof(Word) / sizeof(unit);
    const uint32_t wanted = step_, steps_passed = passed_;
    bool named[Count] = {};
    given_.log.report_late(
        grid, Count, passed_,
        [&](uint32_t i) -> arrival_log::presence {
          if (!from[i].exists()) return {0, false, false, false};
          const uint32_t block = block_of(grid, from[i]);
          named[i] = !Words::is_of(
              memory::template load<memory_order::relaxed, scope::device>(in + from[i].at / per_word), wanted);
          const bool late = named[i];
          for (uint32_t before = 0; before < i; ++before) {
            if (named[before] && block_of(grid, from[before]) == block)
              return {block, false, false, false};  // once each
          }
          return {block, true, late, steps_passed != 0};
        },
        [] {});
  }
};

}  // namespace gpusync::detail
