// How participants of a wait-free object tell each other of their operations, and of answers.
#pragma once

#include <gpusync/rmw/own_part.hpp>

namespace gpusync::rmw::detail {

/// A participant's announcements, those of the others, and responses to both.
template <class State, uint32_t N, class Consensus, class Operation, class Machine>
class announcing : public own_part<State, N, Consensus, Operation, Machine> {
 protected:
  using part = own_part<State, N, Consensus, Operation, Machine>;
  using part::answers_;
  using part::at;
  using part::code_of;
  using part::is_other;
  using part::lanes;
  using part::last_number_;
  using part::machine_;
  using part::news_;
  using part::number_at;
  using part::number_of;
  using part::numbers_;
  using part::publishes;
  using part::sees;
  using part::self_;
  using part::slots;
  using part::state_words;
  using part::words_;
  using typename part::layout;
  using typename part::wire;

  using own_part<State, N, Consensus, Operation, Machine>::own_part;

  /// Rows of announcements as they were read, of those that the lane looks after.
  struct fetched_announcements {
    uint64_t words[wire::words][slots];
  };
  /// What a lane has read of the announcements of those that it looks after.
  struct announcements {
    bool pending[slots];
    uint32_t tag[slots];  ///< number * 2^8 + code
    uint32_t operand[wire::words][slots];
  };

  /// Tells the others of an operation, so that it is done even if this participant never wins a round. Whoever decides
  /// a round after the next one that this participant sees behind a fence has seen the announcement: that is the bound.
  GPUSYNC_API void announce(const Operation& operation) {
    last_number_ = (last_number_ + 1) & number_mask;
    uint32_t operand[wire::words];
    wire::put(operation, operand);
    const uint32_t tag = last_number_ << 8 | wire::code(operation);
    const uint32_t rows = wire::words_with(code_of(tag));
    // Numbers come back after 2^24 announcements; responses must not lie about so long.
    if (Consensus::spin_limit != 0 && (last_number_ & 0xffff) == 0 && machine_.lane() == 0) {
      machine_.template store<publishes>(words_ + layout::response(0, self_), tagged(0, ~uint32_t{0}));
    }
    GPUSYNC_UNROLL()
    for (uint32_t row = 0; row < wire::words; ++row) {
      if (row < rows && machine_.lane() == 0) {
        machine_.template store<publishes>(words_ + layout::announcement(row, self_), tagged(operand[row], tag));
      }
    }
  }

  GPUSYNC_API uint64_t load_announcement(uint32_t row, uint32_t participant) const {
    return machine_.template load<sees>(words_ + layout::announcement(row, participant));
  }

  /// The rows that all announcements have.
  GPUSYNC_API void fetch_announcements(fetched_announcements& fetched) const {
    GPUSYNC_UNROLL()
    for (uint32_t row = 0; row < wire::common_words; ++row) {
      GPUSYNC_UNROLL()
      for (uint32_t slot = 0; slot < slots; ++slot) {
        fetched.words[row][slot] = is_other(slot) ? load_announcement(row, at(slot)) : 0;
      }
    }
  }

  /// Of the announcements that are newer than numbers_ all that are complete.
  GPUSYNC_API void open_announcements(fetched_announcements& fetched, announcements& all) const {
    auto& words = fetched.words;
    bool longer = false;
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      all.tag[slot] = tag_of(words[0][slot]);
      all.pending[slot] = is_other(slot) && announced_after(number_of(all.tag[slot]), number_at(slot));
      longer = longer || (all.pending[slot] && wire::words_with(code_of(all.tag[slot])) > wire::common_words);
    }
    if (wire::words != wire::common_words) {
      longer = machine_.any(longer);
      GPUSYNC_UNROLL()
      for (uint32_t row = wire::common_words; row < wire::words; ++row) {
        GPUSYNC_UNROLL()
        for (uint32_t slot = 0; slot < slots; ++slot) {
          const bool read = longer && all.pending[slot] && row < wire::words_with(code_of(all.tag[slot]));
          words[row][slot] = read ? load_announcement(row, at(slot)) : words[0][slot];
        }
      }
    }
    // Rows of different numbers: the announcement is being written, and its author needs no help yet; or it was
    // overwritten, so the earlier one has been applied by a round that this participant does not know of.
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      GPUSYNC_UNROLL()
      for (uint32_t row = 0; row < wire::words; ++row) {
        all.operand[row][slot] = payload_of(words[row][slot]);
        all.pending[slot] = all.pending[slot] && tag_of(words[row][slot]) == all.tag[slot];
      }
    }
  }

  GPUSYNC_API void read_announcements(announcements& all) const {
    fetched_announcements fetched;
    fetch_announcements(fetched);
    open_announcements(fetched, all);
  }

  /// Adds this participant's own announcement to those of the others.
  GPUSYNC_API void include_own(const Operation& operation, announcements& all) const {
    const uint32_t tag = last_number_ << 8 | wire::code(operation);
    uint32_t operand[wire::words];
    wire::put(operation, operand);
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (at(slot) != self_) continue;
      all.pending[slot] = true;
      all.tag[slot] = tag;
      GPUSYNC_UNROLL()
      for (uint32_t row = 0; row < wire::words; ++row) all.operand[row][slot] = operand[row];
    }
  }

  /// Looks, after a win, at who has announced something: the next round must not pass them by. What comes is used in
  /// the next call, so that nobody waits for it.
  GPUSYNC_API void look() {
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (is_other(slot)) news_[slot] = tag_of(load_announcement(0, at(slot)));
    }
  }

  /// Whether somebody had announced something that was not done when this participant last won.
  GPUSYNC_API bool has_news() const {
    bool news = false;
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      news = news || (is_other(slot) && announced_after(number_of(news_[slot]), number_at(slot)));
    }
    return machine_.any(news);
  }

  /// Looks a few times whether a winner has answered already.
  GPUSYNC_API bool wait_for_response(State& answer) {
    for (uint32_t polls = 0; polls != Consensus::spin_limit; ++polls) {
      uint32_t words[state_words];
      bool there = true;
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < state_words; ++i) {
        const uint64_t word = machine_.template load_one<sees>(words_ + layout::response(i, self_));
        there = there && tag_of(word) == last_number_;
        words[i] = payload_of(word);
      }
      if (there) {
        answer = joined<State>(words);
        return true;
      }
    }
    return false;
  }

  /// Tells those whose operations this round has applied. A response that comes late is a response of an old number.
  GPUSYNC_API void deliver() const {
    GPUSYNC_UNROLL()
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (!is_other(slot) || (numbers_[slot] & layout::fresh) == 0) continue;
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < state_words; ++i) {
        machine_.template store<publishes>(words_ + layout::response(i, at(slot)),
                                           tagged(answers_[i][slot], number_at(slot)));
      }
    }
  }
};

}  // namespace gpusync::rmw::detail
