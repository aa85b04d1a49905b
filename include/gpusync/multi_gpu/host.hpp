// Barriers across GPUs whose blocks are host threads: each GPU is a launch of its own. For tests of programs and of the
// protocol without GPUs.
#pragma once

#include <gpusync/core/host_backend.hpp>
#include <gpusync/core/host_grid.hpp>
#include <gpusync/multi_gpu/registry.hpp>
#include <gpusync/multi_gpu/storage.hpp>

namespace gpusync {

/// Owns the state of one barrier of several launches on host threads, each in the place of a GPU, of up to `blocks`
/// blocks each. Start them at the same time, from a thread for each. Grid: host_grid, or a test's stand-in for it.
template <class Algorithm = multi_gpu::default_algorithm, class Grid = host_grid>
class host_multi_gpu_storage
    : public detail::multi_gpu_storage<Algorithm, Grid, detail::host_backend, detail::plain_placement<Algorithm>> {
 public:
  /// Throws invalid_argument if there are too many GPUs or blocks. `first_phase`: as host_barrier_storage.
  host_multi_gpu_storage(uint32_t gpus, block_count blocks, uint32_t first_phase = 0)
      : host_multi_gpu_storage::multi_gpu_storage(std::vector<detail::on_host>(gpus), blocks, first_phase,
                                                  std::vector<detail::plain_placement<Algorithm>>(gpus)) {}
};

}  // namespace gpusync
