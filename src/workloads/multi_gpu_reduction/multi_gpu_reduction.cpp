#include "workloads/multi_gpu_reduction/multi_gpu_reduction.hpp"

#include <fmt/format.h>

namespace gpusync::tool {

part_of_array part_of_gpu(uint64_t elements, uint32_t gpus, uint32_t gpu) {
  // elements * gpu / gpus, which does not overflow.
  const auto begin = [&](uint64_t i) { return elements / gpus * i + elements % gpus * i / gpus; };
  return {begin(gpu), begin(gpu + uint64_t{1}) - begin(gpu)};
}

reduction_problem problem_of_gpu(const across_problem& problem, uint32_t gpu) {
  constexpr uint64_t beyond_all_memory = uint64_t{1} << 48;
  reduction_problem own = problem.whole;
  own.elements = part_of_gpu(problem.whole.elements, problem.gpus, gpu).count;
  own.first = problem.whole.first + gpu * beyond_all_memory;
  return own;
}

reduction_layout layout_of(const across_problem& problem, uint64_t memory) {
  reduction_problem largest = problem.whole;
  largest.elements = (problem.whole.elements + problem.gpus - 1) / problem.gpus;
  return layout_of(largest, memory);
}

void require_room(const reduction_layout& layout, uint32_t gpu, uint64_t free) {
  constexpr uint64_t mib = 1 << 20, others = 512 * mib;
  if (layout.bytes() + others <= free) return;
  throw invalid_argument(fmt::format("GPU {} has {} MiB of memory left; its inputs and what goes with them take {}.",
                                     gpu, free / mib, (layout.bytes() + others) / mib));
}

}  // namespace gpusync::tool
