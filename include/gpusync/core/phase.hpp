// Phases that may wrap: the one place where two of them are compared.
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync {

/// True when the counter `current` has come to `goal` or passed it, also across the wrap at 2^32, as long as the two
/// are less than 2^31 apart. Barriers must use this and never `==` or `!=`: a fast block may move a counter past the
/// goal before a slow block has looked at it (with `!=` that block waits for ever).
GPUSYNC_HD constexpr bool phase_reached(uint32_t current, uint32_t goal) {
  return static_cast<int32_t>(current - goal) >= 0;
}

/// One 32-bit word that counts arrivals in its low bits and phases in its high bits.
///
/// Block 0 adds `completing(n)` and each of the other n - 1 blocks adds 1, so that a whole phase always adds exactly
/// one to the phase field whatever n is, and the arrivals field is zero again: nothing needs a reset between phases
/// or launches, and grids of different sizes can use one word in turn. The phase field wraps silently.
struct phase_word {
  static constexpr uint32_t arrival_bits = 16;               ///< the low bits, which count arrivals
  static constexpr uint32_t one_phase = 1u << arrival_bits;  ///< what a whole phase adds to a word
  /// The most blocks that one word can count.
  static constexpr uint32_t max_blocks = one_phase - 1;

  /// What block 0 adds on arrival when `blocks` blocks take part (1 <= blocks <= max_blocks).
  GPUSYNC_HD static constexpr uint32_t completing(uint32_t blocks) { return one_phase - (blocks - 1); }
  /// The phase that a word is in.
  GPUSYNC_HD static constexpr uint32_t phase(uint32_t word) { return word >> arrival_bits; }
  /// The word's value at the end of the phase that `word` is in.
  GPUSYNC_HD static constexpr uint32_t goal(uint32_t word) { return (phase(word) + 1) << arrival_bits; }
  /// A word at the start of phase `phase` (taken modulo the field's size).
  GPUSYNC_HD static constexpr uint32_t start_of(uint32_t phase) { return phase << arrival_bits; }
};

}  // namespace gpusync
