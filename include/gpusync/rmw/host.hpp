// Wait-free objects for host threads: the machine, and the memory behind an object.
#pragma once

#include <string>
#include <thread>

#include <gpusync/core/error.hpp>
#include <gpusync/core/host_backend.hpp>
#include <gpusync/core/host_memory.hpp>
#include <gpusync/rmw/cas.hpp>
#include <gpusync/rmw/cas128.hpp>
#include <gpusync/rmw/coalesced_store.hpp>
#include <gpusync/rmw/object_storage.hpp>

namespace gpusync {

namespace rmw {

namespace host_detail {
/// For the time of a few stores, or of one load.
class spin_lock {
 public:
  explicit spin_lock(uint32_t& word) : word_(word) {
    // Whoever has it may have lost its processor to one that polls.
    while (__atomic_exchange_n(&word_, 1u, __ATOMIC_ACQUIRE) != 0) {
      while (__atomic_load_n(&word_, __ATOMIC_RELAXED) != 0) std::this_thread::yield();
    }
  }
  ~spin_lock() { __atomic_store_n(&word_, 0u, __ATOMIC_RELEASE); }
  spin_lock(const spin_lock&) = delete;
  spin_lock& operator=(const spin_lock&) = delete;

 private:
  uint32_t& word_;
};
/// Serializes masked stores with each other and with loads of what they store.
inline uint32_t masked_stores = 0;
}  // namespace host_detail

/// A participant that is one host thread. Words of 64 bits are accessed with the compiler's atomics, 128 bits with
/// cmpxchg16b. No processor has a masked store of several words: assign() and load_cell() imitate that of a GPU under
/// a lock, so objects with rmw::coalesced_store are wait-free on a host only as far as nobody is stopped in between.
/// Fulfils @ref Machine.
struct host_machine : single_lane {
  static constexpr bool imitates_masked_store = true;

  template <memory_order Order, class Word>
  Word load(const Word* address) const {
    return host_memory::load<Order, scope::system>(address);
  }
  template <memory_order Order, class Word>
  Word load_one(const Word* address) const {
    return load<Order>(address);
  }
  template <memory_order Order>
  void store(uint64_t* address, uint64_t word) const {
    host_memory::store<Order, scope::system>(address, word);
  }
  template <memory_order Order, class Word>
  Word compare_exchange(Word* address, Word expected, Word desired) const {
    constexpr int success = Order == memory_order::relaxed ? __ATOMIC_RELAXED : __ATOMIC_ACQ_REL;
    constexpr int failure = Order == memory_order::relaxed ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
    (void)__atomic_compare_exchange_n(address, &expected, desired, false, success, failure);
    return expected;
  }

#if defined(__x86_64__)
  template <memory_order Order>
  __attribute__((target("cx16"))) wide compare_exchange_wide(wide* address, wide expected, wide desired) const {
    __extension__ using bits = unsigned __int128;
    const auto joined = [](const wide& of) { return bits{of.high} << 64 | of.low; };
    const bits before =
        __sync_val_compare_and_swap(reinterpret_cast<bits*>(address), joined(expected), joined(desired));
    return {static_cast<uint64_t>(before), static_cast<uint64_t>(before >> 64)};
  }
  /// Writes what it reads: the processors promise nothing else for 128 bits.
  template <memory_order Order>
  wide load_wide(wide* address) const {
    return compare_exchange_wide<Order>(address, wide{0, 0}, wide{0, 0});
  }
#endif

  void fence() const {
    host_memory::fence<scope::system>();
  }

  template <class AddressOf, class WordOf>
  void assign(uint32_t count, AddressOf&& address_of, WordOf&& word_of) const {
    const host_detail::spin_lock alone(host_detail::masked_stores);
    for (uint32_t i = 0; i < count; ++i) {
      host_memory::store<memory_order::relaxed, scope::system>(address_of(i), word_of(i));
    }
  }
  template <memory_order Order, class Cell>
  Cell load_cell(const Cell* address) const {
    const host_detail::spin_lock alone(host_detail::masked_stores);
    return host_memory::load<Order, scope::system>(address);
  }

  [[noreturn]] void refuse(uint32_t number, uint32_t count) const {
    throw invalid_argument("There is no participant " + std::to_string(number) + ": the object has " +
                           std::to_string(count) + ", counted from 0.");
  }
  [[noreturn]] void rounds_exhausted(uint64_t rounds) const {
    throw error("The object has used up its " + std::to_string(rounds) +
                " rounds. Start a fresh one, or use cells of 8 bytes.");
  }
};

}  // namespace rmw

/// A wait-free object whose participants are host threads.
template <class State, uint32_t N, class Consensus = rmw::cas<>, class Operation = rmw::named_operation<State>,
          class Machine = rmw::host_machine>
using host_rmw_object = basic_rmw_object<State, N, Consensus, Operation, Machine>;

/// Owns the memory of one object for host threads. Reusable without a reset, whoever has stopped in the middle of what.
template <class State, uint32_t N, class Consensus = rmw::cas<>, class Operation = rmw::named_operation<State>,
          class Machine = rmw::host_machine>
class host_rmw_storage
    : public detail::object_storage<basic_rmw_object<State, N, Consensus, Operation, Machine>, detail::host_backend> {
 public:
  /// With the state `first`.
  explicit host_rmw_storage(const State& first = State{})
      : host_rmw_storage::object_storage(detail::on_host{}, first) {}
};

}  // namespace gpusync
