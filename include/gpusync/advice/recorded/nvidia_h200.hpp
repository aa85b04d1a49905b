// Fitted to results/nvidia-h200/halo-exchange.json, halo-exchange-bytes.json, halo-forms.json and
// results/nvidia-h200-x2/multi-gpu-barrier.json; tests/models/recorded_costs_test.cpp fits them again.
#pragma once

#include <iterator>

#include <gpusync/advice/step_costs.hpp>

namespace gpusync::advice {

namespace detail {

inline constexpr way_costs nvidia_h200[] = {
    {way::graph,
     {0.99312, 0, 0, 0, 0, 0.2463, 0.22819, 0.067027, 0.037101, 0.017466, 0, 0.023643, 0, 0, 0},
     0,
     0.09675,
     48},
    {way::dependent_graph,
     {0.68602, 0, 0, 0, 0, 0.02373, 0.48089, 0.13688, 0.017981, 0.015915, 0, 0.021662, 0, 0, 0},
     0,
     0.09914,
     48},
    {way::cooperative_groups,
     {1.2236, 0, 0, 0.10157, 0.099163, 0.19135, 0, 0.10381, 0.007447, 0.013727, 0, 0, 0, 0, 0},
     0,
     0.09776,
     48},
    {way::grid_barrier,
     {0.99207, 0, 0, 0, 0.0043365, 0.051466, 0, 0.078621, 0.022248, 0.015268, 0, 0, 0, 0, 0},
     0,
     0.1033,
     48},
    {way::neighbour_barrier,
     {1.0182, 0, 0, 0, 0, 0.0985, 0, 0.033902, 0, 0.014361, 0, 0.0043318, 0, 0, 0},
     0,
     0.1076,
     48},
    {way::halo,
     {0.40426, 0, 0, 0.0098435, 0, 0.048065, 0.29208, 0, 0.065861, 0.00016814, 0.023021, 0.040411, 0, 0, 0},
     0,
     0.2741,
     107},
    {way::gpus_host, {9.9885, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 0.0183, 5},
    {way::gpus_events, {10.079, 0, 0.07798, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 0.02452, 5},
    {way::gpus_graph, {2.3971, 0.058847, 0.065757, 0, 0, 0.012568, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 0.009551, 5},
    {way::gpus_barrier, {1.3172, 0.62365, 0.16224, 0, 0, 0.072915, 0, 0, 0, 0, 0, 0.00012371, 0, 0, 0}, 0, 0.003242, 5},
};

}  // namespace detail

/// What waiting costs on an NVIDIA H200, and on two of them.
inline const device_costs& recorded_on_nvidia_h200() {
  static const device_costs costs{"NVIDIA H200",
                                  {132, 2048, 32},
                                  {std::begin(detail::nvidia_h200), std::end(detail::nvidia_h200)},
                                  {1, 32, 0, 0, skew_form::uniform, 0, 0, dependence::all, 2, 1048576, 1, 0},
                                  {1056, 1024, 5, 1, skew_form::uniform, 4096, 0, dependence::all, 8, 1048576, 2, 0}};
  return costs;
}

}  // namespace gpusync::advice
