// Blocks of a grid that are held together, though nothing depends on it: each works on what its neighbours have just
// brought into the L2 cache.
//
//   __global__ void gather(gpusync::grid_window window, const float* table, …) {
//     for (int panel = 0; panel < panels; ++panel) {
//       …                                                        // random reads of this panel of the table
//       window.end_epoch();                                      // none is more than `lead` panels ahead of any
//     }
//   }
#pragma once

#include <gpusync/core/concepts.hpp>
#include <gpusync/core/handle.hpp>
#include <gpusync/pace/forms.hpp>
#include <gpusync/pace/window.hpp>

namespace gpusync {

namespace detail {

/// What a storage gives to a window.
struct window_argument {
  handle_header header;
  window_places places;
  uint64_t limit;  ///< nanoseconds of a wait, of windows that have one
};

/// A window's waits: with a deadline, or without.
template <bool Bounded>
struct window_limit {
  GPUSYNC_HD static no_deadline of(uint64_t) { return {}; }
};
template <>
struct window_limit<true> {
  GPUSYNC_HD static deadline of(uint64_t nanoseconds) { return deadline(timeout(nanoseconds)); }
};

}  // namespace detail

/// A window over the blocks of one running grid: none begins epoch e before all have ended epoch e - lead. The
/// parameter of a kernel, by value; whatever the kernel calls takes it by reference. It stays valid as long as the
/// storage that made it.
///
/// It orders nothing: what other blocks wrote need not be seen after end_epoch(). That is why it costs less than a
/// barrier, even with a lead of 1. For order, take a barrier.
///
/// All threads of a block call each function together. A block that ends early calls leave(), or the others wait for
/// it: up to the limit with pace::best_effort, for ever with pace::strict.
///
/// Policy pace::best_effort: a block that has waited for longer than the storage's limit in one epoch waits in none
/// after it, and no more does any block that comes to wait for others then; all go on to count their epochs. So a grid
/// that does not run as a whole at one time loses the limit once. The limit should be longer than an epoch takes.
/// Policy pace::strict: launched by gpusync::launch(), which sees to it that all blocks run at once.
/// Policy pace::off: nothing happens, and no storage is needed.
///
/// Cost: of an epoch one addition to a line of L2, polls of another by one thread, and a block barrier. Progress: that
/// of the other blocks, for pace::strict. Epochs may be any number, up to 2^64.
///
/// Grid: cuda_grid or host_grid.
template <class Grid, class Policy = pace::best_effort>
class basic_grid_window : public detail::passed_by_reference<basic_grid_window<Grid, Policy>> {
  static_assert(is_grid<Grid>, "a Grid has what core/concepts.hpp says");
  static_assert(Grid::whole_block, "a window's members are whole blocks");

 public:
  /// What ends its waits.
  using policy = Policy;

  /// Use the storage's window() instead.
  GPUSYNC_HD explicit basic_grid_window(const detail::window_argument& given)
      : given_(given), is_shared_(Grid::handle_per_thread) {}
  /// For launches on host threads: what one thread of `original`'s kernel gets.
  GPUSYNC_HD basic_grid_window(detail::for_one_thread, const basic_grid_window& original) : given_(original.given_) {}

  /// Says that the block has ended its epoch, and waits until the next one may begin.
  GPUSYNC_API void end_epoch() {
    Grid grid = Grid::current();
    refuse_shared(grid);
    if (grid.thread() == 0) {
      if (waits_) {
        const wait_status status = member_.end_epoch(grid, given_.places, grid.blocks(),
                                                     detail::window_limit<Policy::bounded>::of(given_.limit));
        if constexpr (Policy::bounded) {
          if (status == wait_status::timed_out) {
            waits_ = false;
            Grid::memory::template add<memory_order::relaxed, scope::device>(given_.places.given_up(), 1u);
          }
        } else {
          (void)status;
        }
      } else {
        member_.template count_epoch<Grid>(given_.places);
      }
    }
    grid.sync_block();
  }

  /// The block takes part in no further epoch, and must not call the window again. To be called once, where a block
  /// ends after fewer epochs than others.
  GPUSYNC_API void leave() {
    Grid grid = Grid::current();
    refuse_shared(grid);
    if (grid.thread() == 0) member_.template leave<Grid>(given_.places);
  }

  /// Epochs that a block may be ahead of the slowest.
  GPUSYNC_HD uint32_t lead() const { return given_.places.lead; }
  /// How a launch finds the storage.
  GPUSYNC_HD const detail::handle_header& header() const { return given_.header; }

 private:
  GPUSYNC_API void refuse_shared([[maybe_unused]] Grid grid) const {
    if constexpr (Grid::handle_per_thread) {
      if (is_shared_) grid.fail(nullptr, misuse::shared_handle, 0);
    }
  }

  detail::window_argument given_;
  detail::window_member<scope::device> member_;
  bool waits_ = true;
  bool is_shared_ = false;  ///< on host threads: what a launch is to be given, not its threads
};

/// No window: for a kernel that is compiled with one and without.
template <class Grid>
class basic_grid_window<Grid, pace::off> : public detail::passed_by_reference<basic_grid_window<Grid, pace::off>> {
 public:
  using policy = pace::off;
  GPUSYNC_HD basic_grid_window() {}
  GPUSYNC_HD basic_grid_window(detail::for_one_thread, const basic_grid_window&) {}
  /// Nothing.
  GPUSYNC_API void end_epoch() {}
  /// Nothing.
  GPUSYNC_API void leave() {}
  /// No limit.
  GPUSYNC_HD static uint32_t lead() { return ~0u; }
  /// Of no storage.
  GPUSYNC_HD static detail::handle_header header() { return {}; }
};

}  // namespace gpusync
