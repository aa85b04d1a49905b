// Mutants of the fault-tolerant barrier.
#pragma once

#include "survivor_machine.hpp"

namespace gpusync::verify {

/// Everybody takes what it has seen itself for what all have agreed on.
template <uint32_t N>
struct no_agreement : agreement_at_once<N> {
  using base = agreement_at_once<N>;
  using base::base;
  struct participant {
    typename base::log apply(const typename base::verdict& operation) const {
      typename base::log old;
      old.epoch = operation.epoch;
      old.closings = operation.closings;
      return old;
    }
  };
  template <class Machine>
  participant join(uint32_t, const Machine&) const {
    return {};
  }
};

/// Agrees, but hands on nothing.
template <uint32_t N>
using unordered_agreement = agreement_at_once<N, memory_order::relaxed>;

/// Closes a phase without looking whether it has come to its end meanwhile.
struct closes_what_is_complete : survivor_machine<plain_machine> {
  template <memory_order Order>
  uint64_t compare_exchange(uint64_t* address, uint64_t expected, uint64_t desired) const {
    (void)explorer::active().modify(
        Order, address, 8,
        [](uint64_t was, uint64_t from, uint64_t to) {
          // Closed once, but whatever has been counted.
          if (rmw::detail::arrival_word::closings(was) != rmw::detail::arrival_word::closings(from)) return was;
          return to - rmw::detail::arrival_word::count(to) + rmw::detail::arrival_word::count(was);
        },
        expected, desired);
    return expected;
  }
};

/// Lets a phase that was closed pass when the last arrivals have come after all.
struct counts_late_arrivals : survivor_machine<plain_machine> {
  using base = survivor_machine<plain_machine>;
  static uint64_t seen(uint64_t word) {
    const uint64_t count = rmw::detail::arrival_word::count(word);
    return count >= explorer::active().form().blocks ? count : word;
  }
  uint64_t arrive(uint64_t* flag, uint64_t mark, uint64_t* word) const {
    return seen(base::arrive(flag, mark, word) + 1) - 1;
  }
  uint64_t poll(const uint64_t* word, uint64_t last) const { return seen(base::poll(word, last)); }
};

/// The arrival is counted before the flag says so.
struct adds_before_flag : survivor_machine<plain_machine> {
  uint64_t arrive(uint64_t* flag, uint64_t mark, uint64_t* word) const {
    const uint64_t before = add<memory_order::acq_rel>(word);
    (void)explorer::active().perform(action::store, memory_order::release, flag, 8, mark);
    return before;
  }
};

/// The arrival publishes nothing.
struct arrives_relaxed : survivor_machine<plain_machine> {
  uint64_t arrive(uint64_t* flag, uint64_t mark, uint64_t* word) const {
    (void)explorer::active().perform(action::store, memory_order::release, flag, 8, mark);
    return add<memory_order::acquire>(word);
  }
};

/// Who is found to have arrived is not waited for, and its data are not either.
struct reads_flags_relaxed : survivor_machine<plain_machine> {
  template <memory_order>
  uint64_t load(const uint64_t* address) const {
    return plain_machine::load<memory_order::relaxed>(address);
  }
};

}  // namespace gpusync::verify
