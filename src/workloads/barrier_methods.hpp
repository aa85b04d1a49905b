// How the library's barriers become methods of workloads. C++17: CUDA sources include it.
#pragma once

#include <type_traits>

#include <gpusync/grid/registry.hpp>

#include "workloads/step_program.hpp"

namespace gpusync::grid {
struct cooperative_groups;  // CUDA only
}

namespace gpusync::tool {

/// Whether an algorithm is made for launches in clusters.
template <class Algorithm, class = void>
struct is_for_clusters : std::false_type {};
template <class Algorithm>
struct is_for_clusters<Algorithm, std::enable_if_t<Algorithm::for_clusters>> : std::true_type {};

/// Whether an algorithm is NVIDIA's own behind the library's interface.
template <class Algorithm>
inline constexpr bool is_of_others = std::is_same_v<Algorithm, grid::cooperative_groups>;

/// A method for each algorithm of a list, named as in results.
template <class List>
std::vector<step_method> barrier_methods(const std::string& kind) {
  std::vector<step_method> methods;
  List::for_each([&](auto algorithm) {
    using barrier = decltype(algorithm);
    step_method method;
    method.name = grid::name_of<barrier>();
    method.title = method.name + " " + kind;
    if (*barrier::paper_item != '\0') method.items.emplace_back(barrier::paper_item);
    method.ordered = orders_data(barrier::order);
    method.needs_co_residency = true;
    method.rival = is_of_others<barrier>;
    if constexpr (is_for_clusters<barrier>::value) {
      for (const uint32_t size : {2u, 4u}) {
        step_method clustered = method;
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
  const std::string size = method.cluster > 1 ? "-" + std::to_string(method.cluster) : "";
  List::for_each([&](auto algorithm) {
    if (method.name == grid::name_of<decltype(algorithm)>() + size) program = make(algorithm);
  });
  return program;
}

}  // namespace gpusync::tool
