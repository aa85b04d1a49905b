// Plain atomic operations behind the same words: what wait-free objects are measured against.
#pragma once

#include <gpusync/rmw/object.hpp>

namespace gpusync {

namespace rmw {

/// Policies that are no consensus: the state is one word, and an operation is one atomic operation on it or a loop of
/// compare-and-swap. For named operations on states that are numbers.
///
/// hardware: what the hardware has as one atomic operation is one, wait-free; the rest is a loop. cas_loop: all of them
/// are loops, which are lock-free but not wait-free: under contention one caller may lose for ever.
///
/// Synchronizes: nothing (relaxed).
/// Storage: one word.
template <bool Loops>
struct atomic_word {
  static constexpr publication order = publication::tagged;
  static constexpr uint32_t max_participants = ~uint32_t{0};
  static constexpr const char* name = Loops ? "cas-loop" : "hardware";
  static constexpr const char* paper_item = "H4";
};
using hardware = atomic_word<false>;
using cas_loop = atomic_word<true>;

namespace detail {

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

/// The same, as CUDA's atomic and shuffle functions name it.
template <size_t Bytes>
struct atomic_bits;
template <>
struct atomic_bits<4> {
  using type = unsigned;
};
template <>
struct atomic_bits<8> {
  using type = unsigned long long;
};

/// Applies an operation to the T in `word` with a loop of compare-and-swap that keeps what it was told.
GPUSYNC_API_TEMPLATE
template <class T, class Machine>
GPUSYNC_HD T apply_in_a_loop(const Machine& machine, typename word_of_bytes<sizeof(T)>::type* word,
                             const named_operation<T>& operation) {
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

}  // namespace detail

}  // namespace rmw

template <class State, uint32_t N, bool Loops, class Machine>
class rmw_participant<State, N, rmw::atomic_word<Loops>, rmw::named_operation<State>, Machine> {
 public:
  using operation_type = rmw::named_operation<State>;

  GPUSYNC_API rmw_participant(Machine machine, uint64_t* words, uint32_t self)
      : machine_(machine), words_(machine.hold(words)), self_(self) {}

  GPUSYNC_API State apply(const operation_type& operation) {
    auto* word = reinterpret_cast<typename rmw::detail::word_of_bytes<sizeof(State)>::type*>(words_);
    if constexpr (Loops) {
      return rmw::detail::apply_in_a_loop<State>(machine_, word, operation);
    } else {
      return machine_.atomically(word, operation);
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
class basic_rmw_object<State, N, rmw::atomic_word<Loops>, rmw::named_operation<State>, Machine> {
 public:
  using state_type = State;
  using consensus = rmw::atomic_word<Loops>;
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
