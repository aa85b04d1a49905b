#include "harness/experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>

#include "nearest.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

std::deque<experiment>& registered() {
  static std::deque<experiment> all;
  return all;
}

}  // namespace

void add_all(const std::vector<row>& rows, const experiment_sink& sink) {
  for (const row& entry : rows) sink.add(entry, true);
}

register_experiment::register_experiment(experiment which) {
  registered().push_back(std::move(which));
}

std::vector<const experiment*> all_experiments() {
  std::vector<const experiment*> all;
  for (const experiment& one : registered()) all.push_back(&one);
  std::ranges::sort(all, {}, &experiment::name);
  return all;
}

const experiment& find_experiment(const std::string& name) {
  std::vector<std::string> names;
  for (const experiment* one : all_experiments()) {
    if (one->name == name) return *one;
    names.push_back(one->name);
  }
  throw usage_error(fmt::format("There is no experiment '{}'.{} There is {}. `gpusync list` says more.", name,
                                did_you_mean(name, names), fmt::join(names, ", ")));
}

}  // namespace gpusync::tool
