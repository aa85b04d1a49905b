// How often something may happen that was seen a few times, or never.
#pragma once

#include <cstdint>

namespace gpusync::tool {

/// The one-sided upper confidence bound, at 95 %, of the mean of a Poisson distribution of which `seen` was drawn: the
/// mean under which so few, or fewer, are seen in one case of twenty. 3.00 for 0 (the "rule of three"), 4.74 for 1.
/// Exact to 9 digits up to 10^5; beyond, the normal approximation seen + 1.645 sqrt(seen).
double poisson_upper_bound(uint64_t seen);

}  // namespace gpusync::tool
