// The memory behind a barrier that kernels are given as one address: device_layout.hpp says what lies there.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_memory_range.hpp>
#include <gpusync/device_layout.hpp>
#include <gpusync/grid/counter_places.cuh>

namespace gpusync {

/// Owns a barrier whose whole state one address leads to, for kernels that are compiled at run time or in another
/// language: gpusync::barrier_at(address) makes the barrier there (gpusync/device.cuh). For grids of up to `blocks`
/// blocks. Reusable by one launch after another without a reset, unless a wait timed out. For launches on one stream,
/// as cuda_barrier_storage; launch_function() checks all this before it starts a kernel.
class addressed_barrier_storage {
 public:
  /// In memory of its own, with its counters where a survey of the L2 cache wants them (see cuda_barrier_storage for
  /// what that takes). Throws invalid_argument for blocks that no barrier serves, or a table that is not valid,
  /// cuda_failure if memory is short.
  addressed_barrier_storage(const cuda_device& device, block_count blocks)
      : addressed_barrier_storage(device, blocks, barrier_tuning::shipped_for(device.name())) {}
  /// The same with a table of one's own.
  addressed_barrier_storage(const cuda_device& device, block_count blocks, const barrier_tuning& tuning)
      : control_(std::make_unique<control>(device, detail::require_servable<algorithm>(blocks),
                                           std::make_unique<placement>(device, tuning), nullptr)) {}

  /// In the caller's device memory, which must outlive it, with counters wherever that lies: bytes() of it, from a
  /// multiple of 128 on. Throws invalid_argument, with the numbers, if it is too small, begins elsewhere, or is no
  /// memory of this device.
  addressed_barrier_storage(const cuda_device& device, block_count blocks, void* memory, size_t bytes)
      : control_(std::make_unique<control>(device, required(device, blocks, memory, bytes), nullptr, memory)) {}

  /// Bytes of device memory that a barrier of up to so many blocks takes. Throws invalid_argument.
  static size_t bytes(block_count blocks) { return barrier_image::bytes(detail::require_servable<algorithm>(blocks)); }

  /// What kernels are given.
  uint64_t address() const { return control_->address(); }
  /// The most blocks of a grid.
  uint32_t capacity() const { return control_->blocks(); }
  /// The device's number.
  int device() const { return control_->device(); }
  /// Whether a survey has placed its counters: not in the caller's memory, nor where the L2 cache has one partition.
  bool placed() const { return control_->places != nullptr && control_->places->placed(); }

  /// The blocks that a timed-out wait missed, with the phase; empty if none timed out. At any time.
  std::vector<missing_block> missing() const { return missing_blocks(*control_->memory_of_report.get()); }
  /// What went wrong in a launch on it, in a sentence or two; empty if nothing did. At any time, also when a launch has
  /// failed and taken the CUDA context with it.
  std::string report() const { return control_->report(); }
  /// What it is, in a line.
  std::string describe() const {
    char place[32];
    std::snprintf(place, sizeof place, "%#llx", static_cast<unsigned long long>(address()));
    return "grid barrier of up to " + std::to_string(capacity()) + " blocks on CUDA device " +
           std::to_string(device()) + " (" + control_->where.name() + "), " + std::to_string(bytes(capacity())) +
           " bytes at " + place + (placed() ? ", placed by a survey of the L2 cache" : ", lines as they come");
  }

  /// Back to the first state. Needed after a wait timed out. Precondition: no kernel uses it, and no launch on it is
  /// queued. Blocks. Throws invalid_argument if the caller's memory has been freed, cuda_failure.
  void reset() { control_->reset(); }
  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { control_->order.forget(); }

  /// How a launch finds it.
  detail::handle_header header() const { return control_->header(detail::handle_kind::whole_grid); }

 private:
  using algorithm = barrier_image::algorithm;
  using placement = detail::counter_placement<algorithm>;

  static uint32_t required(const cuda_device& device, block_count blocks, void* memory, size_t bytes) {
    const size_t needed = addressed_barrier_storage::bytes(blocks);
    const auto address = reinterpret_cast<uint64_t>(memory);
    detail::require_image(blocks, bytes, address);
    detail::require_memory(device, address, needed, "The buffer");
    return static_cast<uint32_t>(static_cast<uint64_t>(blocks));
  }

