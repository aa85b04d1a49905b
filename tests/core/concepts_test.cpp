// What is a Memory and a Grid, and what lacks something of it.
#include <gtest/gtest.h>

#include <gpusync/core/concepts.hpp>
#include <gpusync/core/host_grid.hpp>
#include <gpusync/grid/registry.hpp>

namespace gpusync {
namespace {

struct memory_of_longs : host_memory {
  template <memory_order Order, scope Scope>
  static void add(const char*, long) = delete;
};

struct cannot_fail : host_grid {
  void fail() const;
};
struct has_no_drain_in_its_memory : host_grid {
  struct memory : host_memory {
    static void drain() {}
  };
};
/// A view of some warps says whether it can act for its block; host_grid has no such word.
struct says_not_whether_it_is_valid : host_grid {
  static constexpr bool whole_block = false;
};

TEST(Concepts, AreMetByWhatShips) {
  EXPECT_TRUE(is_memory<host_memory>);
  EXPECT_TRUE(is_grid<host_grid>);
}

TEST(Concepts, AreNotMetByWhatLacksAWord) {
  EXPECT_FALSE(is_memory<int>);
  EXPECT_FALSE(is_memory<memory_of_longs>);
  EXPECT_FALSE(is_memory<has_no_drain_in_its_memory::memory>);
  EXPECT_FALSE(is_grid<int>);
  EXPECT_FALSE(is_grid<host_memory>);
  EXPECT_FALSE(is_grid<cannot_fail>);
  EXPECT_FALSE(is_grid<has_no_drain_in_its_memory>);
  EXPECT_FALSE(is_grid<says_not_whether_it_is_valid>);
}

TEST(Concepts, AlgorithmsSayOnlyWhereTheyDifferFromMost) {
  using grid::algorithm_defaults;
  EXPECT_TRUE(grid::lock_based<ordering::fence>::bounded);
  EXPECT_FALSE(grid::lock_based<ordering::fence>::has_places);
  EXPECT_TRUE(grid::placed_counters<ordering::fence>::has_places);
  EXPECT_TRUE(grid::lock_free<ordering::fence>::wait_needed_by_others);
  EXPECT_FALSE(algorithm_defaults::wait_needed_by_others);
}

}  // namespace
}  // namespace gpusync
