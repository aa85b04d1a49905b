#include "workloads/warp_timers/warp_timers.hpp"

#include <algorithm>

namespace gpusync::tool {

double margin_of(const warp_passage& passage) {
  return *std::ranges::min_element(passage.end) - *std::ranges::max_element(passage.start);
}

double spread_of_starts(const warp_passage& passage) {
  return *std::ranges::max_element(passage.start) - *std::ranges::min_element(passage.start);
}

}  // namespace gpusync::tool
