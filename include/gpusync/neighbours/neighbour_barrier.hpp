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
#include <optional>
#include <utility>
#include <vector>

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
  using words = typename Backend::template words<uint32_t>;

  neighbour_table(const typename Backend::place& where, const neighbourhood& who)
      : slots_(who.slots()), table_(where, who.table().size()) {
    table_.write(who.table());
  }

  /// Has the flag of block b in line `lines[b]` of `pool`, and no longer among the barrier's words. Blocks.
  void place(const typename Backend::place& where, words&& pool, const std::vector<uint32_t>& lines) {
    pool_.emplace(std::move(pool));
    chosen_ = lines;
    lines_.emplace(where, lines.size());
    lines_->write(lines);
  }
  /// Whether they are.
  bool placed() const { return pool_.has_value(); }

  void put(const std::vector<uint32_t>& image, uint32_t* own, uint32_t blocks) {
    places_.flags = own;
    if (placed()) {
      std::vector<uint32_t> first(pool_->bytes() / sizeof(uint32_t));
      for (uint32_t block = 0; block < blocks; ++block) {
        first[size_t{chosen_[block]} * line_words] = image[size_t{block} * line_words];
      }
      pool_->write(first);
      places_.flags = pool_->data();
      places_.lines = lines_->data();
    }
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
  words table_;
  std::optional<words> pool_;     ///< of lines, if the flags lie there
  std::vector<uint32_t> chosen_;  ///< of these, by block
  std::optional<words> lines_;    ///< the same where blocks read it
  places_type places_;
};

/// The base of cuda_neighbour_storage and host_neighbour_storage.
template <class Grid, class Backend>
class neighbour_storage : public barrier_storage<grid::neighbour_flags, Grid, Backend, neighbour_table<Backend>> {
  using base = barrier_storage<grid::neighbour_flags, Grid, Backend, neighbour_table<Backend>>;

 public:
  /// The barrier to hand to a kernel.
  basic_neighbour_barrier<Grid> barrier() { return base::handle(neighbour_blocks(this->placement().places())); }

 protected:
  neighbour_storage(const typename Backend::place& where, const neighbourhood& who, uint32_t first_phase,
                    neighbour_table<Backend>&& table)
      : base(where, who.blocks(), first_phase, std::move(table)) {}
};

}  // namespace detail

#endif

}  // namespace gpusync
