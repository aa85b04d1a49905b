// Costs of waiting, fitted to measured steps: the coefficients of include/gpusync/advice/step_costs.hpp.
#pragma once

#include <string>
#include <vector>

#include <gpusync/advice/step_costs.hpp>

namespace gpusync::tool {

/// What a step took.
struct step_observation {
  advice::situation where;
  advice::way which = advice::way::relaunch;
  double us_per_step = 0;
};

/// The coefficients, none below 0, with the least sum of squared relative errors, large errors counted once and not
/// squared (Huber): one disturbed point moves nothing. Of ways that the host queues also how often it can. A way that
/// was seen in fewer situations than `fewest_observations` has no costs.
advice::device_costs fit_step_costs(std::string device, const advice::device_room& room,
                                    const std::vector<step_observation>& observed);

/// Below that many nothing is fitted.
inline constexpr size_t fewest_observations = 5;

}  // namespace gpusync::tool
