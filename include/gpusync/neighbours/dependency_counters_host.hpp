// Dependency counters among blocks of host threads.
#pragma once

#include <gpusync/core/host_backend.hpp>
#include <gpusync/core/host_grid.hpp>
#include <gpusync/launch/host.hpp>
#include <gpusync/neighbours/dependency_counters_storage.hpp>

namespace gpusync {

/// Counters by which the tasks of a graph wait for each other, run by blocks of host threads.
using host_dependency_counters = basic_dependency_counters<host_grid>;

/// Owns dependency counters of blocks of host threads; as dependency_counter_storage. Grid: host_grid, or a test's
/// stand-in for it.
template <class Grid = host_grid, class Epochs = detail::counter_epochs>
class basic_host_dependency_counter_storage
    : public detail::dependency_counter_storage<Grid, detail::host_backend, Epochs> {
 public:
  /// As dependency_counter_storage's.
  basic_host_dependency_counter_storage(block_count blocks, std::vector<uint32_t> expected,
                                        const std::vector<std::vector<uint32_t>>& producers = {},
                                        counter_spacing spacing = counter_spacing::automatic, uint32_t first_epoch = 0)
      : basic_host_dependency_counter_storage::dependency_counter_storage(
            detail::on_host{}, blocks,
            detail::counter_tables(detail::require_counter_blocks(blocks), std::move(expected), producers), spacing,
            first_epoch) {}
};

/// The storage of host_dependency_counters.
using host_dependency_counter_storage = basic_host_dependency_counter_storage<>;

}  // namespace gpusync
