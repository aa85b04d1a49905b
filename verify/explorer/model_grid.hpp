// What a kernel sees when the explorer runs it: the memory and the grid that the barriers' text is instantiated with.
#pragma once

#include <cstdlib>

#include <gpusync/core/host_grid.hpp>

#include "explorer/explorer.hpp"

namespace gpusync::verify {

/// host_memory's operations, each a step of the explored program. Scopes have no effect: a machine in which every scope
/// reaches all threads.
struct model_memory {
  template <memory_order Order, scope Scope, class T>
  static T load(const T* address) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::acquire, "a load is relaxed or acquires");
    return static_cast<T>(explorer::active().perform(action::load, Order, address, sizeof(T), 0));
  }
  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release, "a store is relaxed or releases");
    (void)explorer::active().perform(action::store, Order, address, sizeof(T), value);
  }
  /// Two words, each by itself: first the second, for no order is promised.
  template <memory_order Order, scope Scope>
  static word_pair load(const word_pair* address) {
    const uint64_t second = load<Order, Scope>(&address->second);
    return {load<Order, Scope>(&address->first), second};
  }
  template <memory_order Order, scope Scope>
  static void store(word_pair* address, const word_pair& value) {
    store<Order, Scope>(&address->second, value.second);
    store<Order, Scope>(&address->first, value.first);
  }
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    return static_cast<T>(explorer::active().perform(action::fetch_add, Order, address, sizeof(T), value));
  }
  /// In either order: blocks with odd numbers begin with the second.
  template <memory_order Order, scope Scope>
  static two_words fetch_add_both(uint32_t* first, uint32_t* second, uint32_t value) {
    two_words before{};
    const bool swapped = explorer::active().block() % 2 != 0;
    if (swapped) before.second = fetch_add<Order, Scope>(second, value);
    before.first = fetch_add<Order, Scope>(first, value);
    if (!swapped) before.second = fetch_add<Order, Scope>(second, value);
    return before;
  }
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    (void)explorer::active().perform(action::add, Order, address, sizeof(T), value);
  }
  template <scope Scope, class T>
  static void acquire(const T* address) {
    explorer::active().acquire_last(address, sizeof(T));
  }
  template <class... Any>
  static void drain(Any...) {}
  template <scope Scope>
  static void fence() {
    explorer::active().fence();
  }
};

/// host_grid's words for a thread of the explored program. Looking: every failed poll looks round, as on the host;
/// otherwise none ever does.
template <class Memory = model_memory, bool Looking = false>
class model_grid {
 public:
  using memory = Memory;
  static constexpr uint32_t polls_per_look = Looking ? 1 : 1u << 30;
  static constexpr uint32_t warp_size = 1;
  static constexpr bool whole_block = true;
  static constexpr bool may_lose_phases = false;
  static constexpr bool handle_per_thread = false;
  static constexpr bool has_named_barriers = false;
  using warps_of_block = gpusync::detail::threads_of_block<model_grid>;

  static model_grid current() { return {}; }

  uint32_t blocks() const { return explorer::active().blocks(); }
  uint32_t block() const { return explorer::active().block(); }
  uint32_t threads() const { return explorer::active().form().threads; }
  uint32_t thread() const { return explorer::active().thread(); }

  void sync_block() const { (void)sync_block_or(false); }
  bool sync_block_or(bool value) const { return sync_block_count(value) != 0; }
  uint32_t sync_block_count(bool value) const { return explorer::active().meet_block(value); }
  uint32_t shared_words() const { return 0; }
  void share(uint32_t, uint32_t index, uint32_t value) const { explorer::active().share(index, value); }
  uint32_t shared(uint32_t, uint32_t index) const { return explorer::active().shared(index); }
  uint32_t prepare_timeout_flag() const { return 1; }
  void separate_timeout_flags() const {}
  void raise_timeout_flag(uint32_t) const {}
  bool sync_block_any(bool value, uint32_t) const { return sync_block_or(value); }

  uint32_t sm_id() const { return block(); }
  template <class T>
  T* opaque(T* pointer) const {
    return pointer;
  }
  uint32_t opaque(uint32_t value) const { return value; }
  void delay(uint32_t) const {}
  void delay_until(uint64_t) const {}
  uint64_t cycles() const { return 0; }
  [[noreturn]] void fail(timeout_report*, misuse, uint32_t) const { std::abort(); }
  template <uint32_t Count>
  uint32_t pick(const uint32_t (&values)[Count], uint32_t index) const {
    return values[index];
  }
  uint64_t now() const { return 0; }
  void pause() const { explorer::active().pause(); }
};

/// The same where the threads of a block are lanes of a warp, or of warps of which only one thread adds and polls: what
/// lanes do together, all threads of the block do by meeting, or one does alone.
template <class Memory = model_memory>
struct model_warp_grid : model_grid<Memory> {
  static constexpr uint32_t warp_size = 32;
  static model_warp_grid current() { return {}; }

  void share_alike(uint32_t, uint32_t index, uint32_t value) const { explorer::active().share_alike(index, value); }
  void count_shared(uint32_t, uint32_t index, bool value) const {
    if (value) explorer::active().count_shared(index);
  }
  void clear_shared(uint32_t words, uint32_t index, uint32_t lanes) const {
    meet(lanes);
    share_alike(words, index, 0);
  }
  uint32_t first_value(bool takes, uint32_t lanes, uint32_t value) const {
    if (!takes || lanes == 1) return value;
    if (this->thread() == 0) this->share(0, by_lanes, value);
    meet(lanes);
    const uint32_t first = this->shared(0, by_lanes);
    meet(lanes);
    return first;
  }
  uint32_t sum_of_first(uint32_t count, uint32_t value) const {
    const uint32_t lanes = (1u << count) - 1;
    uint32_t sum = 0;
    for (uint32_t lane = 0; lane < count; ++lane) {
      if (this->thread() == lane) this->share(0, by_lanes, value);
      meet(lanes);
      sum += this->shared(0, by_lanes);
      meet(lanes);
    }
    return sum;
  }

 private:
  static constexpr uint32_t by_lanes = 7;  ///< a shared word that votes of few sub-counters do not use

  void meet(uint32_t lanes) const {
    if (lanes == 1) return;
    if (lanes != (1u << this->threads()) - 1) throw std::logic_error("Some lanes of a block cannot meet.");
    this->sync_block();
  }
};

static_assert(is_memory<model_memory> && is_grid<model_grid<>> && is_grid<model_warp_grid<>>, "see core/concepts.hpp");

}  // namespace gpusync::verify
