// Wait-free objects in global and in shared memory, and the fault-tolerant barrier, for kernels alone: no host code.
#pragma once

#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/handle.hpp>
#include <gpusync/rmw/cas.hpp>
#include <gpusync/rmw/cas128.hpp>
#include <gpusync/rmw/coalesced_store.hpp>
#include <gpusync/rmw/cuda_machine.cuh>
#include <gpusync/rmw/fault_tolerant_barrier.hpp>
#include <gpusync/rmw/object.hpp>

namespace gpusync {

/// A wait-free object in global memory, whose participants are warps of any blocks.
template <class State, uint32_t N, class Consensus = rmw::cas<>, class Operation = rmw::named_operation<State>,
          class Machine = rmw::cuda_warp<rmw::space::global>>
using rmw_object = basic_rmw_object<State, N, Consensus, Operation, Machine>;

/// A wait-free object in the shared memory of a block, whose participants are its warps.
template <class State, uint32_t N, class Consensus = rmw::cas<>, class Operation = rmw::named_operation<State>,
          class Machine = rmw::cuda_warp<rmw::space::shared>>
using shared_rmw_object = basic_rmw_object<State, N, Consensus, Operation, Machine>;

namespace rmw {

namespace detail {

/// Whether a policy stands on something that must have been tested on a device.
template <class Consensus>
inline constexpr bool needs_evidence = !gpusync::detail::same_type<typename Consensus::evidence, void>;

}  // namespace detail

/// Says that a device has been asked for: what evidence_permit is for some policy.
struct device_permit {
  gpusync::detail::handle_header header_;  ///< names the device
  /// How a launch finds it among the arguments.
  GPUSYNC_HD const gpusync::detail::handle_header& header() const { return header_; }
};

/// Says that a device has been asked for: what require_evidence() gives, to be handed to the kernel and from there to
/// shared_rmw_storage::start(). A launch on another device is refused.
template <class Consensus>
struct evidence_permit : device_permit {
  /// For launches on host threads: what one thread of the kernel gets.
  GPUSYNC_HD evidence_permit(gpusync::detail::for_one_thread, const evidence_permit& other) : device_permit(other) {}
  /// Use require_evidence() instead, which looks at the device.
  GPUSYNC_HD explicit evidence_permit(const device_permit& asked) : device_permit(asked) {}
};

}  // namespace rmw

/// The memory of an object in shared memory:
///   __shared__ gpusync::shared_rmw_storage<gpusync::shared_rmw_object<uint32_t, 8>> memory;
///   auto counter = memory.start(0).join(warp);
template <class Object>
struct alignas(128) shared_rmw_storage {
  uint64_t words[Object::words];  ///< the object's; written by start()

  /// Makes a fresh object. All threads of the block call it together, before the first join(). Not for policies that
  /// stand on evidence.
  __device__ Object start(const typename Object::state_type& first) {
    static_assert(!rmw::detail::needs_evidence<typename Object::consensus>,
                  "this policy stands on evidence for one device: hand what rmw::require_evidence<Consensus>(device) "
                  "returns to the kernel, and from there to start(first, permit)");
    return start_permitted(first);
  }
  /// The same for any policy, with what rmw::require_evidence() has given to the kernel.
  __device__ Object start(const typename Object::state_type& first,
                          const rmw::evidence_permit<typename Object::consensus>&) {
    return start_permitted(first);
  }

 private:
  __device__ Object start_permitted(const typename Object::state_type& first) {
    const uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
    const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    for (uint32_t i = thread; i < Object::words; i += threads) words[i] = Object::start_word(i, first);
    __syncthreads();
    return Object(words);
  }
};

namespace rmw {

/// The warp that acts for its block at a fault-tolerant barrier: the block's first 32 threads, converged.
struct cuda_survivor : cuda_warp<space::global> {
  /// Stores `mark` to the flag, then adds 1 to the word, and returns what that held. Both release what came before; the
  /// addition acquires, too. One fence for both.
  __device__ __forceinline__ uint64_t arrive(uint64_t* flag, uint64_t mark, uint64_t* word) const {
    uint64_t before = 0;
    if (lane() == 0) {
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      store<memory_order::relaxed>(flag, mark);
      before = access::template fetch_add<memory_order::acquire>(word, uint64_t{1});
    }
    return of_lane_0(before);
  }
  /// One poll of a word in which `last` was found last. One lane polls: the others wait for it.
  __device__ __forceinline__ uint64_t poll(const uint64_t* word, uint64_t last) const {
    if (lane() == 0) last = load<memory_order::relaxed>(word);
    return of_lane_0(last);
  }
  /// Makes visible what was released before the value was written that was polled last.
  __device__ __forceinline__ void acquire(const uint64_t* word) const {
    if (lane() == 0) (void)load<memory_order::acquire>(word);
    __syncwarp();
  }
  /// Whether the deadline is over: by the clock that one lane has read.
  template <class Grid>
  __device__ __forceinline__ bool late(Grid grid, deadline& limit) const {
    return limit.passed(of_lane_0(grid.now()));
  }

 private:
  __device__ __forceinline__ uint64_t of_lane_0(uint64_t word) const {
    return __shfl_sync(0xffffffffu, static_cast<unsigned long long>(word), 0);
  }
};

}  // namespace rmw

/// A fault-tolerant barrier for grids of up to N blocks, of 32 threads or more.
template <uint32_t N>
using fault_tolerant_barrier = basic_fault_tolerant_barrier<N, cuda_grid, rmw::cuda_survivor>;

}  // namespace gpusync
