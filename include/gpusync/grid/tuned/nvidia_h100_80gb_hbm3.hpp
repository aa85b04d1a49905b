// Written by `gpusync tune` for NVIDIA H100 80GB HBM3.
#pragma once

#include <gpusync/grid/counter_plan.hpp>

namespace gpusync::grid::tuned {

// Quarters of a block per SM, threads; sub-counters, copies, partitions, second warp, cycles to the first poll.
inline constexpr tuned_counters nvidia_h100_80gb_hbm3{
    "NVIDIA H100 80GB HBM3",
    {
        14,
        {
            {1, 32, {1, 1, 2, 0, 175}},
            {1, counter_rules::any, {1, 1, 2, 0, 200}},
            {2, 32, {1, 1, 2, 0, 225}},
            {2, counter_rules::any, {1, 1, 2, 0, 225}},
            {4, 32, {1, 1, 2, 0, 225}},
            {4, 512, {1, 1, 2, 0, 225}},
            {4, counter_rules::any, {1, 1, 2, 0, 225}},
            {8, 32, {1, 1, 2, 0, 100}},
            {8, 512, {2, 2, 2, 0, 225}},
            {8, counter_rules::any, {2, 2, 2, 0, 325}},
            {16, 32, {4, 1, 2, 0, 300}},
            {16, counter_rules::any, {4, 1, 2, 0, 300}},
            {counter_rules::any, 32, {4, 2, 2, 0, 450}},
            {counter_rules::any, counter_rules::any, {4, 2, 2, 0, 425}},
        },
    },
};

}  // namespace gpusync::grid::tuned
