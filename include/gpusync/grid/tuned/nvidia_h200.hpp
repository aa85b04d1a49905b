// Written by `gpusync tune` on an NVIDIA H200.
#pragma once

namespace gpusync::grid::tuned {

inline constexpr char nvidia_h200[] = R"tuning(gpusync-tuning 1
device NVIDIA H200
# blocks_per_sm threads  sub_counters copies sides second_warp first_poll
rule 1 32  1 1 2 0 200
rule 1 any  1 1 2 1 300
rule 2 any  1 1 2 0 300
rule 4 any  2 1 2 0 400
rule any any  4 2 2 0 500
)tuning";

}  // namespace gpusync::grid::tuned
