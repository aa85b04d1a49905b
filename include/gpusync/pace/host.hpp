// Artificial barriers and windows among host threads.
#pragma once

#include <gpusync/core/host_backend.hpp>
#include <gpusync/core/host_grid.hpp>
#include <gpusync/launch/host.hpp>
#include <gpusync/pace/block_pace.hpp>
#include <gpusync/pace/window_storage.hpp>

namespace gpusync {

/// Keeps the threads of a block in step. Form: one of namespace pace.
template <class Form = pace::block>
using host_block_pace = basic_block_pace<Form, host_grid>;
/// What it needs, one for each block.
template <class Form = pace::block>
using host_pace_memory = basic_pace_memory<Form, host_grid>;

/// A window over blocks that are host threads. Policy: pace::best_effort, pace::strict or pace::off.
template <class Policy = pace::best_effort>
using host_grid_window = basic_grid_window<host_grid, Policy>;

/// Owns the counters of a window over blocks of host threads. Reusable by one launch after another. Grid: host_grid, or
/// a test's stand-in for it.
template <class Policy = pace::best_effort, class Grid = host_grid>
class host_window_storage : public detail::window_storage<Grid, Policy, detail::host_backend> {
 public:
  /// A lead of 1 to 4,096 epochs. `limit`: how long a block waits in one epoch at most, before it gives up pacing; the
  /// operating system may keep a thread waiting for milliseconds. Throws invalid_argument for another lead.
  explicit host_window_storage(uint64_t lead = 2, timeout limit = timeout(20000000))
      : host_window_storage::window_storage(detail::on_host{}, lead, limit) {}
};

}  // namespace gpusync
