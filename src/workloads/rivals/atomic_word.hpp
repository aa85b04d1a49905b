// Plain atomic operations behind the words of a wait-free object: what the objects are measured against. With CUDA
// include atomic_word.cuh.
#pragma once

#include <type_traits>

#include <gpusync/rmw/consensus.hpp>
#include <gpusync/rmw/object.hpp>

namespace gpusync {

namespace rivals {

/// Policies that are no consensus: the state is one word, and an operation is one atomic operation on it or a loop of
/// compare-and-swap. For named operations on states that are numbers, and for participants of one lane.
///
/// hardware: what the hardware has as one atomic operation is one, wait-free; the rest is a loop. cas_loop: all of them
/// are loops, which are lock-free but not wait-free: under contention one caller may lose for ever.
///
/// Synchronizes: nothing (relaxed).
/// Storage: one word.
template <bool Loops>
struct atomic_word : rmw::consensus_defaults {
  static constexpr rmw::publication order = rmw::publication::tagged;
  static constexpr uint32_t max_participants = ~uint32_t{0};
  static constexpr const char* name = Loops ? "cas-loop" : "hardware";
};
using hardware = atomic_word<false>;
using cas_loop = atomic_word<true>;

/// The word that holds a T.
template <size_t Bytes>
struct word_of_bytes;
template <>
struct word_of_bytes<4> {
  using type = uint32_t;
};
template <>
struct word_of_bytes<8> {
  using type = uint64_t;
};

/// Applies an operation to the T in `word` with a loop of compare-and-swap that keeps what it was told.
GPUSYNC_API_TEMPLATE
template <class T, class Machine>
GPUSYNC_HD T apply_in_a_loop(const Machine& machine, typename word_of_bytes<sizeof(T)>::type* word,
                             const rmw::named_operation<T>& operation) {
  using bits = typename word_of_bytes<sizeof(T)>::type;
  bits known = machine.template load_one<memory_order::relaxed>(word);
  for (;;) {
    T old;
    memcpy(&old, &known, sizeof(T));
    const T wanted = operation(old);
    bits desired;
    memcpy(&desired, &wanted, sizeof(T));
    const bits before = machine.template compare_exchange<memory_order::relaxed>(word, known, desired);
    if (before == known) return old;
    known = before;
  }
}

/// A named operation as the processor's own atomic one where it has it, and as a loop elsewhere.
template <class Machine>
struct single_operation {
  template <class Word, class T>
  static T apply(const Machine& machine, Word* word, const rmw::named_operation<T>& operation) {
    if constexpr (std::is_integral_v<T>) {
      const Word operand = static_cast<Word>(operation.operand);
      switch (operation.kind) {
        case rmw::operation_kind::add: return static_cast<T>(__atomic_fetch_add(word, operand, __ATOMIC_RELAXED));
        case rmw::operation_kind::subtract: return static_cast<T>(__atomic_fetch_sub(word, operand, __ATOMIC_RELAXED));
        case rmw::operation_kind::exchange: return static_cast<T>(__atomic_exchange_n(word, operand, __ATOMIC_RELAXED));
        case rmw::operation_kind::compare_exchange:
          return static_cast<T>(machine.template compare_exchange<memory_order::relaxed>(
              word, static_cast<Word>(operation.expected), operand));
        default: break;
      }
    }
    return apply_in_a_loop<T>(machine, word, operation);
  }
};

}  // namespace rivals

template <class State, uint32_t N, bool Loops, class Machine>
class rmw_participant<State, N, rivals::atomic_word<Loops>, rmw::named_operation<State>, Machine> {
  static_assert(Machine::lanes == 1, "one atomic operation needs one thread");

 public:
  using operation_type = rmw::named_operation<State>;

  GPUSYNC_API rmw_participant(Machine machine, uint64_t* words, uint32_t self)
      : machine_(machine), words_(machine.hold(words)), self_(self) {}

  GPUSYNC_API State apply(const operation_type& operation) {
    auto* word = reinterpret_cast<typename rivals::word_of_bytes<sizeof(State)>::type*>(words_);
    if constexpr (Loops) {
      return rivals::apply_in_a_loop<State>(machine_, word, operation);
    } else {
      return rivals::single_operation<Machine>::apply(machine_, word, operation);
    }
  }
  GPUSYNC_API State add(State value) { return apply(operation_type::make(rmw::operation_kind::add, value)); }
  GPUSYNC_API State subtract(State value) { return apply(operation_type::make(rmw::operation_kind::subtract, value)); }
  GPUSYNC_API State exchange(State value) { return apply(operation_type::make(rmw::operation_kind::exchange, value)); }
  GPUSYNC_API State minimum(State value) { return apply(operation_type::make(rmw::operation_kind::minimum, value)); }
  GPUSYNC_API State maximum(State value) { return apply(operation_type::make(rmw::operation_kind::maximum, value)); }
  GPUSYNC_API State increment(State limit) {
    return apply(operation_type::make(rmw::operation_kind::increment, limit));
  }
  GPUSYNC_API State decrement(State limit) {
    return apply(operation_type::make(rmw::operation_kind::decrement, limit));
  }
  GPUSYNC_API State compare_exchange(State expected, State desired) {
    return apply(operation_type::make(rmw::operation_kind::compare_exchange, desired, expected));
  }

  GPUSYNC_API uint32_t number() const { return self_; }
  GPUSYNC_API const Machine& machine() const { return machine_; }

 private:
  Machine machine_;
  uint64_t* words_;
  uint32_t self_;
};

/// One word in the place of a wait-free object, with the same functions.
template <class State, uint32_t N, bool Loops, class Machine>
class basic_rmw_object<State, N, rivals::atomic_word<Loops>, rmw::named_operation<State>, Machine> {
 public:
  using state_type = State;
  using consensus = rivals::atomic_word<Loops>;
  using operation = rmw::named_operation<State>;
  using machine_type = Machine;
  using participant = rmw_participant<State, N, consensus, operation, Machine>;

  static constexpr uint32_t participants = N;
  static constexpr uint32_t words = 1;
  static constexpr size_t bytes = sizeof(uint64_t);

  GPUSYNC_HD explicit basic_rmw_object(uint64_t* memory) : words_(memory) {}
  GPUSYNC_HD static void start(uint64_t* memory, const State& first) { *memory = start_word(0, first); }
  GPUSYNC_HD static uint64_t start_word(uint32_t, const State& first) {
    uint64_t word = 0;
    memcpy(&word, &first, sizeof(State));
    return word;
  }
  GPUSYNC_API participant join(uint32_t number, Machine on = Machine()) const {
    if (number >= N) on.refuse(number, N);
    return participant(on, words_, number);
  }
  GPUSYNC_HD static State settled_state(const uint64_t* memory) {
    State state;
    memcpy(&state, memory, sizeof(State));
    return state;
  }
  GPUSYNC_HD uint64_t* memory() const { return words_; }

 private:
  uint64_t* words_;
};

}  // namespace gpusync
