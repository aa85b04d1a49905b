#include "workloads/reduction/reduction.hpp"

#include <algorithm>

namespace gpusync::tool {

reduction_layout layout_of(const reduction_problem& problem, uint64_t memory) {
  constexpr uint64_t kib = 1024, gib = kib * kib * kib;
  const uint64_t bytes = problem.bytes() + problem.offset * uint64_t{problem.wide ? 8u : 4u};
  reduction_layout made{};
  made.stride = std::max((bytes + 255) / 256 * 256, 16 * kib);
  const uint64_t pool = std::max(made.stride, std::min(4 * gib, memory / 2));
  made.pieces = problem.cached ? 1 : static_cast<uint32_t>(std::clamp<uint64_t>(pool / made.stride, 1, 4096));
  // So that a replay takes some 0.4 ms, at 2 us for a sum and 4 bytes in a picosecond.
  const double microseconds = 2 + static_cast<double>(bytes) / 4e6;
  made.nodes = 64;
  while (made.nodes > 4 && made.nodes * microseconds > 400) made.nodes /= 2;
  // A device with so little memory that it holds few inputs has a small cache too.
  const bool may_come_back = problem.cached || made.bytes() >= gib || made.pieces < 8 * made.nodes;
  made.most = may_come_back ? 1u << 20 : made.pieces - 2 * made.nodes;
  return made;
}

int64_t reduction_sum(uint64_t first, uint64_t count) {
  int64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i) sum += reduction_element(first + i);
  return sum;
}

std::string name_of_plan(const std::string& words) {
  std::string name = words;
  std::ranges::replace(name, ' ', '.');
  return name;
}

std::string words_of_plan(const std::string& method) {
  if (method.find('.') == std::string::npos) return "";
  std::string words = method;
  std::ranges::replace(words, '.', ' ');
  return words;
}

}  // namespace gpusync::tool
