// Workload "maximal matches", whatever device it runs on. C++17: CUDA sources include it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "boundary/arrays.hpp"
#include "boundary/device_side.hpp"
#include "boundary/program.hpp"
#include "workloads/device_side/application_device.hpp"
#include "workloads/maximal_matches/match_batch.hpp"

namespace gpusync::tool {

/// Where the artificial barriers stand; the names are methods of the workload.
struct barrier_placement {
  const char* name;
  pace_kind edges, suffixes;
  /// What its time is compared with besides the text without anything: the same loops with a fence for the compiler.
  const char* control;
};

/// The paper's placements (Lo et al. 2014, algorithm 4), their controls, and none.
inline constexpr std::array barrier_placements = {
    barrier_placement{"none", pace_kind::nothing, pace_kind::nothing, nullptr},
    barrier_placement{"1", pace_kind::barrier, pace_kind::nothing, "control-1"},
    barrier_placement{"2", pace_kind::nothing, pace_kind::barrier, "control-2"},
    barrier_placement{"both", pace_kind::barrier, pace_kind::barrier, "control-both"},
    barrier_placement{"control-1", pace_kind::fence, pace_kind::nothing, nullptr},
    barrier_placement{"control-2", pace_kind::nothing, pace_kind::fence, nullptr},
    barrier_placement{"control-both", pace_kind::fence, pace_kind::fence, nullptr},
};

/// Calls `use` for each placement with its name and with what match_text is compiled for: two
/// std::integral_constant of pace_kind.
template <class Use, size_t... I>
void for_each_placement(Use&& use, std::index_sequence<I...>) {
  (use(barrier_placements[I].name, std::integral_constant<pace_kind, barrier_placements[I].edges>{},
       std::integral_constant<pace_kind, barrier_placements[I].suffixes>{}),
   ...);
}
template <class Use>
void for_each_placement(Use&& use) {
  for_each_placement(use, std::make_index_sequence<barrier_placements.size()>{});
}

/// What a device is given, and what runs must leave: expected_records(). All of it must outlive the workload.
struct match_problem {
  const reference_index* index;
  const match_batch* batch;
  match_method method;
  std::shared_ptr<const std::vector<match_record>> expected;
};

/// Bytes that a device needs for one method, at most.
uint64_t bytes_of_matching(const match_size& size);
/// Bytes of the largest buffer among them.
uint64_t largest_buffer_of_matching(const match_size& size);

/// What all programs of one problem work on: records, queries, letters; for the tree its nodes and the text, for the
/// array its rows, the text and the rows of words.
std::vector<array_content> match_arrays(const match_problem& problem);
/// What those of one shape work on besides: match_batch::most_of_blocks().
std::vector<array_content> match_arrays_of_shape(const match_problem& problem, const step_shape& shape);

/// The index and the queries in such arrays, of host_arrays or cuda_arrays.
template <class Index, class Arrays>
Index match_index_in(const match_problem& problem, Arrays& memory) {
  if constexpr (std::is_same_v<Index, match_tree>) {
    return {memory.template address<match_node>(3), memory.template address<uint32_t>(4)};
  } else {
    return {memory.template address<uint32_t>(3), memory.template address<uint32_t>(4),
            memory.template address<match_rows>(5),
            letters_of_words(problem.index->text.bases.size(), problem.batch->least)};
  }
}
template <class Arrays>
match_reads match_reads_in(const match_problem& problem, Arrays& memory, Arrays& of_shape) {
  return {memory.template address<uint32_t>(2),
          memory.template address<match_query>(1),
          of_shape.template address<uint32_t>(0),
          memory.template address<match_record>(0),
          static_cast<uint32_t>(problem.batch->queries.size()),
          problem.batch->least};
}

/// The check of runs in such memory: every record, after every run.
std::shared_ptr<run_data> match_result(const match_problem& problem, std::shared_ptr<arrays> memory,
                                       std::shared_ptr<arrays> of_shape);

/// The workload. Its methods are the names of barrier_placements; a run looks for every suffix of every query once. A
/// program's shape: that of shape_of(), or any other, where threads take several queries each.
class match_workload : public workload {
 public:
  explicit match_workload(std::shared_ptr<arrays> memory, uint32_t records)
      : memory_(std::move(memory)), records_(records) {}

  std::vector<step_method> methods() const override;
  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t) override { return UINT64_MAX; }
  /// With so many threads in a block: on GPUs a thread for each query, on the host one for each processor.
  virtual step_shape shape_of(uint32_t threads) const = 0;
  /// What the last run has left.
  std::vector<match_record> records();

 private:
  const std::shared_ptr<arrays> memory_;
  const uint32_t records_;
};

/// The shape with a thread for each query of a problem.
step_shape shape_for_queries(const match_problem& problem, uint32_t threads);

/// The device side.
class match_device : public application_device {
 public:
  /// The workload on this problem; the device must outlive it too.
  virtual std::unique_ptr<match_workload> matching(const match_problem& problem) = 0;
};

}  // namespace gpusync::tool
