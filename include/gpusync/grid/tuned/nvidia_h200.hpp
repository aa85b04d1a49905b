// Written by `gpusync tune` for NVIDIA H200.
#pragma once

#include <gpusync/grid/counter_plan.hpp>

namespace gpusync::grid::tuned {

// Quarters of a block per SM, threads; sub-counters, copies, partitions, second warp, cycles to the first poll.
inline constexpr tuned_counters nvidia_h200{
    "NVIDIA H200",
    {
        14,
        {
            {1, 32, {1, 1, 2, 0, 150}},
            {1, counter_rules::any, {1, 1, 2, 1, 175}},
            {2, 32, {1, 1, 2, 0, 100}},
            {2, counter_rules::any, {1, 1, 2, 1, 200}},
            {4, 32, {1, 1, 2, 0, 175}},
            {4, 512, {1, 1, 2, 1, 175}},
            {4, counter_rules::any, {1, 1, 2, 1, 275}},
            {8, 32, {1, 1, 2, 0, 225}},
            {8, 512, {1, 1, 2, 0, 225}},
            {8, counter_rules::any, {1, 1, 2, 0, 275}},
            {16, 32, {2, 1, 2, 0, 225}},
            {16, counter_rules::any, {2, 1, 2, 0, 225}},
            {counter_rules::any, 32, {4, 2, 2, 0, 275}},
            {counter_rules::any, counter_rules::any, {4, 2, 2, 0, 325}},
        },
    },
};

}  // namespace gpusync::grid::tuned
