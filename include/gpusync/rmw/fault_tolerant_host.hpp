// The fault-tolerant barrier for blocks that are host threads.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include <gpusync/core/host_grid.hpp>
#include <gpusync/core/size.hpp>
#include <gpusync/core/storage_control.hpp>
#include <gpusync/rmw/fault_tolerant_barrier.hpp>
#include <gpusync/rmw/host.hpp>

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
class host_fault_tolerant_storage {
 public:
  /// What a kernel gets.
  using barrier_type = basic_fault_tolerant_barrier<N, Grid, Machine>;

  /// Throws invalid_argument unless there are 1 to N blocks.
  explicit host_fault_tolerant_storage(block_count blocks = N)
      : blocks_(rmw::require_survivable<N>(blocks)),
        lines_(std::make_unique<line[]>(bytes() / sizeof(line) + 1)),
        control_(std::make_unique<control>(memory(), bytes() / sizeof(uint64_t), blocks_)) {}

  /// The barrier to hand to a kernel by gpusync::launch(), which makes all blocks members again before each launch.
  /// Blocks that the launch does not have are lost in the first phase.
  barrier_type barrier() {
    return barrier_type(memory(), blocks_,
                        {detail::handle_header::magic, control_->number(), detail::handle_kind::survivors, 0, blocks_});
  }

  /// The blocks that it was made for.
  uint32_t blocks() const { return blocks_; }
  /// Bytes of memory.
  size_t bytes() const { return barrier_type::bytes(blocks_); }

 private:
  struct alignas(128) line {
    uint64_t words[16];
  };

  class control : public detail::storage_control {
   public:
    control(uint64_t* words, size_t count, uint32_t blocks) : words_(words), count_(count), blocks_(blocks) {}

    int device() const override { return detail::launch_request::host_launch; }
    void check(const detail::handle_header&, const detail::launch_request& launch) override {
      if (launch.blocks <= blocks_) return;
      throw invalid_argument("The grid has " + std::to_string(launch.blocks) +
                             " blocks, but its fault-tolerant barrier's storage was made for " +
                             std::to_string(blocks_) + ". Make a larger storage.");
    }
    void prepare(const detail::handle_header&, const detail::launch_request&) override {
      std::fill(words_, words_ + count_, uint64_t{0});
    }

   private:
    uint64_t* words_;
    size_t count_;
    uint32_t blocks_;
  };

  uint64_t* memory() { return lines_[0].words; }

  uint32_t blocks_;
  std::unique_ptr<line[]> lines_;
  std::unique_ptr<control> control_;
};

}  // namespace gpusync
