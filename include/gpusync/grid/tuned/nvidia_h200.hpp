// Written by `gpusync tune` on an NVIDIA H200.
#pragma once

namespace gpusync::grid::tuned {

inline constexpr char nvidia_h200[] = R"tuning(gpusync-tuning 1
device NVIDIA H200
# blocks_per_sm threads  sub_counters copies sides second_warp first_poll
rule 1 32  1 1 2 0 200
rule 1 512  1 1 2 1 275
rule 1 any  1 1 2 1 250
rule 2 32  1 1 2 0 200
rule 2 512  1 1 2 0 250
rule 2 any  1 1 2 0 225
rule 4 32  2 1 2 0 225
rule 4 any  4 1 2 0 275
rule any 32  4 2 2 0 425
rule any any  4 2 2 0 375
)tuning";

}  // namespace gpusync::grid::tuned
