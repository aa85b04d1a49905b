#include "experiments/hagen_2012/hagen_published.hpp"

#include <algorithm>

#include "embedded/hagen_2012_published_json.hpp"
#include "experiments/published.hpp"

namespace gpusync::tool {

std::vector<row> hagen_published(const std::string& experiment) {
  std::vector<row> merged;
  for (row& entry : published_rows(embedded::hagen_2012_published_json, experiment)) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const row& other) {
      return other.device == entry.device && other.method == entry.method && other.axes == entry.axes;
    });
    if (same == merged.end()) {
      merged.push_back(std::move(entry));
      continue;
    }
    same->items.insert(same->items.end(), entry.items.begin(), entry.items.end());
    same->metrics.insert(same->metrics.end(), entry.metrics.begin(), entry.metrics.end());
    *same->verification += "; " + *entry.verification;
  }
  return merged;
}

}  // namespace gpusync::tool
