// The machines on which the explorer runs the fault-tolerant barrier.
#pragma once

#include <gpusync/rmw/fault_tolerant_barrier.hpp>

#include <cstring>

#include "explorer/model_grid.hpp"
#include "rmw_machine.hpp"

namespace gpusync::verify {

/// Accesses to memory, each a step.
struct plain_machine : rmw::single_lane {
  template <memory_order Order>
  uint64_t load(const uint64_t* address) const {
    return explorer::active().perform(action::load, Order, address, 8, 0);
  }
  template <memory_order Order>
  void store(uint64_t* address, uint64_t word) const {
    (void)explorer::active().perform(action::store, Order, address, 8, word);
  }
};

// What a thread notes of its phase: whether it has arrived before anybody gave up, whether its deadline is over, and
// from bit 8 on what it proposes.
inline constexpr uint32_t noted_in_time = 1;
inline constexpr uint32_t noted_deadline = 2;

/// Where each thread's barrier lies, on its stack.
struct barrier_place {
  const void* at = nullptr;
  size_t bytes = 0;
};
inline barrier_place barrier_places[max_fibers];

/// All that the calling thread's next steps depend on when it begins, or goes on with, its operation on the object.
inline void put_barrier(std::vector<uint64_t>& live) {
  const barrier_place& place = barrier_places[explorer::active().fiber_index()];
  live.push_back(hash_bytes(place.at, place.bytes));
  live.push_back(explorer::active().noted());
}
/// In a function of its own: no vector may live where a fiber leaves, for its stack comes back and the heap does not.
inline void forget_how_it_came_here() {
  std::vector<uint64_t> live;
  put_barrier(live);
  explorer::active().checkpoint(1000, live.data(), live.size() * sizeof(uint64_t));
}
template <uint32_t N>
void note_proposal(const rmw::detail::phase_verdict<N>& proposed) {
  explorer::active().noted() =
      (explorer::active().noted() & 0xff) | proposed.late[0] << 8 | proposed.epoch << 16 | proposed.closings << 24;
}

/// Whether the calling thread has arrived before its epoch's word was ever closed.
inline bool arrived_in_time() {
  return (explorer::active().noted() & noted_in_time) != 0;
}

/// What the barrier needs besides: its own words are no object's.
template <class Base>
struct survivor_machine : Base {
  template <memory_order Order>
  uint64_t compare_exchange(uint64_t* address, uint64_t expected, uint64_t desired) const {
    if constexpr (!std::is_same_v<Base, plain_machine>) {
      if (address == rmw_now.words) return Base::template compare_exchange<Order>(address, expected, desired);
    }
    return explorer::active().modify(
        Order, address, 8, [](uint64_t was, uint64_t from, uint64_t to) { return was == from ? to : was; }, expected,
        desired);
  }
  uint64_t arrive(uint64_t* flag, uint64_t mark, uint64_t* word) const {
    (void)explorer::active().perform(action::store, memory_order::release, flag, 8, mark);
    return add<memory_order::acq_rel>(word);
  }
  uint64_t poll(const uint64_t* word, uint64_t last) const {
    explorer& active = explorer::active();
    bool gave_up = false;
    const uint64_t value = active.load_or_give_up(memory_order::relaxed, word, 8, gave_up);
    if (!gave_up) return value;
    active.noted() |= noted_deadline;
    return last;
  }
  void acquire(const uint64_t* word) const { explorer::active().acquire_last(word, 8); }
  template <class Grid>
  bool late(Grid, deadline&) const {
    return (explorer::active().noted() & noted_deadline) != 0;
  }

 protected:
  template <memory_order Order>
  static uint64_t add(uint64_t* word) {
    explorer& active = explorer::active();
    const uint64_t before = active.modify(
        Order, word, 8, [](uint64_t was, uint64_t, uint64_t) { return was + 1; }, 0, 0);
    if (rmw::detail::arrival_word::closings(before) == 0) active.noted() |= noted_in_time;
    return before;
  }
};

/// The wait-free object itself; its caller's part is noted for milestones.
template <class Object, uint32_t N>
struct noted_agreement : Object {
  struct participant {
    typename Object::participant own;
    rmw::detail::lost_blocks_log<N> apply(const rmw::detail::phase_verdict<N>& operation) {
      note_proposal<N>(operation);
      return own.apply(operation);
    }
  };
  using Object::Object;
  template <class Machine>
  participant join(uint32_t number, const Machine& machine) const {
    return {Object::join(number, machine)};
  }
};

/// The wait-free object as one step: what it has been shown to be elsewhere (verify.rmw).
template <uint32_t N, memory_order Order = memory_order::acq_rel>
struct agreement_at_once {
  using log = rmw::detail::lost_blocks_log<N>;
  using verdict = rmw::detail::phase_verdict<N>;
  static_assert(sizeof(log) == 8 && sizeof(verdict) == 8, "both fit a word");
  static constexpr uint32_t words = 1;
  static constexpr size_t bytes = 8;
  static constexpr uint64_t max_steps = 1;

  struct participant {
    uint64_t* word;
    log apply(const verdict& operation) const {
      note_proposal<N>(operation);
      forget_how_it_came_here();
      const uint64_t before = explorer::active().modify(
          Order, word, 8,
          [](uint64_t was, uint64_t what, uint64_t) { return bits_of(from<verdict>(what)(from<log>(was))); },
          bits_of(operation), 0);
      return from<log>(before);
    }
  };

  explicit agreement_at_once(uint64_t* at) : word(at) {}
  template <class Machine>
  participant join(uint32_t, const Machine&) const {
    return {word};
  }

  template <class T>
  static uint64_t bits_of(const T& object) {
    uint64_t bits;
    std::memcpy(&bits, &object, sizeof(bits));
    return bits;
  }
  template <class T>
  static T from(uint64_t bits) {
    T object;
    std::memcpy(static_cast<void*>(&object), &bits, sizeof(bits));
    return object;
  }
  uint64_t* word;
};

}  // namespace gpusync::verify
