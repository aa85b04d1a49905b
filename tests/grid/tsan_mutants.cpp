// The shipped barriers and mutants of them under ThreadSanitizer: tsan_passes.FAMILY must be free of data races, and in
// tsan_catches.FAMILY.MUTANT one must be found. Barriers come from the registry. Which mutants there are of one follows
// from what its text does: those that change something. The shipped text is instantiated each time; a mutant differs in
// its atomic operations only.
#include <gtest/gtest.h>

#include <gpusync/neighbours/host.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "support/gpus.hpp"
#include "support/host_barriers.hpp"
#include "support/run_time_test.hpp"

namespace {

using namespace gpusync;

constexpr uint32_t blocks = 5;

// What an algorithm's text does, as bits.
constexpr uint32_t acquires = 1, releases_by_stores = 2, releases_by_adds = 4, hands_on = 8, beyond_the_gpu = 16;

/// Notes what is done.
struct noting : host_memory {
  static inline std::atomic<uint32_t> noted{0};

  template <scope Scope, class T>
  static void acquire(const T* address) {
    noted |= acquires;
    if (Scope == scope::system) noted |= beyond_the_gpu;
    host_memory::acquire<Scope>(address);
  }
  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    if (Order == memory_order::release) noted |= releases_by_stores;
    host_memory::store<Order, Scope>(address, value);
  }
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    if (Order == memory_order::release) noted |= releases_by_adds;
    if (Order == memory_order::acq_rel) noted |= hands_on;
    return host_memory::fetch_add<Order, Scope>(address, value);
  }
  template <memory_order Order, scope Scope>
  static two_words fetch_add_both(uint32_t* first, uint32_t* second, uint32_t value) {
    const uint32_t before = fetch_add<Order, Scope>(first, value);
    return {before, fetch_add<Order, Scope>(second, value)};
  }
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    if (Order == memory_order::release) noted |= releases_by_adds;
    host_memory::add<Order, Scope>(address, value);
  }
};

/// Nothing acquires: neither the end of a wait nor a read-modify-write that hands on.
struct no_acquire : host_memory {
  static constexpr const char* name = "no_acquire";
  static bool changes(uint32_t noted) { return (noted & (acquires | hands_on)) != 0; }

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
  static constexpr const char* name = "hands_on_only_releases";
  static bool changes(uint32_t noted) { return (noted & hands_on) != 0; }

  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    return no_acquire::fetch_add<Order, Scope>(address, value);
  }
};

/// A read-modify-write that hands on is relaxed; the last step releases.
struct hands_on_is_relaxed : host_memory {
  static constexpr const char* name = "hands_on_is_relaxed";
  static bool changes(uint32_t noted) { return (noted & hands_on) != 0; }

  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    constexpr memory_order kept = Order == memory_order::acq_rel ? memory_order::relaxed : Order;
    return host_memory::fetch_add<kept, Scope>(address, value);
  }
};

/// Whether some steps release by a store and others by an addition: a chain of which either can be broken alone.
bool releases_in_two_ways(uint32_t noted) {
  return (noted & releases_by_stores) != 0 && (noted & (releases_by_adds | hands_on)) != 0;
}

/// Stores do not release; additions do.
struct stores_do_not_release : host_memory {
  static constexpr const char* name = "stores_do_not_release";
  static bool changes(uint32_t noted) { return releases_in_two_ways(noted); }

  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    host_memory::store<memory_order::relaxed, Scope>(address, value);
  }
};

/// Additions do not release; stores do.
struct adds_do_not_release : host_memory {
  static constexpr const char* name = "adds_do_not_release";
  static bool changes(uint32_t noted) { return releases_in_two_ways(noted); }

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

/// Nothing releases.
struct no_release : adds_do_not_release {
  static constexpr const char* name = "no_release";
  static bool changes(uint32_t noted) { return (noted & (releases_by_stores | releases_by_adds | hands_on)) != 0; }

  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    stores_do_not_release::store<Order, Scope>(address, value);
  }
};

// Of barriers across GPUs, which work at two scopes: what is wrong at one of them.

/// Steps at this scope acquire nothing.
template <scope Wrong>
struct acquires_nothing_at : host_memory {
  static bool changes(uint32_t noted) { return (noted & beyond_the_gpu) != 0; }

  template <scope Scope, class T>
  static void acquire(const T* address) {
    if constexpr (Scope != Wrong) host_memory::acquire<Scope>(address);
  }
};
struct gathers_relaxed : acquires_nothing_at<scope::device> {
  static constexpr const char* name = "gathers_relaxed";
};
struct polls_relaxed : acquires_nothing_at<scope::system> {
  static constexpr const char* name = "polls_relaxed";
};

