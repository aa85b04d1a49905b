// One program, run under ThreadSanitizer with the shipped barrier and with mutants of it: the argument says which. The
// shipped text is instantiated each time; a mutant differs in one atomic operation.
#include <cstdio>
#include <cstring>

#include "support/host_barriers.hpp"

namespace {

using namespace gpusync;

/// The waiting thread does not acquire.
struct no_acquire : host_memory {
  template <scope Scope, class T>
  static void acquire(const T*) {}
};

/// The arriving thread does not release.
struct no_release : host_memory {
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    return host_memory::fetch_add<memory_order::relaxed, Scope>(address, value);
  }
};

template <class Memory>
int run() {
  using grid = test::grid_with_memory<Memory>;
  using algorithm = gpusync::grid::lock_based<ordering::acquire_release>;
  constexpr uint32_t blocks = 3;
  host_barrier_storage<algorithm, grid> storage(blocks);
  uint32_t halves[2][blocks] = {};
  uint32_t wrong = 0;
  launch(
      host_device{}, {blocks, 1},
      [&](basic_grid_barrier<algorithm, grid> barrier) {
        const uint32_t own = host_grid::current().block();
        for (uint32_t phase = 1; phase <= 200; ++phase) {
          halves[phase % 2][own] = phase;
          barrier.sync();
          if (halves[phase % 2][(own + 1) % blocks] != phase) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
        }
      },
      storage.barrier());
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* which = argc == 2 ? argv[1] : "";
  if (std::strcmp(which, "shipped") == 0) return run<host_memory>();
  if (std::strcmp(which, "no-acquire") == 0) return run<no_acquire>();
  if (std::strcmp(which, "no-release") == 0) return run<no_release>();
  std::fprintf(stderr, "usage: tsan_mutants shipped|no-acquire|no-release\n");
  return 2;
}
