// The fault-tolerant barrier for blocks that are host threads.
#pragma once

#include <gpusync/core/host_backend.hpp>
#include <gpusync/core/host_grid.hpp>
#include <gpusync/rmw/host.hpp>
#include <gpusync/rmw/survivor_storage.hpp>

namespace gpusync {

namespace rmw {

/// A host thread that acts for its block at a fault-tolerant barrier.
struct host_survivor : host_machine {
  /// Stores `mark` to the flag, then adds 1 to the word, and returns what that held. Both release what came before;
  /// the addition acquires, too.
  uint64_t arrive(uint64_t* flag, uint64_t mark, uint64_t* word) const {
    host_memory::store<memory_order::release, scope::system>(flag, mark);
    return host_memory::fetch_add<memory_order::acq_rel, scope::system>(word, uint64_t{1});
  }
  /// One poll of a word in which `last` was found last.
  uint64_t poll(const uint64_t* word, uint64_t) const { return load<memory_order::relaxed>(word); }
  /// Makes visible what was released before the value was written that was polled last.
  void acquire(const uint64_t* word) const { (void)load<memory_order::acquire>(word); }
  /// Whether the deadline is over.
  template <class Grid>
  bool late(Grid grid, deadline& limit) const {
    return limit.passed(grid.now());
  }
};

}  // namespace rmw

/// A fault-tolerant barrier for up to N blocks of host threads.
template <uint32_t N, class Machine = rmw::host_survivor, class Grid = host_grid>
using host_fault_tolerant_barrier = basic_fault_tolerant_barrier<N, Grid, Machine>;

/// Owns the memory of one fault-tolerant barrier for `blocks` blocks of host threads.
template <uint32_t N, class Machine = rmw::host_survivor, class Grid = host_grid>
class host_fault_tolerant_storage : public detail::survivor_storage<N, Grid, Machine, detail::host_backend> {
 public:
  /// Throws invalid_argument unless there are 1 to N blocks.
  explicit host_fault_tolerant_storage(block_count blocks = N)
      : host_fault_tolerant_storage::survivor_storage(detail::on_host{}, blocks) {}
};

}  // namespace gpusync
