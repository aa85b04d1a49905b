// From several runs of `gpusync tune` on NVIDIA H200s; one of them is results/nvidia-h200/nvidia-h200.tuning.
#pragma once

namespace gpusync::grid::tuned {

inline constexpr char nvidia_h200[] = R"tuning(gpusync-tuning 1
device NVIDIA H200
# blocks_per_sm threads  sub_counters copies partitions second_warp poll_backoff
rule 0.25 32  1 1 2 0 150
rule 0.25 any  1 1 2 1 175
rule 0.50 32  1 1 2 0 100
rule 0.50 any  1 1 2 1 200
rule 1 32  1 1 2 0 175
rule 1 512  1 1 2 1 175
rule 1 any  1 1 2 1 275
rule 2 32  1 1 2 0 225
rule 2 512  1 1 2 0 225
rule 2 any  1 1 2 0 275
rule 4 32  2 1 2 0 225
rule 4 any  2 1 2 0 225
rule any 32  4 2 2 0 275
rule any any  4 2 2 0 325
)tuning";

}  // namespace gpusync::grid::tuned
