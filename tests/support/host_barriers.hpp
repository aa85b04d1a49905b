// Every portable algorithm on host threads, the miniatures among them, as a typed test suite's list.
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

/// Those of a list that a filter keeps.
template <template <class> class Filter, class Kept, class... Rest>
struct kept_of {
  using type = Kept;
};
template <template <class> class Filter, class... Kept, class First, class... Rest>
struct kept_of<Filter, grid::algorithm_list<Kept...>, First, Rest...>
    : kept_of<
          Filter,
          std::conditional_t<Filter<First>::value, grid::algorithm_list<Kept..., First>, grid::algorithm_list<Kept...>>,
          Rest...> {};
template <template <class> class Filter, class List>
struct kept_in;
template <template <class> class Filter, class... Algorithms>
struct kept_in<Filter, grid::algorithm_list<Algorithms...>> : kept_of<Filter, grid::algorithm_list<>, Algorithms...> {};

template <class Algorithm>
struct orders_its_data {
  static constexpr bool value = orders_data(Algorithm::order);
};
/// AddressSanitizer sees the same of an algorithm in all its orderings, and compiling takes its time.
template <class Algorithm>
struct is_worth_testing {
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool value = Algorithm::order == ordering::acquire_release;
#else
  static constexpr bool value = true;
#endif
};

template <class First, class Second>
struct joined;
template <class... First, class... Second>
struct joined<grid::algorithm_list<First...>, grid::algorithm_list<Second...>> {
  using type = grid::algorithm_list<First..., Second...>;
};

using portable_algorithms = kept_in<is_worth_testing, joined<grid::portable_algorithms, grid::miniatures>::type>::type;
using portable_types = as_gtest_types<portable_algorithms>::type;
/// Those of them that order the data around them.
using ordered_types = as_gtest_types<kept_in<orders_its_data, portable_algorithms>::type>::type;

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

static_assert(is_grid<grid_with_memory<host_memory>>);

}  // namespace gpusync::test