/// Steps at this scope release nothing.
template <scope Wrong>
struct releases_nothing_at : host_memory {
  static bool changes(uint32_t noted) { return (noted & beyond_the_gpu) != 0; }

  template <memory_order Order, scope Scope, class T>
  static void store(T* address, T value) {
    host_memory::store<(Scope == Wrong ? memory_order::relaxed : Order), Scope>(address, value);
  }
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    host_memory::add<(Scope == Wrong ? memory_order::relaxed : Order), Scope>(address, value);
  }
};
struct adds_relaxed : releases_nothing_at<scope::device> {
  static constexpr const char* name = "adds_relaxed";
};
struct tells_relaxed : releases_nothing_at<scope::system> {
  static constexpr const char* name = "tells_relaxed";
};

/// A leading block takes its GPU's count for complete, whatever it is.
struct tells_before_it_has_gathered : host_memory {
  static constexpr const char* name = "tells_before_it_has_gathered";
  static bool changes(uint32_t noted) { return (noted & beyond_the_gpu) != 0; }

  template <memory_order Order, scope Scope, class T>
  static T load(const T* address) {
    const T read = host_memory::load<Order, Scope>(address);
    return Scope == scope::device ? read + phase_word::one_phase : read;
  }
};

/// The same in blocks of three GPUs.
template <class Algorithm, class Grid, class Each>
void launch_on_gpus(Each&& each) {
  constexpr uint32_t sizes[] = {2, 1, 2};
  static_assert(sizes[0] + sizes[1] + sizes[2] == blocks);
  host_multi_gpu_storage<Algorithm, Grid> storage(3, 2);
  std::atomic<uint32_t> entered{0};
  using barrier = typename decltype(storage)::barrier_type;
  test::on_each(3, [&](uint32_t gpu) {
    const uint32_t first = gpu == 0 ? 0 : gpu == 1 ? sizes[0] : sizes[0] + sizes[1];
    launch(
        host_device{}, {sizes[gpu], 1},
        [&](barrier b) {
          b.enter();  // all before the first phase, whose end a mutant may tell at once: else a late block never knows
                      // it
          ++entered;
          while (entered < blocks) std::this_thread::yield();
          each(b, first + host_grid::current().block());
        },
        storage.barrier(gpu));
  });
}

/// Whether an algorithm joins several GPUs.
template <class Algorithm>
constexpr bool is_across_gpus = false;
template <class Exchange>
constexpr bool is_across_gpus<multi_gpu::two_level<Exchange>> = true;

/// Runs `each(barrier, block)` in five blocks of one thread.
template <class Algorithm, class Memory, class Each>
void launch_blocks(Each&& each) {
  using grid = test::grid_with_memory<Memory>;
  if constexpr (is_across_gpus<Algorithm>) {
    launch_on_gpus<Algorithm, grid>(each);
  } else {
    host_barrier_storage<Algorithm, grid> storage(blocks);
    launch(
        host_device{}, {blocks, 1},
        [&](basic_grid_barrier<Algorithm, grid> barrier) { each(barrier, host_grid::current().block()); },
        storage.barrier());
  }
}

/// What an algorithm's text does. No plain data here: what is found of a race is found in the tests.
template <class Algorithm>
uint32_t deeds_of() {
  noting::noted = 0;
  launch_blocks<Algorithm, noting>([](auto& barrier, uint32_t) {
    barrier.sync();
    barrier.wait(barrier.arrive());
    barrier.sync();
  });
  return noting::noted;
}

/// Blocks write, meet and read what the others have written, phase after phase; how many words were wrong.
template <class Algorithm, class Memory>
uint32_t wrong_words() {
  uint32_t halves[2][blocks] = {};
  uint32_t wrong = 0;
  launch_blocks<Algorithm, Memory>([&](auto& barrier, uint32_t own) {
    for (uint32_t phase = 1; phase <= 100; ++phase) {
      halves[phase % 2][own] = phase;
      barrier.sync();
      for (const uint32_t written : halves[phase % 2]) {
        if (written != phase) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
      }
    }
  });
  return wrong;
}

/// CTest looks for ThreadSanitizer's report; a mutant may still count right.
template <class Algorithm, class... Mutants>
void add_mutants(const std::string& family) {
  const uint32_t deeds = deeds_of<Algorithm>();
  const auto add = [&](auto mutant) {
    using memory = decltype(mutant);
    if (!memory::changes(deeds)) return;
    test::add_check("tsan_catches", family + "." + memory::name, [] { (void)wrong_words<Algorithm, memory>(); });
  };
  (add(Mutants{}), ...);
}

