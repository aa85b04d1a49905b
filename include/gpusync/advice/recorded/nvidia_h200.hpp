// Fitted to results/nvidia-h200/step-costs.json and results/nvidia-h200-x2/multi-gpu-barrier.json.
#pragma once

#include <iterator>

#include <gpusync/advice/step_costs.hpp>

namespace gpusync::advice {

namespace recorded_tables {

inline constexpr way_costs nvidia_h200[] = {
    {way::gpus_barrier, {1}, 0, 0, 0},
};

}  // namespace recorded_tables

/// What waiting costs on an NVIDIA H200, and on two of them.
inline const device_costs& recorded_on_nvidia_h200() {
  static const device_costs costs{"NVIDIA H200",
                                  {132, 2048, 32},
                                  {std::begin(recorded_tables::nvidia_h200), std::end(recorded_tables::nvidia_h200)},
                                  {1, 32, 0, 0, skew_form::uniform, 0, 0, dependence::all, 2, 1, 1, 0},
                                  {1, 32, 0, 0, skew_form::uniform, 0, 0, dependence::all, 2, 1, 1, 0}};
  return costs;
}

}  // namespace gpusync::advice
