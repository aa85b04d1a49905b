// How the library's barriers become methods of workloads. C++17: CUDA sources include it.
#pragma once

#include <type_traits>

#include <gpusync/grid/registry.hpp>

#include "boundary/program.hpp"

namespace gpusync::grid {
struct cooperative_groups;  // CUDA only
}

namespace gpusync::tool {

/// Whether an algorithm is NVIDIA's own behind the library's interface.
template <class Algorithm>
inline constexpr bool is_of_others = std::is_same_v<Algorithm, grid::cooperative_groups>;

/// The method of a barrier called `name`. `kind`: what it is in words, "grid barrier".
step_method barrier_method(const std::string& name, ordering order, const std::string& kind, bool rival);

/// A method for each algorithm of a list, named as in results.
template <class List>
std::vector<step_method> barrier_methods(const std::string& kind) {
  std::vector<step_method> methods;
  List::for_each([&](auto algorithm) {
    using barrier = decltype(algorithm);
    step_method method = barrier_method(grid::name_of<barrier>(), barrier::order, kind, is_of_others<barrier>);
    if constexpr (barrier::for_clusters) {
      for (const uint32_t size : {2u, 4u}) {
        step_method clustered = method;
        clustered.barrier = method.name;
        clustered.name += "-" + std::to_string(size);
        clustered.cluster = size;
        methods.push_back(clustered);
      }
    } else {
      methods.push_back(method);
    }
  });
  return methods;
}

/// Calls `make(Algorithm{})`, which returns a program, for the algorithm of this method; empty if there is none.
template <class Pointer, class List, class Make>
Pointer with_algorithm(const step_method& method, Make&& make) {
  Pointer program;
  List::for_each([&](auto algorithm) {
    if (barrier_name_of(method) == grid::name_of<decltype(algorithm)>()) program = make(algorithm);
  });
  return program;
}

}  // namespace gpusync::tool
