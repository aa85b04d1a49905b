// Neighbour barriers and halos that are wrong in one thing each.
#pragma once

#include <gpusync/neighbours/host.hpp>

#include "explorer/model_grid.hpp"

namespace gpusync::verify {

// ---- Other waits: the shipped arrival, and a text of their own for the wait ----

/// The wait of shipped flags in blocks of one thread, for one slot after the other; each word is looked at as `Reached`
/// says.
template <class Reached>
struct other_neighbour_flags : gpusync::grid::neighbour_flags {
  template <class Grid, class Context>
  static wait_status wait(Grid grid, uint32_t* words, const state& own, token goal, Context& context) {
    wait_status status = wait_status::completed;
    for (uint32_t i = 0; i < own.further && status == wait_status::completed; i += grid.threads()) {
      const uint32_t other = own.slot[i];
      if (other == places::none || Reached::skips(grid.block(), grid.thread() + i)) continue;
      status = poll_until<memory_order::acquire, scope::device>(
          grid, words + size_t{other} * gpusync::detail::line_words,
          [goal](uint32_t flag) { return Reached::reached(flag, goal); }, context);
    }
    return gpusync::sync_block_status(grid, status, context);
  }
};
struct as_flags_do {
  static bool skips(uint32_t, uint32_t) { return false; }
  static bool reached(uint32_t flag, uint32_t goal) { return phase_reached(flag, goal); }
};

/// A neighbour that is one phase ahead is waited for.
struct for_equality : as_flags_do {
  static bool reached(uint32_t flag, uint32_t goal) { return flag == goal; }
};
using flags_for_equality = other_neighbour_flags<for_equality>;

/// Behind the wrap every old flag is large.
struct compared_unsigned : as_flags_do {
  static bool reached(uint32_t flag, uint32_t goal) { return flag >= goal; }
};
using flags_compared_unsigned = other_neighbour_flags<compared_unsigned>;

/// The last slot is not looked at.
struct overlooks_slot_1 : as_flags_do {
  static bool skips(uint32_t, uint32_t slot) { return slot == 1; }
};
using one_neighbour_overlooked = other_neighbour_flags<overlooks_slot_1>;

/// Block 0 waits for nobody, though others wait for it: a list that is not mutual.
struct block_0_goes_on : as_flags_do {
  static bool skips(uint32_t block, uint32_t) { return block == 0; }
};
using block_0_waits_for_nobody = other_neighbour_flags<block_0_goes_on>;

// ---- Other grids ----

/// Of the two block barriers of a phase the first (0) or the second (1) is missing, from the second phase on.
template <uint32_t Missing>
struct meets_once : model_grid<> {
  static meets_once current() { return {}; }
  void sync_block() const { (void)sync_block_or(false); }
  bool sync_block_or(bool value) const {
    const uint32_t turn = explorer::active().noted()++;
    return turn >= 2 && turn % 2 == Missing ? value : model_grid<>::sync_block_or(value);
  }
  bool sync_block_any(bool value, uint32_t) const { return sync_block_or(value); }
};

/// The threads of a block never meet.
template <class Memory = model_memory>
struct meets_never : model_grid<Memory> {
  static meets_never current() { return {}; }
  void sync_block() const {}
  bool sync_block_or(bool value) const { return value; }
  bool sync_block_any(bool value, uint32_t) const { return value; }
};

// ---- Other memories, of halos: their words have 64 bits, a value and a step ----

/// Once a word has been written, the step beside it is taken for the one that is wanted: the reader's own.
struct tag_not_looked_at : model_memory {
  template <memory_order Order, scope Scope, class T>
  static T load(const T* address) {
    const T word = model_memory::load<Order, Scope>(address);
    if constexpr (sizeof(T) == 8) {
      if (word != 0) return (word & 0xffffffffu) | T{explorer::active().noted()} << 32;
    }
    return word;
  }
  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    if constexpr (sizeof(T) == 8) explorer::active().noted() = static_cast<uint32_t>(value >> 32);
    model_memory::store<Order, Scope>(address, value);
  }
};

/// What words are asked for early is taken as they are then: in the first loads, of so many words, behind a put().
template <uint32_t Words>
struct early_words_taken : model_memory {
  using model_memory::load;
  using model_memory::store;
  template <memory_order Order, scope Scope, class T>
  static T load(const T* address) {
    const T word = model_memory::load<Order, Scope>(address);
    if constexpr (sizeof(T) == 8) {
      uint32_t& noted = explorer::active().noted();
      if (noted % (Words + 1) != 0) return (word & 0xffffffffu) | T{noted-- / (Words + 1)} << 32;
    }
    return word;
  }
  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    if constexpr (sizeof(T) == 8) {
      explorer::active().noted() = static_cast<uint32_t>(value >> 32) * (Words + 1) + Words;
    }
    model_memory::store<Order, Scope>(address, value);
  }
};

/// A word is stored by two accesses: first its step, then its value.
struct torn_words : model_memory {
  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    if constexpr (sizeof(T) == 8) {
      model_memory::store<Order, Scope>(address, (value >> 32) << 32);
    }
    model_memory::store<Order, Scope>(address, value);
  }
};

/// Of a value of 8 bytes the half that is read first proves the other.
struct first_half_proves_both : model_memory {
  using model_memory::load;
  template <memory_order Order, scope Scope>
  static word_pair load(const word_pair* address) {
    const word_pair both = model_memory::load<Order, Scope>(address);
    return {both.first, (both.first >> 32) << 32 | (both.second & 0xffffffffu)};
  }
};

/// A block does not leave the number of its step to the next launch.
struct epoch_not_kept : model_memory {
  using model_memory::store;
  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    if constexpr (sizeof(T) == 8) model_memory::store<Order, Scope>(address, value);
  }
};

}  // namespace gpusync::verify
