// The variants of workload "barrier-parts" by name, and what the host knows of them, whatever device runs them. C++17:
// CUDA sources include it.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gpusync/grid/registry.hpp>

#include "workloads/barrier_parts/barrier_parts.hpp"

namespace gpusync::tool {

/// A part, with its names in results.
struct part_name {
  barrier_part part;
  const char* name;
  const char* title;
  const char* item;
};

inline constexpr part_name part_names[] = {
    {barrier_part::none, name_of_floor, "the work alone", "F12"},
    {barrier_part::awaited_add, "atomic-awaited", "one atomic addition for each block, awaited; no work", "F13"},
    {barrier_part::unawaited_add, "atomic-unawaited", "one reduction for each block; no work", ""},
    {barrier_part::block_barriers, "block-barriers", "the two block barriers of a grid barrier", "F14"},
    {barrier_part::fence_by_all, "fence-by-all", "a fence in every thread and two block barriers", ""},
    {barrier_part::release_by_one, "release-by-one", "two block barriers, between them thread 0 releases", ""},
    {barrier_part::relaxed_load, "relaxed-load", "two block barriers, between them a poll that succeeds at once", ""},
    {barrier_part::acquire_load, "acquire-load", "the same with a poll that acquires", ""},
};

/// The barriers that are measured whole: the paper's in both of its orderings (t4 and t5), and what it has become.
using whole_barriers =
    grid::algorithm_list<grid::lock_based<ordering::none>, grid::lock_based<ordering::fence>,
                         grid::lock_based<ordering::acquire_release>, grid::placed_counters<ordering::acquire_release>>;

/// Calls `visit(std::integral_constant<barrier_part, …>, name)` for each part.
template <class Visit>
void for_each_part(Visit&& visit) {
  const auto with = [&](auto part) {
    for (const part_name& each : part_names) {
      if (each.part == part.value) visit(part, each.name);
    }
  };
  with(std::integral_constant<barrier_part, barrier_part::none>{});
  with(std::integral_constant<barrier_part, barrier_part::awaited_add>{});
  with(std::integral_constant<barrier_part, barrier_part::unawaited_add>{});
  with(std::integral_constant<barrier_part, barrier_part::block_barriers>{});
  with(std::integral_constant<barrier_part, barrier_part::fence_by_all>{});
  with(std::integral_constant<barrier_part, barrier_part::release_by_one>{});
  with(std::integral_constant<barrier_part, barrier_part::relaxed_load>{});
  with(std::integral_constant<barrier_part, barrier_part::acquire_load>{});
}

/// All variants, the work alone first.
std::vector<step_method> barrier_parts_methods();

/// The part that a method is; null for a whole barrier.
const part_name* find_part(const std::string& method);

/// What runs work on: that of the average, and barrier_parts_data::word.
std::vector<array_content> barrier_parts_arrays(const step_shape& shape);

/// The text on such arrays, of host_arrays or cuda_arrays.
template <barrier_part Part, class Arrays>
barrier_parts_text<Part> barrier_parts_in(Arrays& memory, const step_shape& shape) {
  const average_data average{memory.template address<float>(0), memory.template address<uint32_t>(1)};
  return {{}, {average, memory.template address<uint32_t>(2), 0}, shape.stores};
}

/// What one variant's runs have been found to compute: the average's words, and the additions to the common word.
class barrier_parts_result : public average_result {
 public:
  /// `memory`: of barrier_parts_arrays().
  barrier_parts_result(const step_shape& shape, const std::string& method, std::shared_ptr<arrays> memory);

  check_result check(uint64_t steps) override;
  std::string how() const override;

 private:
  const uint32_t blocks_;
  const bool adds_;
};

/// The steps of runs.
step_sequence barrier_parts_steps_of_a_run();

}  // namespace gpusync::tool
