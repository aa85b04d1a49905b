// What halos hand over: words that carry the number of their step, and where they lie. See halo.hpp.
#pragma once

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
  uint32_t at;  ///< where it is
};
/// Two words of the calling block that go by one access where they are of 4 bytes. Made by a halo's own_pair().
struct halo_own_pair {
  uint32_t at;  ///< where the first one is
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

/// What a storage gives to a halo. A block's words lie in pages of 4 KB, half of each for either buffer: a page of
/// device memory is near one partition of the L2 cache, so which page a block gets can be chosen.
template <class T>
struct halo_argument {
  using unit = typename halo_unit<sizeof(T)>::unit;
  using bits = typename halo_unit<sizeof(T)>::bits;

  static constexpr uint32_t page_bytes = 4096;
  static constexpr uint32_t page_words = page_bytes / 2 / sizeof(unit);  ///< in either buffer; even

  handle_header header;
  neighbour_places places;  ///< flags count steps; slots tell who reads whom
  unit* units;              ///< pages: a buffer's words, then as many of the other's
  bits* plain;              ///< the same, for halo_form::flags
  const uint32_t* pages;    ///< of block 0, of block 1, …: where each begins
  uint32_t blocks;
  uint32_t words;            ///< of a block
  uint32_t pages_per_block;  ///< that hold them
  halo_form form;            ///< never automatic when a kernel gets it from gpusync::launch()
  arrival_log log;

  /// Where word `i` of a block lies in the first buffer; in the other it is `page_words` further on.
  GPUSYNC_HD uint32_t place(uint32_t block, uint32_t i) const {
    return pages[size_t{block} * pages_per_block + i / page_words] + i % page_words;
  }
};

}  // namespace detail

}  // namespace gpusync
