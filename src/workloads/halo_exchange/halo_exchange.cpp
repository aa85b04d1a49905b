#include "workloads/halo_exchange/halo_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpusync::tool {

uint32_t halo_blocks_across(const halo_problem& problem, uint32_t blocks) {
  if (problem.neighbours == 2) {
    if (blocks < 2) throw invalid_argument("One block has no neighbours: a ring has two blocks or more.");
    return blocks;
  }
  for (uint32_t rows = 2, best = 0;; ++rows) {
    if (rows * rows > blocks) {
      if (best != 0) return blocks / best;
      throw invalid_argument(
          fmt::format("{} block{} no torus, in which each has {} neighbours: its rows and its columns are two or more, "
                      "such as 2 x 3 of 6 blocks.",
                      blocks, blocks == 1 ? " is" : "s are", problem.neighbours));
    }
    if (blocks % rows == 0) best = rows;
  }
}

neighbourhood halo_neighbourhood(const halo_problem& problem, uint32_t blocks) {
  if (problem.neighbours == 2) return neighbourhood::ring(blocks);
  const uint32_t across = halo_blocks_across(problem, blocks);
  return neighbourhood::torus({across, blocks / across}, problem.neighbours == 8 ? corners::yes : corners::no);
}

std::vector<step_method> halo_own_methods() {
  const auto method = [](const char* name, const char* title) {
    return step_method{name, title, {}, method_kind::neighbours, true, true};
  };
  return {method(halo_methods::automatic, "halo, words or flags as the launch chooses"),
          method(halo_methods::words, "halo of words that carry their step"),
          method(halo_methods::flags, "halo of data behind flags"),
          method(halo_methods::barrier, "barrier of neighbours")};
}

step_method halo_own_method(const std::string& name) {
  for (const step_method& method : halo_own_methods()) {
    if (method.name == name) return method;
  }
  throw invalid_argument("There is no method " + name + ".");
}

halo_reference::halo_reference(const halo_problem& problem, uint32_t blocks)
    : problem_(problem), blocks_(blocks), across_(halo_blocks_across(problem, blocks)) {
  std::vector<uint32_t>& start = known_[0];
  start.resize(size_t{blocks} * problem.words);
  for (size_t i = 0; i < start.size(); ++i) {
    auto h = static_cast<uint32_t>(i * 2654435761u);
    h ^= h >> 15;
    h *= 0x85ebca6bu;
    start[i] = h ^ (h >> 13);
  }
}

uint32_t halo_reference::affordable_steps() const {
  constexpr uint64_t additions = 1'500'000'000;
  const uint64_t each = uint64_t{blocks_} * problem_.words * problem_.neighbours;
  uint32_t steps = 1024;
  while (steps < 16384 && each * steps * 2 <= additions) steps *= 2;
  return steps;
}

const std::vector<uint32_t>& halo_reference::after(uint64_t steps) {
  auto found = known_.upper_bound(steps);
  --found;  // 0 is known
  if (found->first == steps) return found->second;
  std::vector<uint32_t> from = found->second, to(from.size()), sum(problem_.words);
  const uint32_t words = problem_.words;
  for (uint64_t s = found->first; s < steps; ++s) {
    for (uint32_t block = 0; block < blocks_; ++block) {
      std::fill(sum.begin(), sum.end(), 0);
      for (uint32_t k = 0; k < problem_.neighbours; ++k) {
        const uint32_t* const other =
            from.data() + size_t{halo_neighbour(problem_.neighbours, blocks_, across_, block, k)} * words;
        for (uint32_t i = 0; i + 1 < words; ++i) sum[i] += other[i + 1];
        sum[words - 1] += other[0];
      }
      const size_t first = size_t{block} * words;
      for (uint32_t i = 0; i < words; ++i) to[first + i] = halo_mixed(from[first + i], sum[i]);
    }
    from.swap(to);
  }
  return known_[steps] = std::move(from);
}

std::vector<array_content> halo_arrays(halo_reference& reference) {
  const std::vector<uint32_t>& start = reference.after(0);
  return {array_content::of(start), array_content::filled(start.size(), 0u)};
}

check_result halo_result::check(uint64_t steps) {
  const std::vector<uint32_t>& expected = reference_->after(steps);
  std::vector<uint32_t> found(expected.size());
  memory_->read(steps % 2, found.data());
  check_result result{expected.size(), 0};
  for (size_t i = 0; i < found.size(); ++i) result.wrong += found[i] != expected[i] ? 1 : 0;
  return result;
}

}  // namespace gpusync::tool
