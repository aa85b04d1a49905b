// Fitted to results/nvidia-h100/step-costs.json; tests/models/recorded_costs_test.cpp fits them again.
#pragma once

#include <iterator>

#include <gpusync/advice/step_costs.hpp>

namespace gpusync::advice {

namespace detail {

inline constexpr way_costs nvidia_h100_80gb_hbm3[] = {
    {way::host_wait,
     {9.7626, 0, 0.043507, 0, 0.017859, 0.5266, 0.42537, 0.19319, 0.060365, 0, 0, 0.014494, 0.046409, 0.62457, 0.72457},
     0,
     0.07101,
     360},
    {way::relaunch,
     {2.8585, 0.035357, 0.026153, 0.015248, 0.015731, 0.59449, 0.23847, 0, 0.060551, 0, 0.036656, 0.0046321, 0.021566,
      4.7405, 0.32959},
     3.3046,
     0.1109,
     360},
    {way::cooperative_relaunch,
     {2.8992, 0.06013, 0.017905, 0.019243, 0.023146, 0.58505, 0.19683, 0, 0.01464, 0.0037616, 0.05562, 0.008871,
      0.010013, 5.378, 0.099605},
     3.151,
     0.096,
     329},
    {way::graph,
     {1.343, 0.10566, 0.03102, 0.0018201, 0.021423, 0.55953, 0.43789, 0.22408, 0.0537, 0, 0.040106, 0.032522, 0.030927,
      5.1925, 0.39541},
     0,
     0.133,
     360},
    {way::dependent_graph,
     {1.0874, 0.036683, 0.056679, 0.00010541, 0.047476, 0.53777, 0.20379, 0.21635, 0.070784, 0.0051742, 0.0119,
      0.015893, 0.036124, 3.7369, 0.025912},
     0,
     0.1931,
     360},
    {way::cooperative_groups,
     {1.4944, 0.010191, 0.05471, 0.1105, 0.072369, 0.10693, 0.33911, 0.1409, 0.0084632, 0, 0.082341, 0, 0.15737, 8.5819,
      0.76595},
     0,
     0.0978,
     329},
    {way::grid_barrier,
     {1.0687, 0.13246, 0, 0, 0.037116, 0.041388, 0.41143, 0.20131, 0.027602, 0, 0.0024236, 0, 0.18803, 8.6355, 0.93323},
     0,
     0.1138,
     329},
    {way::neighbour_barrier,
     {0.80195, 0.10081, 0, 0, 0.011701, 0.096938, 0.1533, 0.13022, 0, 0.012805, 0, 0.13585, 0.18532, 10.006, 0.87602},
     0,
     0.08533,
     177},
    {way::halo,
     {0.3939, 0.07241, 0, 0, 0, 0.21696, 0.080219, 0.24648, 0, 0.013125, 0, 0.098446, 0.29107, 10.545, 1.4639},
     0,
     0.1025,
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
