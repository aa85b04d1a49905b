// Faults of memory operations, which tests of barriers must find: under the explorer (verify/) and under
// ThreadSanitizer. Which one is at work is chosen at run time, so that a barrier's text is compiled once and not once
// for each fault.
#pragma once

#include <gpusync/core/ordering.hpp>

#include <cstdint>
#include <type_traits>

#include <gpusync/core/phase.hpp>

namespace gpusync::test {

enum class memory_operation { store, add, fetch_add, acquire };

/// What operations do wrongly.
struct memory_fault {
  const char* name;
  /// What is left of an operation's order at a scope. Acquiring is memory_order::acquire, or does not happen.
  memory_order (*order)(memory_operation operation, memory_order order, scope at);
  /// A load at the device's scope finds a phase complete that is not.
  bool is_early = false;
};

/// Operations as they are written; `Base` is host_memory, or what has its operations, and `at_work` the fault.
template <class Base>
struct memory_with_fault : Base {
  static constexpr memory_fault none{"none", [](memory_operation, memory_order order, scope) { return order; }};
  static inline const memory_fault* at_work = &none;

  using Base::load;
  using Base::store;

  template <memory_order Order, scope Scope, class T>
  static T load(const T* address) {
    const T read = Base::template load<Order, Scope>(address);
    if constexpr (std::is_integral_v<T>) {
      if (at_work->is_early && Scope == scope::device) return static_cast<T>(read + phase_word::one_phase);
    }
    return read;
  }
  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    weakened<Order, Scope>(memory_operation::store,
                           [&](auto order) { Base::template store<order.value, Scope>(address, value); });
  }
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    weakened<Order, Scope>(memory_operation::add,
                           [&](auto order) { Base::template add<order.value, Scope>(address, value); });
  }
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    return weakened<Order, Scope>(memory_operation::fetch_add, [&](auto order) {
      return Base::template fetch_add<order.value, Scope>(address, value);
    });
  }
  template <memory_order Order, scope Scope>
  static two_words fetch_add_both(uint32_t* first, uint32_t* second, uint32_t value) {
    return weakened<Order, Scope>(memory_operation::fetch_add, [&](auto order) {
      return Base::template fetch_add_both<order.value, Scope>(first, second, value);
    });
  }
  template <scope Scope, class T>
  static void acquire(const T* address) {
    if (at_work->order(memory_operation::acquire, memory_order::acquire, Scope) == memory_order::acquire) {
      Base::template acquire<Scope>(address);
    }
  }

 private:
  /// `operation(order)` with the order that is left.
  template <memory_order Order, scope Scope, class Operation>
  static auto weakened(memory_operation which, Operation&& operation) {
    const memory_order left = at_work->order(which, Order, Scope);
    if (left == Order) return operation(std::integral_constant<memory_order, Order>{});
    if constexpr (Order == memory_order::acq_rel) {
      if (left == memory_order::acquire)
        return operation(std::integral_constant<memory_order, memory_order::acquire>{});
      if (left == memory_order::release)
        return operation(std::integral_constant<memory_order, memory_order::release>{});
    }
    return operation(std::integral_constant<memory_order, memory_order::relaxed>{});
  }
};

/// Puts a fault to work as long as it lives.
template <class Memory>
class fault_at_work {
 public:
  explicit fault_at_work(const memory_fault& fault) { Memory::at_work = &fault; }
  ~fault_at_work() { Memory::at_work = &Memory::none; }
  fault_at_work(const fault_at_work&) = delete;
  fault_at_work& operator=(const fault_at_work&) = delete;
};

namespace faults {

constexpr memory_order without_acquire(memory_order order) {
  return order == memory_order::acq_rel   ? memory_order::release
         : order == memory_order::acquire ? memory_order::relaxed
                                          : order;
}
constexpr memory_order without_release(memory_order order) {
  return order == memory_order::acq_rel   ? memory_order::acquire
         : order == memory_order::release ? memory_order::relaxed
                                          : order;
}

/// Nothing acquires: neither the end of a wait nor a read-modify-write that hands on.
inline constexpr memory_fault no_acquire{
    "no_acquire", [](memory_operation, memory_order order, scope) { return without_acquire(order); }};
/// The ends of waits do not acquire; a read-modify-write that hands on does.
inline constexpr memory_fault waits_do_not_acquire{
    "waits_do_not_acquire", [](memory_operation which, memory_order order, scope) {
      return which == memory_operation::acquire ? memory_order::relaxed : order;
    }};
/// Nothing releases.
inline constexpr memory_fault no_release{
    "no_release", [](memory_operation, memory_order order, scope) { return without_release(order); }};
/// Stores do not release; additions do.
inline constexpr memory_fault stores_do_not_release{
    "stores_do_not_release", [](memory_operation which, memory_order order, scope) {
      return which == memory_operation::store ? without_release(order) : order;
    }};
/// Additions do not release; stores do.
inline constexpr memory_fault adds_do_not_release{
    "adds_do_not_release", [](memory_operation which, memory_order order, scope) {
      return which == memory_operation::store ? order : without_release(order);
    }};
/// A read-modify-write that hands on does not acquire; the ends of waits do.
inline constexpr memory_fault hands_on_only_releases{
    "hands_on_only_releases", [](memory_operation, memory_order order, scope) {
      return order == memory_order::acq_rel ? memory_order::release : order;
    }};
/// A read-modify-write that hands on is relaxed; the last step releases.
inline constexpr memory_fault hands_on_is_relaxed{
    "hands_on_is_relaxed", [](memory_operation, memory_order order, scope) {
      return order == memory_order::acq_rel ? memory_order::relaxed : order;
    }};

// Of barriers across GPUs, which work at two scopes: what is wrong at one of them.

/// The leading block does not acquire what its GPU's blocks have released.
inline constexpr memory_fault gathers_relaxed{
    "gathers_relaxed", [](memory_operation which, memory_order order, scope at) {
      return which == memory_operation::acquire && at == scope::device ? memory_order::relaxed : order;
    }};
/// Blocks do not acquire what the leading blocks have told.
inline constexpr memory_fault polls_relaxed{
    "polls_relaxed", [](memory_operation which, memory_order order, scope at) {
      return which == memory_operation::acquire && at == scope::system ? memory_order::relaxed : order;
    }};
/// Blocks that arrive, and a leading block that releases them after rounds with others, release nothing in their GPU.
inline constexpr memory_fault relaxed_in_the_gpu{
    "relaxed_in_the_gpu", [](memory_operation which, memory_order order, scope at) {
      return which != memory_operation::fetch_add && at == scope::device ? without_release(order) : order;
    }};
/// Leading blocks release nothing to other GPUs.
inline constexpr memory_fault tells_relaxed{
    "tells_relaxed", [](memory_operation which, memory_order order, scope at) {
      return which != memory_operation::fetch_add && at == scope::system ? without_release(order) : order;
    }};
/// A leading block takes its GPU's count for complete, whatever it is.
inline constexpr memory_fault tells_before_it_has_gathered{
    "tells_before_it_has_gathered", [](memory_operation, memory_order order, scope) { return order; }, true};

}  // namespace faults

}  // namespace gpusync::test
