#include "measure/kernel_fusion.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace gpusync::tool {

double fusion_overhead(double many_launches, double few_launches, const fusion_counts& counts) {
  return (many_launches - few_launches) / static_cast<double>(counts.launches - counts.units);
}

double fusion_bias(double of_few_units, double of_many_units, const fusion_counts& counts) {
  const auto launches = static_cast<double>(counts.launches), units = static_cast<double>(counts.units);
  return (launches * of_few_units - units * of_many_units) / (launches - units);
}

double least_fusion_unit(double host_time_of_a_launch) {
  return std::max(5000.0, host_time_of_a_launch);
}

candidate by_kernel_fusion(fusible_program program, const fusion_counts& counts) {
  struct state {
    fusible_program program;
    fusion_counts counts;
    bool many_first = true;
  };
  const auto one = std::make_shared<state>(state{std::move(program), counts});
  const auto timed = [one](bool many) {
    one->program.warm_up();
    return many ? one->program.run(one->counts.launches, one->counts.units)
                : one->program.run(one->counts.units, one->counts.launches);
  };
  candidate made;
  made.run = [one, timed]() -> turn_samples {
    const bool many_first = std::exchange(one->many_first, !one->many_first);
    const double first = timed(many_first), second = timed(!many_first);
    const double many = many_first ? first : second, few = many_first ? second : first;
    return {{overhead_sample, fusion_overhead(many, few, one->counts)},
            {many_launches_sample, many},
            {few_launches_sample, few}};
  };
  return made;
}

}  // namespace gpusync::tool
