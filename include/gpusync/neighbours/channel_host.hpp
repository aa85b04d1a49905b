// Channels between blocks that are host threads.
#pragma once

#include <gpusync/core/host_backend.hpp>
#include <gpusync/core/host_grid.hpp>
#include <gpusync/launch/host.hpp>
#include <gpusync/neighbours/channel_storage.hpp>

namespace gpusync {

/// Channels between blocks that are host threads.
template <class T, class Grid = host_grid>
using host_channels = basic_channels<T, Grid>;

/// Owns channels between blocks that are host threads. Memory: for each channel 256 bytes and the ring, of 8 bytes a
/// word (16 for values of 8 bytes). Nothing needs a reset between launches.
template <class T, class Grid = host_grid>
class host_channel_storage : public detail::channels_storage<T, Grid, detail::host_backend> {
 public:
  /// A channel for each of `ends`, with a ring of `depth` chunks of `chunk` words. `before`: as if so many chunks had
  /// been sent and taken, for tests. Throws invalid_argument if there is none, or one with no room.
  explicit host_channel_storage(const std::vector<channel_ends>& ends, uint64_t chunk, uint64_t depth,
                                uint64_t before = 0)
      : host_channel_storage::channels_storage(detail::on_host{}, ends, chunk, depth, before) {}
};

}  // namespace gpusync
