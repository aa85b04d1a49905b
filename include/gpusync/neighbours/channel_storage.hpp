// The storage of channels, whatever memory is behind it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gpusync/neighbours/channel.hpp>
#include <gpusync/neighbours/storage.hpp>

namespace gpusync {

/// A channel, for its storage: which block sends and which receives.
struct channel_ends {
  uint32_t from;       ///< the sender's block
  uint32_t to;         ///< the receiver's block; may be the same
  uint32_t depth = 0;  ///< chunks of its ring; 0: as many as the storage says
};

namespace detail {

/// The base of channel_storage and host_channel_storage.
template <class T, class Grid, class Backend>
class channels_storage : public waiting_storage<Backend> {
  using base = waiting_storage<Backend>;

 public:
  /// The channels to hand to a kernel.
  basic_channels<T, Grid> channels() {
    return basic_channels<T, Grid>({this->header(handle_kind::at_least_grid), this->state(), this->marks(),
                                    static_cast<uint32_t>(plan_.table.size() / channel_layout::table_words),
                                    plan_.chunk, this->log()});
  }

  /// Back to the first state: nothing was sent, and what was sent and not taken is gone. Needed after a wait timed out.
  /// Precondition: no kernel uses the storage, and no launch on it is queued. Blocking.
  void reset() {
    base::reset();
    this->write_marks(plan_.table, 0);
  }

 protected:
  channels_storage(const typename Backend::place& where, const std::vector<channel_ends>& ends, uint64_t chunk,
                   uint64_t depth, uint64_t before = 0)
      : channels_storage(where, plan(ends, chunk, depth), before) {}

 private:
  /// Where everything lies.
  struct layout {
    std::vector<uint32_t> table;  ///< see channel_layout
    uint32_t chunk;
    uint32_t blocks;  ///< of the grid, at least
    size_t words;
  };

  static constexpr uint32_t most_blocks = 1u << timeout_report::block_bits;

  channels_storage(const typename Backend::place& where, layout plan, uint64_t before)
      : base(where, plan.blocks, plan.words, plan.table.size(), 1, {"channel", "chunk", ""}), plan_(std::move(plan)) {
    this->write_marks(plan_.table, 0);
    if (before != 0) begin_behind(before);
  }

  static layout plan(const std::vector<channel_ends>& ends, uint64_t chunk, uint64_t depth) {
    constexpr uint64_t most = uint64_t{1} << 32;
    if (ends.empty()) throw invalid_argument("A storage of channels needs at least one channel.");
    if (chunk < 1 || chunk >= most) {
      throw invalid_argument("A chunk of a channel has 1 to 2^32 - 1 words, not " + std::to_string(chunk) + ".");
    }
    layout made{{}, static_cast<uint32_t>(chunk), 0, 0};
    size_t lines = ends.size() * 2;
    for (const channel_ends& one : ends) {
      for (const uint32_t block : {one.from, one.to}) {
        if (block < most_blocks) continue;
        throw invalid_argument("A channel cannot have an end in block " + std::to_string(block) +
                               ": channels are for grids of up to " + std::to_string(most_blocks) + " blocks.");
      }
      const uint64_t own = one.depth != 0 ? one.depth : depth;
      if (own < 1 || own >= most) {
        throw invalid_argument("The ring of a channel has 1 to 2^32 - 1 chunks, not " + std::to_string(own) + ".");
      }
      if (lines >= most || own * chunk >= most * channel_layout::line) {
        throw invalid_argument("Rings of " + std::to_string(own) + " chunks of " + std::to_string(chunk) +
                               " words are larger than channels can have: take fewer or smaller chunks.");
      }
      made.table.insert(made.table.end(), {one.from, one.to, static_cast<uint32_t>(own), static_cast<uint32_t>(lines)});
      lines += channel_layout::ring_lines(own * chunk * tagged_word<T>::words);
      made.blocks = std::max({made.blocks, one.from + 1, one.to + 1});
    }
    made.words = lines * channel_layout::line;
    return made;
  }

  /// As if so many chunks had been sent and taken.
  void begin_behind(uint64_t chunks) {
    for (uint32_t channel = 0; channel < plan_.table.size() / channel_layout::table_words; ++channel) {
      const uint32_t* const row = plan_.table.data() + channel * channel_layout::table_words;
      this->write_words({chunks}, channel_layout::taken(channel));
      this->write_words({chunks}, channel_layout::sent(channel));
      std::vector<uint64_t> words(size_t{row[2]} * plan_.chunk * tagged_word<T>::words);
      const size_t words_of_slot = size_t{plan_.chunk} * tagged_word<T>::words;
      for (size_t i = 0; i < words.size(); ++i) {
        // Slots before that of the next chunk hold this lap's words, the others those of the lap before.
        const uint64_t laps = chunks / row[2] + (i / words_of_slot < chunks % row[2] ? 1 : 0);
        words[i] = laps << 32;
      }
      this->write_words(words, size_t{row[3]} * channel_layout::line);
    }
  }

  layout plan_;
};

}  // namespace detail

}  // namespace gpusync
