// One program, run under ThreadSanitizer with a shipped barrier and with mutants of it: the arguments say which. The
// shipped text is instantiated each time; a mutant differs in its atomic operations only.
#include <cstdio>
#include <cstring>

#include "support/host_barriers.hpp"

namespace {

using namespace gpusync;

/// Nothing acquires: neither the end of a wait nor a read-modify-write that hands on.
struct no_acquire : host_memory {
  template <scope Scope, class T>
  static void acquire(const T*) {}
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    constexpr memory_order kept = Order == memory_order::acq_rel ? memory_order::release : Order;
    return host_memory::fetch_add<kept, Scope>(address, value);
  }
};

/// A read-modify-write that hands on does not acquire; the ends of waits do.
struct hands_on_only_releases : host_memory {
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    return no_acquire::fetch_add<Order, Scope>(address, value);
  }
};

/// A read-modify-write that hands on is relaxed; the last step releases.
struct hands_on_is_relaxed : host_memory {
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    constexpr memory_order kept = Order == memory_order::acq_rel ? memory_order::relaxed : Order;
    return host_memory::fetch_add<kept, Scope>(address, value);
  }
};

/// Nothing releases.
struct no_release : host_memory {
  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    host_memory::store<memory_order::relaxed, Scope>(address, value);
  }
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    constexpr memory_order kept = Order == memory_order::acq_rel ? memory_order::acquire : memory_order::relaxed;
    return host_memory::fetch_add<kept, Scope>(address, value);
  }
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    host_memory::add<memory_order::relaxed, Scope>(address, value);
  }
};

template <class Algorithm, class Memory>
int run() {
  using grid = test::grid_with_memory<Memory>;
  constexpr uint32_t blocks = 5;
  host_barrier_storage<Algorithm, grid> storage(blocks);
  uint32_t halves[2][blocks] = {};
  uint32_t wrong = 0;
  launch(
      host_device{}, {blocks, 1},
      [&](basic_grid_barrier<Algorithm, grid> barrier) {
        const uint32_t own = host_grid::current().block();
        for (uint32_t phase = 1; phase <= 100; ++phase) {
          halves[phase % 2][own] = phase;
          barrier.sync();
          for (const uint32_t written : halves[phase % 2]) {
            if (written != phase) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
          }
        }
      },
      storage.barrier());
  return wrong == 0 ? 0 : 1;
}

template <class Algorithm>
int run(const char* which) {
  if (std::strcmp(which, "shipped") == 0) return run<Algorithm, host_memory>();
  if (std::strcmp(which, "no-acquire") == 0) return run<Algorithm, no_acquire>();
  if (std::strcmp(which, "no-release") == 0) return run<Algorithm, no_release>();
  if (std::strcmp(which, "hands-on-only-releases") == 0) return run<Algorithm, hands_on_only_releases>();
  if (std::strcmp(which, "hands-on-is-relaxed") == 0) return run<Algorithm, hands_on_is_relaxed>();
  std::fprintf(stderr, "tsan_mutants: no mutant is called %s\n", which);
  return 2;
}

/// The algorithm of that family that acquires and releases.
template <class... Algorithms>
int run(grid::algorithm_list<Algorithms...>, const char* family, const char* which) {
  int result = -1;
  const auto consider = [&](auto algorithm) {
    using type = decltype(algorithm);
    if constexpr (type::order == ordering::acquire_release) {
      if (std::strcmp(family, type::family) == 0) result = run<type>(which);
    }
  };
  (consider(Algorithms{}), ...);
  if (result < 0) std::fprintf(stderr, "tsan_mutants: no barrier that acquires and releases is called %s\n", family);
  return result < 0 ? 2 : result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return run(grid::portable_algorithms{}, argv[1], argv[2]);
  std::fprintf(stderr,
               "usage: tsan_mutants FAMILY "
               "shipped|no-acquire|no-release|hands-on-only-releases|hands-on-is-relaxed\n");
  return 2;
}
