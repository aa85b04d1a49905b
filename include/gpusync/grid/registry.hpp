// Every grid barrier of the library, once: tests, experiments and benches walk this list.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <string>
#endif

#include <gpusync/grid/dissemination.hpp>
#include <gpusync/grid/gathered_flags.hpp>
#include <gpusync/grid/lock_based.hpp>
#include <gpusync/grid/lock_free.hpp>
#include <gpusync/grid/placed_counters.hpp>
#include <gpusync/grid/replicated_counters.hpp>
#include <gpusync/grid/sense_reversing.hpp>
#include <gpusync/grid/tree.hpp>
#if defined(__CUDACC__)
#include <gpusync/grid/cluster_first.cuh>
#endif
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#include <gpusync/grid/cooperative_groups.cuh>
#endif

namespace gpusync::grid {

/// A list of types to walk at compile time.
template <class... Algorithms>
struct algorithm_list {
#if !defined(__CUDACC_RTC__)
  /// Calls `visit(Algorithm{})` for each.
  template <class Visitor>
  static void for_each(Visitor&& visit) {
    (visit(Algorithms{}), ...);
  }
#endif
  /// The same list with one more at its beginning.
  template <class Algorithm>
  using with_first = algorithm_list<Algorithm, Algorithms...>;
};

/// The algorithms that are written once for every machine.
using portable_algorithms =
    algorithm_list<lock_based<ordering::none>, lock_based<ordering::fence>, lock_based<ordering::acquire_release>,
                   lock_free<ordering::none>, lock_free<ordering::fence>, lock_free<ordering::acquire_release>,
                   tree<2, ordering::none>, tree<2, ordering::fence>, tree<2, ordering::acquire_release>,
                   tree<3, ordering::none>, tree<3, ordering::acquire_release>, sense_reversing<ordering::fence>,
                   sense_reversing<ordering::acquire_release>, dissemination<ordering::none>,
                   dissemination<ordering::acquire_release>, replicated_counters<4, ordering::acquire_release>,
                   replicated_counters<8, ordering::acquire_release>, placed_counters<ordering::none>,
                   placed_counters<ordering::acquire_release>, gathered_flags<ordering::acquire_release>>;

/// The same texts with groups so small that a few blocks make several of them: for tests on host threads and in the
/// explorer, where else all blocks would be of one group.
using miniatures = algorithm_list<gathered_flags<ordering::acquire_release, 2>>;

#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
/// All algorithms that run on a CUDA device.
using cuda_algorithms = portable_algorithms::with_first<cluster_first>::with_first<cooperative_groups>;
#endif

#if !defined(__CUDACC_RTC__)
/// An algorithm's name in results and on the command line: "cg", "lock-based-none", "lock-based-acquire-release".
template <class Algorithm>
std::string name_of() {
  std::string name = Algorithm::family;
  if (Algorithm::has_orderings) name.append("-").append(to_string(Algorithm::order));
  return name;
}
#endif

}  // namespace gpusync::grid
