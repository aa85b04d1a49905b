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
#include "support/memory_faults.hpp"
#include "support/run_time_test.hpp"

namespace {

using namespace gpusync;

constexpr uint32_t blocks = 5;

// What an algorithm's text does, as bits.
constexpr uint32_t acquires = 1, releases_by_stores = 2, releases_by_adds = 4, hands_on = 8, beyond_the_gpu = 16;

/// The shipped texts' memory, and the one whose operations are at fault.
using shipped = host_memory;
using faulty = test::memory_with_fault<host_memory>;

std::atomic<uint32_t> noted{0};
memory_order note(test::memory_operation which, memory_order order, scope at) {
  if (which == test::memory_operation::acquire) noted |= acquires | (at == scope::system ? beyond_the_gpu : 0);
  if (order == memory_order::acq_rel) noted |= hands_on;
  if (order == memory_order::release) {
    noted |= which == test::memory_operation::store ? releases_by_stores : releases_by_adds;
  }
  return order;
}
/// None: notes what is done.
constexpr test::memory_fault noting{"noting", note};

/// A fault, the deeds of which it spoils some, and, if others must be left beside them, those.
struct mutant {
  const test::memory_fault* fault;
  uint32_t spoilt, left = ~0u;

  bool is_of(uint32_t deeds) const { return (deeds & spoilt) != 0 && (deeds & left) != 0; }
};

constexpr uint32_t adds = releases_by_adds | hands_on;
constexpr mutant mutants[] = {{&test::faults::no_acquire, acquires | hands_on},
                              {&test::faults::no_release, releases_by_stores | adds},
                              {&test::faults::stores_do_not_release, releases_by_stores, adds},
                              {&test::faults::adds_do_not_release, adds, releases_by_stores},
                              {&test::faults::hands_on_only_releases, hands_on},
                              {&test::faults::hands_on_is_relaxed, hands_on},
                              {&test::faults::gathers_relaxed, beyond_the_gpu},
                              {&test::faults::polls_relaxed, beyond_the_gpu},
                              {&test::faults::relaxed_in_the_gpu, beyond_the_gpu},
                              {&test::faults::tells_relaxed, beyond_the_gpu},
                              {&test::faults::tells_before_it_has_gathered, beyond_the_gpu}};

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
  noted = 0;
  const test::fault_at_work<faulty> at_work(noting);
  launch_blocks<Algorithm, faulty>([](auto& barrier, uint32_t) {
    barrier.sync();
    barrier.wait(barrier.arrive());
    barrier.sync();
  });
  return noted;
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

/// Runs what is to be found: CTest looks for ThreadSanitizer's report, and a mutant may still count right.
template <class Run>
void add_mutant(const std::string& family, const test::memory_fault& fault, Run run) {
  test::add_check("tsan_catches", family + "." + fault.name, [&fault, run] {
    const test::fault_at_work<faulty> at_work(fault);
    (void)run();
  });
}

template <class Algorithm>
void add_tests() {
  std::string family = Algorithm::family;
  std::replace(family.begin(), family.end(), '-', '_');  // which in a filter means "but not"
  test::add_check("tsan_passes", family, [] { EXPECT_EQ((wrong_words<Algorithm, shipped>()), 0u); });
  const uint32_t deeds = deeds_of<Algorithm>();
  for (const mutant& one : mutants) {
    if (one.is_of(deeds)) add_mutant(family, *one.fault, wrong_words<Algorithm, faulty>);
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
  const auto with_flags = [] { return wrong_words_of_halo<halo_form::flags, faulty, false>(); };
  add_check("tsan_passes", "neighbours", [] { EXPECT_EQ(wrong_words_of_neighbours<shipped>(), 0u); });
  add_mutant("neighbours", test::faults::no_acquire, wrong_words_of_neighbours<faulty>);
  add_mutant("neighbours", test::faults::no_release, wrong_words_of_neighbours<faulty>);
  add_check("tsan_passes", "halo_words",
            [] { EXPECT_EQ((wrong_words_of_halo<halo_form::words, shipped, false>()), 0u); });
  add_check("tsan_passes", "halo_flags",
            [] { EXPECT_EQ((wrong_words_of_halo<halo_form::flags, shipped, true>()), 0u); });
  add_mutant("halo_flags", test::faults::no_acquire, with_flags);
  add_mutant("halo_flags", test::faults::no_release, with_flags);
  // Words order nothing but themselves.
  add_check("tsan_catches", "halo_words.other_data",
            [] { (void)wrong_words_of_halo<halo_form::words, shipped, true>(); });
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
