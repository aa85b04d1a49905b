// Waiting for neighbours among host threads.
#pragma once

#include <gpusync/core/host_backend.hpp>
#include <gpusync/core/host_grid.hpp>
#include <gpusync/launch/host.hpp>
#include <gpusync/neighbours/dependency_counters_host.hpp>
#include <gpusync/neighbours/halo_storage.hpp>
#include <gpusync/neighbours/neighbour_barrier.hpp>

namespace gpusync {

/// A barrier of a block and its neighbours, of host threads.
using host_neighbour_barrier = basic_neighbour_barrier<host_grid>;

/// Owns the flags of a neighbour barrier for grids of as many blocks as the neighbourhood has. Reusable by one launch
/// after another without a reset, unless a wait timed out. Grid: host_grid, or a test's stand-in for it.
template <class Grid = host_grid>
class basic_host_neighbour_storage : public detail::neighbour_storage<Grid, detail::host_backend> {
 public:
  /// `first_phase`: where the phase counter starts; only tests of the wrap need another than 0.
  explicit basic_host_neighbour_storage(const neighbourhood& who, uint32_t first_phase = 0)
      : basic_host_neighbour_storage::neighbour_storage(detail::on_host{}, who, first_phase) {}
};
/// The storage of a host_neighbour_barrier.
using host_neighbour_storage = basic_host_neighbour_storage<>;

/// Words that blocks of host threads publish for their neighbours.
template <class T, halo_form Form = halo_form::automatic>
using host_halo = basic_halo<T, host_grid, Form>;

/// Owns the words of a halo for grids of as many blocks as the neighbourhood has. Reusable as host_neighbour_storage.
template <class T, class Grid = host_grid>
class host_halo_storage : public detail::halo_storage<T, Grid, detail::host_backend> {
 public:
  /// `words`: of each block. Throws invalid_argument for none, or so many that they cannot be numbered.
  explicit host_halo_storage(const neighbourhood& who, uint64_t words, const halo_rule& rule = {},
                             uint32_t first_step = 0)
      : host_halo_storage::halo_storage(detail::on_host{}, who, words, rule, first_step) {}
};

}  // namespace gpusync
