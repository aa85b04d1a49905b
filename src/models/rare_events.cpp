#include "models/rare_events.hpp"

#include <cmath>

namespace gpusync::tool {

namespace {

/// The probability of `seen` or fewer events where `mean` are expected.
double probability_of_so_few(uint64_t seen, double mean) {
  double sum = 0;
  for (uint64_t k = 0; k <= seen; ++k) {
    const auto count = static_cast<double>(k);
    sum += std::exp(count * std::log(mean) - mean - std::lgamma(count + 1));
  }
  return sum;
}

}  // namespace

double poisson_upper_bound(uint64_t seen) {
  const auto count = static_cast<double>(seen);
  if (seen > 100'000) return count + 1.6448536 * std::sqrt(count);
  double below = count + 1e-9, above = count + 5 * std::sqrt(count) + 10;
  while (above - below > 1e-10 * above) {
    const double middle = 0.5 * (below + above);
    (probability_of_so_few(seen, middle) > 0.05 ? below : above) = middle;
  }
  return above;
}

}  // namespace gpusync::tool
