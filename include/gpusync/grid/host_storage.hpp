// The memory behind a grid barrier whose blocks are host threads.
#pragma once

#include <gpusync/core/host_backend.hpp>
#include <gpusync/core/host_grid.hpp>
#include <gpusync/grid/barrier_storage.hpp>

namespace gpusync {

/// Owns the state of one grid barrier for grids of up to `blocks` blocks of host threads. Reusable by one launch after
/// another without a reset, unless a wait timed out; by one at a time (storage_in_use). Grid: host_grid, or a test's
/// stand-in for it.
template <class Algorithm, class Grid = host_grid>
class host_barrier_storage
    : public detail::barrier_storage<Algorithm, Grid, detail::host_backend, detail::plain_placement<Algorithm>> {
 public:
  /// Throws invalid_argument if the algorithm cannot serve that many blocks. `first_phase` is where the phase counter
  /// starts (modulo its width); only tests of the wrap need another than 0.
  explicit host_barrier_storage(block_count blocks, uint32_t first_phase = 0)
      : host_barrier_storage::barrier_storage(detail::on_host{}, blocks, first_phase,
                                              detail::plain_placement<Algorithm>()) {}
};

}  // namespace gpusync
