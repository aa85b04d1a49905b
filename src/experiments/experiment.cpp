#include "experiments/experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

std::vector<std::unique_ptr<experiment>>& registered() {
  static std::vector<std::unique_ptr<experiment>> all;
  return all;
}

}  // namespace

register_experiment::register_experiment(std::unique_ptr<experiment> which) {
  registered().push_back(std::move(which));
}

std::vector<const experiment*> all_experiments() {
  std::vector<const experiment*> all;
  for (const auto& one : registered()) all.push_back(one.get());
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->name() < b->name(); });
  return all;
}

const experiment& find_experiment(const std::string& name) {
  std::vector<std::string> names;
  for (const experiment* one : all_experiments()) {
    if (one->name() == name) return *one;
    names.push_back(one->name());
  }
  throw usage_error(
      fmt::format("There is no experiment '{}': there is {}. `gpusync list` says more.", name, fmt::join(names, ", ")));
}

}  // namespace gpusync::tool
