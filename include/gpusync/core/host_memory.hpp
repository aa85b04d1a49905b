// Atomic operations on host memory, in the words that device memory uses.
#pragma once

#include <gpusync/core/config.hpp>
#include <gpusync/core/ordering.hpp>

namespace gpusync {

/// Atomics on plain 32- and 64-bit words shared by host threads. A scope is accepted and has no effect: every host
/// thread sees every operation. Fulfils @ref Memory.
struct host_memory {
  /// Returns the word at `address`. Order: relaxed or acquire.
  template <memory_order Order, scope Scope, class T>
  static T load(const T* address) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::acquire, "a load is relaxed or acquires");
    return __atomic_load_n(address, builtin(Order));
  }

  /// Stores `value` at `address`. Order: relaxed or release.
  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    static_assert(Order == memory_order::relaxed || Order == memory_order::release, "a store is relaxed or releases");
    __atomic_store_n(address, value, builtin(Order));
  }

  /// Two words, each by itself.
  template <memory_order Order, scope Scope>
  static word_pair load(const word_pair* address) {
    const uint64_t first = load<Order, Scope>(&address->first);
    return {first, load<Order, Scope>(&address->second)};
  }
  /// The same for a store.
  template <memory_order Order, scope Scope>
  static void store(word_pair* address, const word_pair& value) {
    store<Order, Scope>(&address->first, value.first);
    store<Order, Scope>(&address->second, value.second);
  }

  /// Adds `value` to the word at `address` and returns what it held before.
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    return __atomic_fetch_add(address, value, builtin(Order));
  }

  /// fetch_add() on two words, on which nothing may rely as to which is first.
  template <memory_order Order, scope Scope>
  static two_words fetch_add_both(uint32_t* first, uint32_t* second, uint32_t value) {
    const uint32_t before = fetch_add<Order, Scope>(first, value);
    return {before, fetch_add<Order, Scope>(second, value)};
  }

  /// Adds `value` to the word at `address`. Order: relaxed or release.
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    (void)__atomic_fetch_add(address, value, builtin(Order));
  }

  /// Makes visible what was released before the value last read from `address` was written.
  template <scope Scope, class T>
  static void acquire(const T* address) {
    (void)__atomic_load_n(address, __ATOMIC_ACQUIRE);
  }

  /// cuda_memory's drain(): nothing to gain here.
  static void drain(uint32_t) {}

  /// A sequentially consistent fence.
  template <scope Scope>
  static void fence() {
#if defined(GPUSYNC_THREAD_SANITIZER)
    // ThreadSanitizer does not model fences. Any two fences of one execution are ordered, which a read-modify-write
    // of one common word says in words that it does know.
    static uint32_t order_of_fences = 0;
    (void)__atomic_fetch_add(&order_of_fences, 1u, __ATOMIC_ACQ_REL);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
  }

 private:
  static constexpr int builtin(memory_order order) {
    switch (order) {
      case memory_order::relaxed: return __ATOMIC_RELAXED;
      case memory_order::acquire: return __ATOMIC_ACQUIRE;
      case memory_order::release: return __ATOMIC_RELEASE;
      case memory_order::acq_rel: return __ATOMIC_ACQ_REL;
      case memory_order::seq_cst: return __ATOMIC_SEQ_CST;
    }
    return __ATOMIC_SEQ_CST;
  }
};

}  // namespace gpusync
