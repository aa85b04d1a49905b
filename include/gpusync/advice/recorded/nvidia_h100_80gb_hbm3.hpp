// Fitted to results/nvidia-h100/step-costs.json; tests/models/recorded_costs_test.cpp fits them again.
#pragma once

#include <iterator>

#include <gpusync/advice/step_costs.hpp>

namespace gpusync::advice {

namespace detail {

inline constexpr way_costs nvidia_h100_80gb_hbm3[] = {
    {way::host_wait,
     {10.48, 0.22452, 0, 0.058251, 0.0035258, 0.38415, 0.657, 0.3979, 0.069607, 0, 0.020326, 0.0080326, 0.037543, 0,
      0.4723},
     0,
     0.08976,
     360},
    {way::relaunch,
     {2.7697, 0.28033, 0, 0.020216, 0.041179, 0.516, 0.25756, 0, 0.071305, 0, 0.002929, 0, 0.028844, 8.3329, 0.094137},
     3.9134,
     0.1474,
     360},
    {way::cooperative_relaunch,
     {2.8394, 0.36234, 0, 0, 0.072532, 0.74215, 0, 0, 0, 0.017126, 0.010864, 0, 0.0065481, 8.7192, 0},
     4.0513,
     0.157,
     329},
    {way::graph,
     {1.3071, 0.17365, 0.022401, 0.0099502, 0.022612, 0.62262, 0.37588, 0.25067, 0.06741, 0, 0.056693, 0.022415,
      0.035121, 5.2778, 0.29237},
     0,
     0.1388,
     360},
    {way::dependent_graph,
     {1.0971, 0.052871, 0.048367, 0.0060646, 0.049783, 0.51443, 0.22208, 0.22574, 0.079208, 0.0044433, 0.02272, 0.01008,
      0.03976, 3.8948, 0.054625},
     0,
     0.1932,
     360},
    {way::cooperative_groups,
     {1.4492, 0.082741, 0.039545, 0.12899, 0.065864, 0.10639, 0.35704, 0.16174, 0.0089032, 0.0028204, 0.085277, 0,
      0.37858, 8.7284, 0.98448},
     0,
     0.1023,
     329},
    {way::grid_barrier,
     {1.0604, 0.15793, 0, 0.002087, 0.03009, 0.037883, 0.41161, 0.21236, 0.030485, 0, 0.012428, 0, 0.41363, 8.7698,
      0.99528},
     0,
     0.1186,
     329},
    {way::neighbour_barrier,
     {0.67546, 0.21036, 0, 0.019594, 0.0010463, 0.18511, 0.056798, 0.17226, 0, 0.017746, 0, 0.14871, 0.42707, 10.127,
      0.59737},
     0,
     0.09202,
     177},
    {way::halo,
     {0.28303, 0.098906, 0, 0, 0, 0.26085, 0.1215, 0.27263, 0, 0.012669, 0.025767, 0.11095, 0.48149, 9.564, 0.83417},
     0,
     0.1066,
     177},
};

}  // namespace detail

/// What waiting costs on an NVIDIA H100.
inline const device_costs& recorded_on_nvidia_h100_80gb_hbm3() {
  static const device_costs costs{
      "NVIDIA H100 80GB HBM3",
      {132, 2048, 32},
      {std::begin(detail::nvidia_h100_80gb_hbm3), std::end(detail::nvidia_h100_80gb_hbm3)},
      {4, 32, 0, 0, skew_form::uniform, 4, 0, dependence::all, 2, 8, 1, 0},
      {10820, 1024, 19.326, 18.16, skew_form::uniform, 8172, 28672, dependence::all, 4, 986, 1, 0}};
  return costs;
}

}  // namespace gpusync::advice
