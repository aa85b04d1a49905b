// What the storages of fault-tolerant barriers have in common, whatever memory is behind them.
#pragma once

#include <memory>
#include <string>

#include <gpusync/core/size.hpp>
#include <gpusync/core/storage_control.hpp>
#include <gpusync/rmw/fault_tolerant_barrier.hpp>

namespace gpusync::detail {

/// The base of cuda_fault_tolerant_storage and host_fault_tolerant_storage.
template <uint32_t N, class Grid, class Machine, class Backend>
class survivor_storage {
 public:
  using barrier_type = basic_fault_tolerant_barrier<N, Grid, Machine>;

  /// The barrier to hand to a kernel by gpusync::launch(), which makes all blocks members again before each launch (for
  /// other launches: check_launch()). Blocks that the launch does not have are lost in the first phase.
  barrier_type barrier() {
    return barrier_type(control_->words.data(), blocks_,
                        {handle_header::magic, control_->number(), handle_kind::survivors, 0, blocks_});
  }

  uint32_t blocks() const { return blocks_; }
  /// Bytes of the memory that blocks share.
  size_t bytes() const { return control_->words.bytes(); }

 protected:
  survivor_storage(const typename Backend::place& where, block_count blocks)
      : blocks_(rmw::detail::require_survivable<N>(blocks)), control_(std::make_unique<control>(where, blocks_)) {}

  void forget_order() { control_->order.forget(); }

 private:
  class control final : public storage_control {
   public:
    control(const typename Backend::place& where, uint32_t blocks)
        : words(where, barrier_type::bytes(blocks) / sizeof(uint64_t)),
          order(where),
          device_(Backend::device(where)),
          blocks_(blocks) {
      this->enlist();
    }
    ~control() override { this->retire(); }

    int device() const override { return device_; }
    void check(const handle_header&, const launch_request& launch) override {
      require_device(launch.device, device_, "A fault-tolerant barrier's storage");
      if (launch.blocks > blocks_) {
        throw invalid_argument("The grid has " + std::to_string(launch.blocks) +
                               " blocks, but its fault-tolerant barrier's storage was made for " +
                               std::to_string(blocks_) + ". Make a larger storage.");
      }
      if (launch.threads < Grid::warp_size) {
        throw invalid_argument("A fault-tolerant barrier needs blocks of at least a warp of " +
                               std::to_string(Grid::warp_size) + " threads, which acts for the block; these have " +
                               std::to_string(launch.threads) + ".");
      }
      order.check(launch);
    }
    void prepare(const handle_header&, const launch_request& launch) override {
      order.follow();
      words.clear(0, words.bytes() / sizeof(uint64_t), launch);
    }
    void release() override { order.release(); }

    typename Backend::template words<uint64_t> words;
    typename Backend::order order;

   private:
    int device_;
    uint32_t blocks_;
  };

  uint32_t blocks_;
  std::unique_ptr<control> control_;
};

}  // namespace gpusync::detail
