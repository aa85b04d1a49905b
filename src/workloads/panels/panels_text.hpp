// What a block does with one panel: one text for CUDA and host threads. C++17.
#pragma once

#include <gpusync/core/config.hpp>
#include <gpusync/core/ordering.hpp>

#include "workloads/random_bits.hpp"

namespace gpusync::tool {

enum class panel_op : uint32_t {
  gather,   ///< reads words whose places are computed
  scatter,  ///< adds 1 to them
  probe,    ///< reads words whose places are read
  stream    ///< reads all words in order, each block for itself
};

/// Where blocks begin.
enum class panel_start : uint32_t {
  same,   ///< all in the first panel
  spread  ///< each in a panel of its own, as far as there are enough: they go through the table as through a ring
};

/// How unlike the blocks' work is.
enum class panel_imbalance : uint32_t {
  even,    ///< all alike
  blocks,  ///< from 80 % to 120 %, drawn for each block
  random   ///< from 40 % to 160 %, anew in each panel
};

/// What the table holds at first, where it is read.
GPUSYNC_HD constexpr uint32_t panel_word(uint64_t place) {
  return random_bits(static_cast<uint32_t>(place) * 0x9e3779b9u + 1) & 0xffffu;
}

/// The work that is to be done.
struct panel_work {
  uint32_t panels;
  uint32_t log2_words;  ///< words of a panel
  uint32_t blocks, threads;
  uint32_t accesses;  ///< of a thread in a panel, on average
  panel_imbalance imbalance;
  panel_start start = panel_start::same;
  uint32_t multiply_adds = 0;        ///< one after the other, on each word that was read
  uint32_t factor = 1, summand = 0;  ///< all of them together are one with these

  /// Accesses of each thread of that block in that panel.
  GPUSYNC_HD uint32_t accesses_of(uint32_t block, uint32_t panel) const {
    uint32_t percent = 100;
    if (imbalance == panel_imbalance::blocks) percent = 80 + random_bits(block * 911 + 5) % 41;
    if (imbalance == panel_imbalance::random) percent = 40 + random_bits(block * 0x85ebca6bu + panel) % 121;
    return static_cast<uint32_t>(uint64_t{accesses} * percent / 100);
  }
  /// The panel at which that block is in epoch `epoch`.
  GPUSYNC_HD uint32_t panel_of(uint32_t block, uint32_t epoch) const {
    if (start == panel_start::same) return epoch;
    const uint32_t first = static_cast<uint32_t>(uint64_t{block} * panels / blocks);
    return epoch < panels - first ? epoch + first : epoch - (panels - first);
  }
  /// What becomes of a word that was read.
  GPUSYNC_HD uint32_t computed(uint32_t word) const {
    GPUSYNC_UNROLL(1)
    for (uint32_t i = 0; i < multiply_adds; ++i) word = word * multiply_add_factor + multiply_add_summand;
    return word;
  }
  static constexpr uint32_t multiply_add_factor = 1664525u, multiply_add_summand = 1013904223u;
  /// At most.
  GPUSYNC_HD uint32_t most_accesses() const { return static_cast<uint32_t>(uint64_t{accesses} * 160 / 100); }
  GPUSYNC_HD uint64_t words() const { return uint64_t{panels} << log2_words; }
  GPUSYNC_HD uint32_t elements() const { return blocks * threads; }
};

/// The places in a panel that one thread goes to, one after the other.
class panel_dice {
 public:
  GPUSYNC_HD panel_dice(const panel_work& work, uint32_t element, uint32_t panel)
      : state_(random_bits(element * 0x9e3779b9u ^ panel * 0xc2b2ae35u)), shift_(32 - work.log2_words) {}
  /// Below the panel's words.
  GPUSYNC_HD uint32_t next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> shift_;
  }

 private:
  uint32_t state_, shift_;
};

/// A block's work, in memory of a device.
template <panel_op Op>
struct panel_text {
  panel_work work;
  uint32_t* table;
  const uint32_t*
      places;      ///< of a probe: most_accesses() for each element and panel, those of an element `elements` apart
  uint32_t* sums;  ///< one of each thread's, of what it has read

  /// The word of a stream that a thread reads as its i-th.
  GPUSYNC_HD uint32_t in_order(uint32_t thread, uint32_t i) const {
    return (i * work.threads + thread) & ((1u << work.log2_words) - 1);
  }

  /// The calling thread's part of a panel; returns the sum of what it has read. Memory: a Memory, for scatter's adds.
  GPUSYNC_API_TEMPLATE
  template <class Memory>
  GPUSYNC_HD uint32_t visit(uint32_t block, uint32_t thread, uint32_t panel) const {
    // A loop of its own where nothing is computed: the compiler has several of its reads under way at once.
    if (Op == panel_op::scatter || work.multiply_adds == 0) return visit_as<false, Memory>(block, thread, panel);
    return visit_as<true, Memory>(block, thread, panel);
  }

  GPUSYNC_API_TEMPLATE
  template <bool Computes, class Memory>
  GPUSYNC_HD uint32_t visit_as(uint32_t block, uint32_t thread, uint32_t panel) const {
    const uint32_t element = block * work.threads + thread, count = work.accesses_of(block, panel);
    uint32_t* const words = table + (size_t{panel} << work.log2_words);
    panel_dice dice(work, element, panel);
    [[maybe_unused]] const uint32_t* place = places;
    if constexpr (Op == panel_op::probe) place += (size_t{panel} * work.most_accesses()) * work.elements() + element;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if constexpr (Op == panel_op::scatter) {
        Memory::template add<memory_order::relaxed, scope::device>(words + dice.next(), 1u);
      } else {
        uint32_t word;
        if constexpr (Op == panel_op::gather) word = words[dice.next()];
        if constexpr (Op == panel_op::probe) word = words[place[size_t{i} * work.elements()]];
        if constexpr (Op == panel_op::stream) word = words[in_order(thread, i)];
        sum += Computes ? work.computed(word) : word;
      }
    }
    return sum;
  }

  /// What a thread must have read in all panels, without reading.
  GPUSYNC_HD uint32_t expected(uint32_t block, uint32_t thread) const {
    uint32_t sum = 0;
    for (uint32_t panel = 0; panel < work.panels; ++panel) {
      panel_dice dice(work, block * work.threads + thread, panel);
      const uint32_t count = work.accesses_of(block, panel);
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t place = Op == panel_op::stream ? in_order(thread, i) : dice.next();
        sum += panel_word((uint64_t{panel} << work.log2_words) + place) * work.factor + work.summand;
      }
    }
    return sum;
  }
};

/// What passes from panel to panel where nobody waits.
struct no_pace {
  GPUSYNC_HD void end_epoch() const {}
};

/// What a thread does: all panels, kept together by `pace`, whose end_epoch() all threads of a block call.
GPUSYNC_API_TEMPLATE
template <class Grid, panel_op Op, class Pace>
GPUSYNC_HD void all_panels(const panel_text<Op>& text, Pace& pace) {
  const Grid grid = Grid::current();
  uint32_t sum = 0;
  for (uint32_t epoch = 0; epoch < text.work.panels; ++epoch) {
    sum += text.template visit<typename Grid::memory>(grid.block(), grid.thread(),
                                                      text.work.panel_of(grid.block(), epoch));
    pace.end_epoch();
  }
  text.sums[grid.block() * text.work.threads + grid.thread()] = sum;
}

}  // namespace gpusync::tool