  /// All that is behind it, which must stay where it is when the storage is moved.
  class control final : public detail::barrier_control {
   public:
    control(const cuda_device& device, uint32_t blocks, std::unique_ptr<placement>&& placed, void* given)
        : control(device, blocks, std::move(placed), given, detail::cuda_report(device, blocks)) {}
    ~control() override {
      this->retire();
      if (callers_ != nullptr) forget_image();
    }

    uint64_t address() const { return reinterpret_cast<uint64_t>(callers_ != nullptr ? callers_ : own_.address()); }
    uint32_t blocks() const { return capacity(); }

    void check(const detail::handle_header& handle, const detail::launch_request& launch) override {
      barrier_control::check(handle, launch);
      if (callers_ != nullptr) require_callers();
      order.check(launch);
    }
    void prepare(const detail::handle_header&, const detail::launch_request&) override { order.follow(); }
    void withdraw() override { order.withdraw(); }

    void reset() {
      if (callers_ != nullptr) require_callers();
      timeout_report* const on_host = memory_of_report.get();
      std::memset(static_cast<void*>(on_host), 0, timeout_report::bytes(capacity()));
      on_host->capacity = capacity();
      const cuda_device_scope scope(where.ordinal());
      check_cuda(cudaHostGetDevicePointer(&report_on_device_, on_host, 0), "cudaHostGetDevicePointer");
      std::vector<unsigned char> image(barrier_image::bytes(capacity()));
      write_image(image.data(), image.size(), capacity(), static_cast<uint32_t>(where.sm_count()), address(),
                  reinterpret_cast<uint64_t>(report_on_device_), places != nullptr ? places->rules() : unplaced_rules);
      if (places != nullptr) {
        barrier_image head;
        std::memcpy(static_cast<void*>(&head), image.data(), sizeof head);
        places->put(std::vector<uint32_t>(algorithm::words(capacity())), head.words, capacity());
        head.places = places->places();
        head.places.plan = {};  // the image has plans for each kind of grid
        std::memcpy(image.data(), static_cast<const void*>(&head), sizeof head);
      }
      write(image);
      order.forget();
    }

    cuda_device where;
    std::unique_ptr<placement> places;  ///< null: lines as they come
    detail::cuda_report memory_of_report;
    detail::cuda_order order;

   private:
    control(const cuda_device& device, uint32_t blocks, std::unique_ptr<placement>&& placed, void* given,
            detail::cuda_report&& report)
        : barrier_control(device.ordinal(), blocks, report.get()),
          where(device),
          places(std::move(placed)),
          memory_of_report(std::move(report)),
          order(device),
          callers_(given) {
      if (given == nullptr) own_ = cuda_buffer(device, barrier_image::bytes(blocks));
      reset();
      this->enlist();
    }

    void require_callers() const {
      detail::require_memory(where, address(), barrier_image::bytes(capacity()), "The barrier's memory");
    }
    /// A kernel that is launched with the address from now on is to find no barrier there. What lies there is looked at
    /// first, for the caller may have given the memory to others too early.
    void forget_image() const noexcept {
      try {
        require_callers();
        const cuda_device_scope scope(where.ordinal());
        barrier_image head;
        check_cuda(cudaMemcpy(static_cast<void*>(&head), reinterpret_cast<const void*>(address()), sizeof head,
                              cudaMemcpyDeviceToHost),
                   "cudaMemcpy");
        const bool own = head.tag == barrier_image::tag_of_images && head.report == report_on_device_;
        if (own) write(std::vector<unsigned char>(sizeof head.tag));
      } catch (const error&) {
        // The memory has gone before its barrier, or the context has.
      }
    }
    /// Sets the first bytes of its memory.
    void write(const std::vector<unsigned char>& bytes) const {
      const cuda_device_scope scope(where.ordinal());
      check_cuda(cudaMemcpy(reinterpret_cast<void*>(address()), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
                 "cudaMemcpy");
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }

    void* callers_;  ///< null: own_
    void* report_on_device_ = nullptr;
    cuda_buffer own_;
  };

  std::unique_ptr<control> control_;
};

}  // namespace gpusync
