// A barrier of a block and its neighbours.
//
//   __global__ void relax(gpusync::neighbour_barrier barrier, float* halo[2], …) {
//     for (int step = 0; step < steps; ++step) {
//       …                                          // leave the rim in halo[barrier.parity()]
//       const uint32_t mine = barrier.parity();
//       barrier.sync();                            // neighbours have done so too
//       …                                          // read theirs from halo[mine]
//     }
//   }
#pragma once

#include <gpusync/grid/barrier.hpp>
#include <gpusync/neighbours/flags.hpp>

#if !defined(__CUDACC_RTC__)
#include <utility>

#include <gpusync/grid/barrier_storage.hpp>
#include <gpusync/neighbours/neighbourhood.hpp>
#endif

namespace gpusync {

/// Waits for a block's neighbours instead of the whole grid: the contract of basic_grid_barrier (sync(), arrive() and
/// wait(), sync_for(), enter(), parity()), but a phase is over for a block when its neighbours have arrived in it. What
/// blocks at distance d have written is seen after d phases. See grid::neighbour_flags for the order, and for why two
/// buffers suffice.
///
/// All blocks of the grid go through equally many phases of a launch. A time-out names the neighbours that were
/// missing; then the whole barrier is lost, for blocks far away too, once they wait.
template <class Grid>
using basic_neighbour_barrier = basic_grid_barrier<grid::neighbour_flags, Grid, detail::neighbour_blocks>;

#if !defined(__CUDACC_RTC__)

namespace detail {

inline handle_header header_for(const barrier_control& control, const neighbour_blocks&) {
  return control.header(handle_kind::exact_grid);
}

/// The table of a neighbourhood, where blocks read it.
template <class Backend>
class neighbour_table {
 public:
  using places_type = neighbour_places;

  neighbour_table(const typename Backend::place& where, const neighbourhood& who)
      : slots_(who.slots()), table_(where, who.table().size()) {
    table_.write(who.table());
  }

  void put(const std::vector<uint32_t>&, uint32_t* words, uint32_t blocks) {
    places_.flags = words;
    places_.blocks = blocks;
    places_.table = table_.data();
    places_.slots = slots_;
    places_.poll_backoff = poll_backoff;
  }
  places_type& places() { return places_; }
  const places_type& places() const { return places_; }
  void fit(places_type&, uint32_t, uint32_t, bool) {}

 private:
  /// Cycles before the first poll: the polls of a warp beside the one that releases delay that release, by 0.02 us on
  /// an H200.
  static constexpr uint32_t poll_backoff = 500;

  uint32_t slots_;
  typename Backend::template words<uint32_t> table_;
  places_type places_;
};

static_assert(neighbour_places::none == neighbourhood::none &&
                  grid::neighbour_flags::max_blocks == neighbourhood::most_blocks,
              "device code has no neighbourhood, and says the same");

/// The base of neighbour_barrier_storage and host_neighbour_barrier_storage.
template <class Grid, class Backend>
class neighbour_storage : public barrier_storage<grid::neighbour_flags, Grid, Backend, neighbour_table<Backend>> {
  using base = barrier_storage<grid::neighbour_flags, Grid, Backend, neighbour_table<Backend>>;

 public:
  /// The barrier to hand to a kernel.
  basic_neighbour_barrier<Grid> barrier() { return base::handle(neighbour_blocks(this->placement().places())); }

 protected:
  neighbour_storage(const typename Backend::place& where, const neighbourhood& who, uint32_t first_phase)
      : base(where, who.blocks(), first_phase, neighbour_table<Backend>(where, who)) {}
};

}  // namespace detail

#endif

}  // namespace gpusync
