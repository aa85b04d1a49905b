// Every portable algorithm on host threads, as a typed test suite's list.
#pragma once

#include <gtest/gtest.h>

#include <gpusync/gpusync.hpp>
#include <gpusync/grid/registry.hpp>

namespace gpusync::test {

template <class List>
struct as_gtest_types;
template <class... Algorithms>
struct as_gtest_types<grid::algorithm_list<Algorithms...>> {
  using type = ::testing::Types<Algorithms...>;
};

using portable_types = as_gtest_types<grid::portable_algorithms>::type;

/// Those of them that order the data around them.
template <class Kept, class... Rest>
struct ordered_of {
  using type = typename as_gtest_types<Kept>::type;
};
template <class... Kept, class First, class... Rest>
struct ordered_of<grid::algorithm_list<Kept...>, First, Rest...>
    : ordered_of<std::conditional_t<orders_data(First::order), grid::algorithm_list<Kept..., First>,
                                    grid::algorithm_list<Kept...>>,
                 Rest...> {};
template <class List>
struct ordered_in;
template <class... Algorithms>
struct ordered_in<grid::algorithm_list<Algorithms...>> : ordered_of<grid::algorithm_list<>, Algorithms...> {};

using ordered_types = ordered_in<grid::portable_algorithms>::type;

struct algorithm_names {
  template <class Algorithm>
  static std::string GetName(int) {
    std::string name = grid::name_of<Algorithm>();
    for (char& c : name) c = c == '-' ? '_' : c;
    return name;
  }
};

/// host_grid with other atomic operations: how a mutant of a shipped barrier is made without touching its text.
template <class Memory>
class grid_with_memory : public host_grid {
 public:
  using memory = Memory;
  static grid_with_memory current() { return grid_with_memory(host_grid::current()); }

 private:
  explicit grid_with_memory(const host_grid& grid) : host_grid(grid) {}
};

}  // namespace gpusync::test
