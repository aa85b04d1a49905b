// What the members of a fault-tolerant barrier agree on, and where that and their arrivals lie.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <string>

#include <gpusync/core/error.hpp>
#endif
#include <gpusync/rmw/cas.hpp>
#include <gpusync/rmw/object.hpp>

namespace gpusync::rmw::detail {

/// The state on which the members agree. All zero: nobody is lost.
template <uint32_t N>
struct lost_blocks_log {
  static constexpr uint32_t words = (N + 31) / 32;
  uint16_t epoch = 0;     ///< how often members have been lost; each time, arrivals go on in a word of their own
  uint16_t closings = 0;  ///< how often a phase of this epoch was cut short, and then nobody was missing
  uint32_t lost[words] = {};
};

/// The word in which an epoch's arrivals are counted: arrivals, then (from bit 48) the parity of the phase that was
/// closed last, then how often a phase has been closed, modulo 2^15.
struct arrival_word {
  static constexpr uint32_t count_bits = 48;
  static constexpr uint64_t count_mask = (uint64_t{1} << count_bits) - 1;

  GPUSYNC_HD static constexpr uint64_t count(uint64_t word) { return word & count_mask; }
  GPUSYNC_HD static constexpr uint32_t parity(uint64_t word) { return static_cast<uint32_t>(word >> count_bits) & 1; }
  GPUSYNC_HD static constexpr uint16_t closings(uint64_t word) {
    return static_cast<uint16_t>(word >> (count_bits + 1));
  }
  GPUSYNC_HD static constexpr uint16_t after(uint16_t closings) {
    return static_cast<uint16_t>((closings + 1) & 0x7fff);
  }
  GPUSYNC_HD static constexpr uint16_t before(uint16_t closings) {
    return static_cast<uint16_t>((closings - 1) & 0x7fff);
  }
  GPUSYNC_HD static constexpr uint64_t closed(uint64_t word, uint32_t phase) {
    return count(word) | uint64_t{phase & 1} << count_bits | uint64_t{after(closings(word))} << (count_bits + 1);
  }
};

/// The operation: ends a phase that was cut short, once for all, without those that are late.
template <uint32_t N>
struct phase_verdict {
  uint16_t epoch;
  uint16_t closings;  ///< before this one
  uint32_t late[lost_blocks_log<N>::words];

  GPUSYNC_HD lost_blocks_log<N> operator()(lost_blocks_log<N> old) const {
    if (old.epoch != epoch || old.closings != closings) return old;
    bool anybody = false;
    for (uint32_t i = 0; i < lost_blocks_log<N>::words; ++i) {
      anybody = anybody || (late[i] & ~old.lost[i]) != 0;
      old.lost[i] |= late[i];
    }
    old.closings = anybody ? 0 : arrival_word::after(old.closings);
    if (anybody) ++old.epoch;
    return old;
  }
};

/// How the members of a fault-tolerant barrier agree: a wait-free object, which survives whoever dies in the middle of
/// it. Calls hand on what their callers have seen.
template <uint32_t N, class Machine>
using agreement = basic_rmw_object<lost_blocks_log<N>, N, cas<publication::ordered>, phase_verdict<N>, Machine>;

#if !defined(__CUDACC_RTC__)
/// `blocks`, if a barrier for up to N can have them.
template <uint32_t N>
uint32_t require_survivable(uint64_t blocks) {
  if (blocks >= 1 && blocks <= N) return static_cast<uint32_t>(blocks);
  throw invalid_argument("A fault-tolerant barrier for up to " + std::to_string(N) + " blocks was asked to join " +
                         std::to_string(blocks) + ".");
}
#endif

/// Where the parts of a fault-tolerant barrier for so many blocks lie, in words of 64 bits.
template <uint32_t N>
struct survivor_layout {
  static constexpr uint32_t line = gpusync::detail::line_words / 2;
  GPUSYNC_HD static constexpr size_t up_to_lines(size_t words) { return (words + line - 1) / line * line; }

  static constexpr uint32_t lost_words = lost_blocks_log<N>::words;
  static constexpr size_t notice_words = up_to_lines(2 + lost_words);

  uint32_t blocks;

  /// The word in which an epoch's arrivals are counted, on a line of its own. Each loss costs a member, so there are no
  /// more epochs than blocks.
  GPUSYNC_HD size_t arrivals(uint32_t epoch) const { return size_t{epoch} * line; }
  /// The number of the phase, from 1, in which a block has last arrived.
  GPUSYNC_HD size_t flag(uint32_t block) const { return size_t{blocks} * line + block; }
  /// What the warp that acts for a block tells the block's other threads.
  GPUSYNC_HD size_t notice(uint32_t block) const { return flag(0) + up_to_lines(blocks) + block * notice_words; }
  GPUSYNC_HD size_t object() const { return notice(blocks); }
};

}  // namespace gpusync::rmw::detail
