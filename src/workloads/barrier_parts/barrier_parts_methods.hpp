// The variants of workload "barrier-parts" by name, and what the host knows of their results. C++17: CUDA sources
// include it.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "workloads/average/average_result.hpp"
#include "workloads/barrier_methods.hpp"
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
    {barrier_part::none, "no-barrier", "the work alone", "F12"},
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

/// All variants, the work alone first.
inline std::vector<step_method> barrier_parts_methods() {
  std::vector<step_method> all;
  for (const part_name& each : part_names) {
    step_method method;
    method.name = each.name;
    method.title = each.title;
    if (*each.item != '\0') method.items.emplace_back(each.item);
    if (each.part == barrier_part::none) method.kind = method_kind::floor;
    all.push_back(std::move(method));
  }
  for (step_method& method : barrier_methods<whole_barriers>("barrier")) {
    if (method.name == "lock-based-none") method.items.emplace_back("F15");
    if (method.name == "lock-based-fence") method.items.emplace_back("F16");
    all.push_back(std::move(method));
  }
  return all;
}

/// Calls `make(std::integral_constant<barrier_part, …>)`, which returns a program, for the part of this name; empty if
/// there is none.
template <class Make>
std::unique_ptr<step_program> with_part(const std::string& name, Make&& make) {
  std::unique_ptr<step_program> program;
  const auto try_part = [&](auto part) {
    for (const part_name& each : part_names) {
      if (each.part == part.value && each.name == name) program = make(part);
    }
  };
  try_part(std::integral_constant<barrier_part, barrier_part::none>{});
  try_part(std::integral_constant<barrier_part, barrier_part::awaited_add>{});
  try_part(std::integral_constant<barrier_part, barrier_part::unawaited_add>{});
  try_part(std::integral_constant<barrier_part, barrier_part::block_barriers>{});
  try_part(std::integral_constant<barrier_part, barrier_part::fence_by_all>{});
  try_part(std::integral_constant<barrier_part, barrier_part::release_by_one>{});
  try_part(std::integral_constant<barrier_part, barrier_part::relaxed_load>{});
  try_part(std::integral_constant<barrier_part, barrier_part::acquire_load>{});
  return program;
}

/// What one variant's runs have been found to compute: the average's words, and the additions to the common word.
class barrier_parts_result {
 public:
  /// `synchronizes`: blocks check each other's words. `adds`: each block adds once a step.
  barrier_parts_result(const step_shape& shape, bool synchronizes, bool adds)
      : blocks_(shape.blocks), adds_(adds), average_({shape.blocks, shape.threads, false}, synchronizes) {}

  uint32_t elements() const { return average_.elements(); }
  std::vector<float> first_values() const { return average_.first_values(); }

  /// Adds a run of `steps` steps that found `wrong` wrong words and left `word` in the common word.
  void add_run(uint64_t steps, uint64_t wrong, uint32_t word) {
    average_.add_run(steps, wrong);
    if (!adds_) {
      lost_ += word != 0 ? 1 : 0;
      return;
    }
    additions_ += steps * blocks_;
    const auto expected = static_cast<uint32_t>(steps * blocks_);  // the word wraps as well
    lost_ += expected > word ? expected - word : word - expected;
  }

  /// All runs together, and the buffer that the last one left.
  verification verify(const std::vector<float>& values) const {
    verification found = average_.verify(values);
    found.checked += additions_;
    found.wrong += lost_;
    if (adds_) found.how += "; the sum of all additions compared with their number";
    return found;
  }

 private:
  uint32_t blocks_;
  bool adds_;
  average_result average_;
  uint64_t additions_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace gpusync::tool
