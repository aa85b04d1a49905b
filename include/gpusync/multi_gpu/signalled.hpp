// The exchange of a barrier across GPUs whose messages are a communication library's signals: for GPUs of several
// hosts.
#pragma once

#include <gpusync/core/arrival_log.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/multi_gpu/exchange.hpp>

namespace gpusync::multi_gpu {

/// @page Signals
/// A communication library as an exchange needs it: a struct without data, with static functions. Its memory is
/// symmetric: each GPU has words of the same kind, and by the address of its own the library finds another's.
/// - `family`: the name of the barrier
/// - `order_of_stores`: the order that a store to a reachable peer must have behind complete(): relaxed, if that has
///   released what came before, or else release
/// - `complete(grid)`: what this GPU's threads have written to any GPU, by the library's calls or by stores, and what
///   the calling thread has acquired, is there before what the thread sends next
/// - `set(grid, word, value, peer)`: stores to that peer's counterpart of a word of this GPU's; waits for nothing
/// - `add(grid, word, value, peer)`: the same for a 32-bit word and an addition
/// - `see(word, before)`: called by a thread that has seen the word at another value than `before`, where not all peers
///   are reachable: what came before that value is visible to it from now on

/// A word of 64 bits for each GPU on every GPU, set by the leading blocks to the number of the phase: by plain stores
/// where a GPU reaches the other's memory, by signals elsewhere. A block polls its own GPU's copy of all words,
/// wherever the others are. One hop. Fulfils @ref Exchange.
template <class Signals>
struct signalled {
  using word = uint64_t;
  /// Both lines together are the words of all GPUs.
  using layout = exchange_layout<128, 128>;
  /// How a word is set on another host.
  using signals = Signals;
  static constexpr const char* family = Signals::family;
  static constexpr bool repeatable = false;  // one quiet and one message are dear
  static constexpr bool places_lines = false;

  GPUSYNC_HD static constexpr uint32_t senders(uint32_t gpus) { return gpus; }
  GPUSYNC_HD static constexpr uint32_t sources(uint32_t gpus) { return gpus; }
  /// As all_to_all.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t phase_of(Grid, const exchange_places& at) {
    return phase_in(Grid::memory::template load<memory_order::relaxed, scope::system>(words_of(at.line[0]) + at.gpu));
  }
  GPUSYNC_HD static const word* source(const exchange_places& at, uint32_t) { return words_of(at.line[0]); }
  GPUSYNC_HD static constexpr bool reached(word found, uint32_t goal) { return phase_reached(phase_in(found), goal); }
  GPUSYNC_HD static constexpr uint32_t word_of(uint32_t phase) { return phase; }
  GPUSYNC_HD static constexpr uint32_t stamp(uint32_t goal) { return all_to_all::stamp(goal); }
  /// The phase that a word tells of. Its other half may be anything.
  GPUSYNC_HD static constexpr uint32_t phase_in(word found) { return static_cast<uint32_t>(found); }
  /// A GPU's words as they lie in memory.
  GPUSYNC_HD static word* words_of(uint32_t* line) { return reinterpret_cast<word*>(line); }

  /// This GPU's word on the i-th sender's peer: the others first. Null if that is out of reach.
  GPUSYNC_HD static uint32_t* target(const peer* peers, uint32_t gpu, uint32_t gpus, uint32_t i) {
    uint32_t* const line = peers[(gpu + 1 + i) % gpus].line[0];
    return line == nullptr ? nullptr : line + gpu * (sizeof(word) / sizeof(uint32_t));
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status tell(Grid grid, const sender& own, uint32_t i, uint32_t goal, Context&) {
    word* to = words_of(own.out);
    Signals::complete(grid);
    for (;;) {
      if (to != nullptr) {
        Grid::memory::template store<Signals::order_of_stores, scope::system>(to, word{goal});
      } else {
        Signals::set(grid, words_of(own.peers[own.gpu].line[0]) + own.gpu, word{goal},
                     own.peers[(own.gpu + 1 + i) % own.gpus]);
      }
      i += own.step;
      if (i >= own.gpus) return wait_status::completed;
      to = words_of(target(own.peers, own.gpu, own.gpus, i));
    }
  }
  GPUSYNC_API static void see(const sender& own, const word* at, uint32_t goal) {
    if (own.across_hosts) Signals::see(at, word{goal - 1});
  }
};

/// The members of a barrier across GPUs of which some may be on other hosts: all blocks of all of them. The grids are
/// taken to be of one size: who is to be looked for after a time-out. Fulfils @ref Members.
///
/// Blocks of a GPU whose memory is out of reach are not looked for one by one, for that would be one more wait for it:
/// it counts as late until its word says otherwise, with timeout_report::unknown_block for a block.
template <class Exchange>
class across_hosts : public whole_grid {
 public:
  /// Of GPU `gpu` of `gpus`, whose memory and numbers `peers` has.
  GPUSYNC_HD across_hosts(const peer* peers, uint32_t gpu, uint32_t gpus) : peers_(peers), gpu_(gpu), gpus_(gpus) {}

  /// Those of one GPU after the other.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t places(Grid grid) const {
    return gpus_ * grid.blocks();
  }
  /// The GPU's rank, and in the low bits the block.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t block_at(Grid grid, uint32_t place) const {
    const uint32_t gpu = place / grid.blocks();
    const uint32_t block = peers_[gpu].reachable() ? place % grid.blocks() : +timeout_report::unknown_block;
    return gpu << timeout_report::block_bits | block;
  }
  /// A GPU out of reach has one place.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool takes_part(Grid grid, uint32_t place) const {
    return place % grid.blocks() == 0 || peers_[place / grid.blocks()].reachable();
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD entry_in_log in_log(Grid grid, const arrival_log&, uint32_t place) const {
    const uint32_t gpu = place / grid.blocks(), block = place % grid.blocks();
    if (peers_[gpu].reachable()) {
      return entry_in_log::at(grid, peers_[gpu].arrived + block, peers_[gpu].entered + block);
    }
    const typename Exchange::word told = Grid::memory::template load<memory_order::relaxed, scope::system>(
        Exchange::words_of(peers_[gpu_].line[0]) + gpu);
    return {Exchange::stamp(Exchange::phase_in(told)), 0};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void tell_others(Grid grid) const {
    for (uint32_t i = 0; i < gpus_; ++i) {
      if (i == gpu_) continue;
      if (peers_[i].reachable()) {
        Grid::memory::template add<memory_order::relaxed, scope::system>(peers_[i].claimed,
                                                                         +arrival_log::one_elsewhere);
      } else {
        Exchange::signals::add(grid, peers_[gpu_].claimed, +arrival_log::one_elsewhere, peers_[i]);
      }
    }
  }

 private:
  const peer* peers_;
  uint32_t gpu_, gpus_;
};

}  // namespace gpusync::multi_gpu
