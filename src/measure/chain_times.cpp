#include "measure/chain_times.hpp"

#include <algorithm>
#include <map>

#include <gpusync/core/error.hpp>
#include "measure/statistics.hpp"

namespace gpusync::tool {

double slowest_cycles(const std::vector<warp_stamp>& stamps, size_t warps) {
  long long slowest = 0;
  for (size_t i = 0; i < warps; ++i) slowest = std::max(slowest, stamps.at(i).end - stamps[i].begin);
  return static_cast<double>(slowest);
}

double busy_cycles(const std::vector<warp_stamp>& stamps, size_t warps) {
  struct span {
    long long begin, end;
    size_t warps;
  };
  std::map<unsigned, span> by_sm;
  for (const warp_stamp& stamp : stamps) {
    const auto [found, first] = by_sm.try_emplace(stamp.sm, span{stamp.begin, stamp.end, 0});
    found->second.begin = std::min(found->second.begin, stamp.begin);
    found->second.end = std::max(found->second.end, stamp.end);
    found->second.warps += 1;
  }
  std::vector<double> cycles;
  for (const auto& [sm, one] : by_sm) {
    if (one.warps == warps) cycles.push_back(static_cast<double>(one.end - one.begin));
  }
  if (cycles.empty() || cycles.size() * 2 < by_sm.size()) {
    throw invalid_argument(
        "The blocks were not spread evenly over the multiprocessors: " + std::to_string(cycles.size()) + " of " +
        std::to_string(by_sm.size()) + " had " + std::to_string(warps) + " warps.");
  }
  return summarize(cycles).median;
}

double start_spread_ns(const std::vector<warp_stamp>& stamps) {
  const auto [first, last] = std::ranges::minmax_element(stamps, {}, &warp_stamp::started);
  if (first == stamps.end()) return 0;
  if (first->started == 0) throw error("The blocks of a launch did not all come, so that none was let go.");
  return static_cast<double>(last->started - first->started);
}

}  // namespace gpusync::tool
