// When the words of a halo travel each by itself, and when behind a flag: a rule that was measured.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include <gpusync/core/error.hpp>
#include <gpusync/core/tuning_text.hpp>
#include <gpusync/neighbours/halo.hpp>

namespace gpusync {

/// A launch takes halo_form::words if its grid polls no more bytes in a step than that, and a thread no more words of
/// each neighbour; beyond, polls take the memory system's time from the very words that they wait for. Measured on an
/// H200 (docs/neighbours.md); `gpusync tune --only halos` measures it on others. Nor if it is_crowded().
///
/// As text: `gpusync-tuning 1`, `device NAME`, then a line `halo POLLED_BYTES WORDS_A_THREAD POLL_BACKOFF`.
struct halo_rule {
  /// From so many threads on, more than one block of 1,024 on each of 140 multiprocessors, kernels of such grids are
  /// supposed to be compiled for two, which leaves a thread 32 registers. Not measured by tune.
  static constexpr uint64_t large_grid = 150'000;

  uint64_t most_polled_bytes = 7'500'000;  ///< blocks x slots x words x 8, or x 16 for values of 8 bytes
  uint32_t most_words_a_thread = 4;        ///< words / threads of a block, rounded up
  /// Cycles from send() to the first poll for 4 to 7 slots, and twice as many for more; at most 10,000. Polls of many
  /// words that come too early delay them. See backoff_of() for neighbourhoods of fewer slots.
  uint32_t poll_backoff = 200;

  /// The form for a grid of `blocks`, each with so many slots, words of that many bytes, and threads.
  halo_form choose(uint64_t blocks, uint64_t slots, uint64_t words, uint64_t bytes_of_word, uint64_t threads) const {
    return polled_bytes(blocks, slots, words, bytes_of_word) <= most_polled_bytes &&
                   words_a_thread(words, threads) <= most_words_a_thread &&
                   !is_crowded(blocks, slots, words, bytes_of_word, threads)
               ? halo_form::words
               : halo_form::flags;
  }

  /// Bytes that a grid polls in a step: each word comes with the number of its step, as large as it is.
  static constexpr uint64_t polled_bytes(uint64_t blocks, uint64_t slots, uint64_t words, uint64_t bytes_of_word) {
    return blocks * slots * words * (2 * bytes_of_word);
  }
  /// Words of each neighbour that a thread of so many gets.
  static constexpr uint64_t words_a_thread(uint64_t words, uint64_t threads) {
    return threads == 0 ? words : (words + threads - 1) / threads;
  }
  /// Whether the words that a thread polls take too many of its registers: in a large grid each is supposed to have 32,
  /// and 32 bytes of values with the numbers of their steps are half of these. Such a grid takes flags.
  static constexpr bool is_crowded(uint64_t blocks, uint64_t slots, uint64_t words, uint64_t bytes_of_word,
                                   uint64_t threads) {
    return blocks * threads >= large_grid && slots * words_a_thread(words, threads) * bytes_of_word >= 32;
  }

  /// Cycles from send() to the first poll of words, or from receive() to that of flags, for so many slots, in a grid of
  /// so many threads. Words of fewer than four slots are polled a little later than at once, so that whether the first
  /// poll finds them hangs not on a few instructions more or less (docs/neighbours.md); flags at once, and words in
  /// large grids, where looking at the clock takes longer than that saves.
  uint32_t backoff_of(halo_form form, uint32_t slots, uint64_t threads) const {
    if (slots < 4) return form == halo_form::words && threads < large_grid ? poll_backoff / 3 : 0;
    return poll_backoff * (slots < 8 ? 1 : 2);
  }

  /// Throws invalid_argument, naming `source` and the line, if the text is not a table with a rule for halos.
  static halo_rule read(std::istream& text, const std::string& source) {
    halo_rule made;
    bool found = false;
    (void)detail::read_tuning_text(
        text, source, [&](const std::string& key, std::istringstream& words, const auto& refuse) {
          if (key != "halo") return;
          if (found || !detail::read_number(words, made.most_polled_bytes) ||
              !detail::read_number(words, made.most_words_a_thread) || !detail::read_number(words, made.poll_backoff) ||
              !detail::line_ended(words) || made.poll_backoff > 10000) {
            throw refuse(
                "one line for halos is `halo POLLED_BYTES WORDS_A_THREAD POLL_BACKOFF`, the "
                "last at most 10000");
          }
          found = true;
        });
    if (!found) throw invalid_argument(source + " has no line `halo …`: `gpusync tune --only halos` writes one.");
    return made;
  }

  /// Writes its line.
  void write_rule(std::ostream& text) const {
    text << "halo " << most_polled_bytes << ' ' << most_words_a_thread << ' ' << poll_backoff << '\n';
  }
};

}  // namespace gpusync
