// Mutants of the shipped barriers that differ in their memory operations only: the shipped text, other words.
#pragma once

#include "checks.hpp"
#include "explorer/model_grid.hpp"
#include "support/memory_faults.hpp"

namespace gpusync::verify {

/// A memory of faults that are chosen at run time: of several mutants of one text.
using faulty_memory = test::memory_with_fault<model_memory>;
namespace faults = test::faults;

/// A check that a mutant fails in this way: `explore()` searches, with this fault in the place of faulty_memory's.
template <class Explore>
void add_mutant_check(const char* suite, const std::string& name, failure expected, const test::memory_fault& fault,
                      Explore explore) {
  add_check(suite, name, [=] {
    const test::fault_at_work<faulty_memory> at_work(fault);
    expect_found(name, explore(), expected);
  });
}

/// Two adds tell only what the first of them has found.
struct one_tells : model_memory {
  template <memory_order Order, scope Scope>
  static two_words fetch_add_both(uint32_t* first, uint32_t* second, uint32_t value) {
    const two_words told = model_memory::fetch_add_both<Order, Scope>(first, second, value);
    return {told.first, told.first};
  }
};

/// Of the words that threads wait for, only the one that is added to is acquired.
struct acquires_the_counter_alone : model_memory {
  static inline const void* counter = nullptr;

  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    counter = address;
    model_memory::add<Order, Scope>(address, value);
  }
  template <scope Scope, class T>
  static void acquire(const T* address) {
    if (address == counter) model_memory::acquire<Scope>(address);
  }
};

/// Additions that are a load and a store: two at once lose one.
struct torn_add : model_memory {
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    const T before = load<memory_order::acquire, Scope>(address);
    store<memory_order::release, Scope>(address, before + value);
    return before;
  }
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    (void)fetch_add<Order, Scope>(address, value);
  }
};

/// Fences that are none.
struct no_fence : model_memory {
  template <scope Scope>
  static void fence() {}
};

}  // namespace gpusync::verify
