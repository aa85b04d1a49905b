// Written by `gpusync tune` on an NVIDIA H200; first polls from the medians of four runs.
#pragma once

namespace gpusync::grid::tuned {

inline constexpr char nvidia_h200[] = R"tuning(gpusync-tuning 1
device NVIDIA H200
# blocks_per_sm threads  sub_counters copies sides second_warp first_poll
rule 0.25 32  1 1 2 0 0
rule 0.25 any  1 1 2 1 175
rule 0.5 32  1 1 2 0 150
rule 0.5 any  1 1 2 1 225
rule 1 32  1 1 2 0 50
rule 1 512  1 1 2 1 200
rule 1 any  1 1 2 1 250
rule 2 32  1 1 2 0 175
rule 2 512  1 1 2 0 200
rule 2 any  1 1 2 0 200
rule 4 32  2 1 2 0 250
rule 4 any  4 1 2 0 300
rule any 32  4 2 2 0 425
rule any any  4 2 2 0 425
)tuning";

}  // namespace gpusync::grid::tuned