template <class Algorithm>
void add_tests() {
  std::string family = Algorithm::family;
  std::replace(family.begin(), family.end(), '-', '_');  // which in a filter means "but not"
  test::add_check("tsan_passes", family, [] { EXPECT_EQ((wrong_words<Algorithm, host_memory>()), 0u); });
  add_mutants<Algorithm, no_acquire, no_release, stores_do_not_release, adds_do_not_release, hands_on_only_releases,
              hands_on_is_relaxed>(family);
  if constexpr (is_across_gpus<Algorithm>) {
    add_mutants<Algorithm, gathers_relaxed, polls_relaxed, adds_relaxed, tells_relaxed, tells_before_it_has_gathered>(
        family);
  }
}

// ---- Neighbours ----

/// A ring of blocks that write, meet their neighbours and read what those have written.
template <class Memory>
uint32_t wrong_words_of_neighbours() {
  using grid = test::grid_with_memory<Memory>;
  basic_host_neighbour_storage<grid> storage(neighbourhood::ring(blocks));
  uint32_t buffers[2][blocks] = {};
  uint32_t wrong = 0;
  launch(
      host_device{}, {blocks, 2},
      [&](basic_neighbour_barrier<grid> barrier) {
        const uint32_t own = host_grid::current().block();
        for (uint32_t phase = 1; phase <= 100; ++phase) {
          uint32_t* const buffer = buffers[barrier.parity()];
          if (host_grid::current().thread() == phase % 2) buffer[own] = phase;
          barrier.sync();
          for (const uint32_t other : {(own + 1) % blocks, (own + blocks - 1) % blocks}) {
            if (buffer[other] != phase) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
          }
        }
      },
      storage.barrier());
  return wrong;
}

/// A ring of blocks that exchange a word in each step; besides, they may read plain data that was written before it.
template <halo_form Form, class Memory, bool Beside>
uint32_t wrong_words_of_halo() {
  using grid = test::grid_with_memory<Memory>;
  host_halo_storage<double, grid> storage(neighbourhood::ring(blocks), 1);
  uint32_t buffers[2][blocks] = {};
  uint32_t wrong = 0;
  launch(
      host_device{}, {blocks, 2},
      [&](basic_halo<double, grid, Form> halo) {
        const uint32_t own = host_grid::current().block(), thread = host_grid::current().thread();
        for (uint32_t step = 1; step <= 100; ++step) {
          if (thread == 0) {
            if constexpr (Beside) buffers[step % 2][own] = step;
            halo.put(0, step + 0.1 * own);
          }
          halo.send();
          halo.receive();
          const uint32_t other = (own + (thread == 0 ? blocks - 1 : 1)) % blocks;
          if (halo.get(halo.word(thread, 0)) != step + 0.1 * other) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
          if constexpr (Beside) {
            if (buffers[step % 2][other] != step) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
          }
          halo.next();
        }
      },
      storage.template halo<Form>());
  return wrong;
}

void add_neighbours() {
  using test::add_check;
  add_check("tsan_passes", "neighbours", [] { EXPECT_EQ(wrong_words_of_neighbours<host_memory>(), 0u); });
  add_check("tsan_catches", "neighbours.no_acquire", [] { (void)wrong_words_of_neighbours<no_acquire>(); });
  add_check("tsan_catches", "neighbours.no_release", [] { (void)wrong_words_of_neighbours<no_release>(); });
  add_check("tsan_passes", "halo_words",
            [] { EXPECT_EQ((wrong_words_of_halo<halo_form::words, host_memory, false>()), 0u); });
  add_check("tsan_passes", "halo_flags",
            [] { EXPECT_EQ((wrong_words_of_halo<halo_form::flags, host_memory, true>()), 0u); });
  add_check("tsan_catches", "halo_flags.no_acquire",
            [] { (void)wrong_words_of_halo<halo_form::flags, no_acquire, false>(); });
  add_check("tsan_catches", "halo_flags.no_release",
            [] { (void)wrong_words_of_halo<halo_form::flags, no_release, false>(); });
  // Words order nothing but themselves.
  add_check("tsan_catches", "halo_words.other_data",
            [] { (void)wrong_words_of_halo<halo_form::words, host_memory, true>(); });
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  test::portable_algorithms::for_each([](auto tag) {
    using algorithm = decltype(tag);
    if constexpr (algorithm::order == ordering::acquire_release) add_tests<algorithm>();
  });
  multi_gpu::algorithms::for_each([](auto tag) { add_tests<decltype(tag)>(); });
  add_neighbours();
  return RUN_ALL_TESTS();
}
