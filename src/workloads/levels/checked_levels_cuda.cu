// The operations by which the method itself is checked, in chains of many lengths, on CUDA devices.
#include "workloads/levels/levels_cuda.cuh"
#include "workloads/levels/operations.cuh"

namespace gpusync::tool {

namespace {

using all_lengths = std::integer_sequence<unsigned int, 1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 512>;

std::vector<level_entry> checked_entries() {
  return {by_value<float_add, all_lengths>({"float-add", 0, false, {"FADD"}}),
          handing_over<block_sync, all_lengths>({"syncthreads", 0, false, {"BAR"}}),
          by_value<tile_shuffle<32>, all_lengths>({"tile-shuffle", 32, false, {"SHFL"}}),
          handing_over<warp_sync, all_lengths>({"syncwarp", 32, false, {"WARPSYNC"}})};
}

class cuda_checked_levels : public cuda_levels {
 public:
  explicit cuda_checked_levels(const device_description& description) : cuda_levels(description, checked_entries()) {}
};

const register_side<levels_device> checked_levels_registered(device_kind::cuda, make_side<cuda_checked_levels>,
                                                             level_sides::checked);

}  // namespace

}  // namespace gpusync::tool
