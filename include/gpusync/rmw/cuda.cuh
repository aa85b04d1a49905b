// Wait-free objects on a CUDA device: in global and in shared memory.
#pragma once

#include <string>
#include <type_traits>

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_code.cuh>
#include <gpusync/core/handle.hpp>
#include <gpusync/rmw/cas.hpp>
#include <gpusync/rmw/cas128.hpp>
#include <gpusync/rmw/coalesced_store.hpp>
#include <gpusync/rmw/cuda_machine.cuh>
#include <gpusync/rmw/object_storage.hpp>

namespace gpusync {

/// A wait-free object in global memory, whose participants are warps of any blocks.
template <class State, uint32_t N, class Consensus = rmw::cas<>, class Operation = rmw::named_operation<State>,
          class Machine = rmw::cuda_warp<rmw::space::global>>
using rmw_object = basic_rmw_object<State, N, Consensus, Operation, Machine>;

/// A wait-free object in the shared memory of a block, whose participants are its warps.
template <class State, uint32_t N, class Consensus = rmw::cas<>, class Operation = rmw::named_operation<State>,
          class Machine = rmw::cuda_warp<rmw::space::shared>>
using shared_rmw_object = basic_rmw_object<State, N, Consensus, Operation, Machine>;

/// A consensus policy that stands on something which was not tested on this device.
class untested_device : public error {
 public:
  using error::error;
};

namespace rmw {

namespace detail {

/// Whether a policy stands on something that must have been tested on a device.
template <class Consensus>
inline constexpr bool needs_evidence = !std::is_void<typename Consensus::evidence>::value;

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

/// Throws untested_device if objects with this policy stand on evidence for another device than this one, and
/// invalid_argument if the device, or the code that was compiled for it, cannot run it at all. cuda_rmw_storage calls
/// it; a launch whose blocks have objects in shared memory needs the permit that it returns.
template <class Consensus>
evidence_permit<Consensus> require_evidence(const cuda_device& device) {
  if constexpr (detail::needs_evidence<Consensus>) {
    const std::string tested = Consensus::evidence::device;
    if (tested != device.name()) {
      throw untested_device("Consensus " + std::string(Consensus::name) +
                            " needs a masked store that is seen as one, which was tested on " +
                            (tested.empty() ? "no device" : tested) + " and not on " + device.name() +
                            ". Run gpusync run store-atomicity there, or use rmw::cas.");
    }
  }
  if (std::string(Consensus::name) == "cas128" && device.properties().major < 9) {
    throw invalid_argument("Consensus cas128 needs a device of compute capability 9.0, and " + device.name() + " has " +
                           std::to_string(device.properties().major) + "." + std::to_string(device.properties().minor) +
                           ". Use rmw::cas.");
  }
  if (std::string(Consensus::name) == "cas128" && code_for(device) < 90) {
    throw invalid_argument("Consensus cas128 needs code for compute capability 9.0, and what this program has for " +
                           device.name() + " was compiled for an older one. Compile for it " +
                           "(CMAKE_CUDA_ARCHITECTURES=native), or use rmw::cas.");
  }
  return evidence_permit<Consensus>(
      device_permit{{gpusync::detail::handle_header::magic, 0, gpusync::detail::handle_kind::evidence,
                     static_cast<uint32_t>(device.ordinal()), 1}});
}

}  // namespace rmw

/// Owns the memory of one object in a CUDA device's global memory. Reusable by one launch after another without a
/// reset, whoever has stopped in the middle of what.
template <class State, uint32_t N, class Consensus = rmw::cas<>, class Operation = rmw::named_operation<State>,
          class Machine = rmw::cuda_warp<rmw::space::global>>
class cuda_rmw_storage
    : public detail::object_storage<basic_rmw_object<State, N, Consensus, Operation, Machine>, detail::cuda_backend> {
 public:
  /// Throws untested_device or invalid_argument as rmw::require_evidence() says, cuda_failure if memory is short.
  explicit cuda_rmw_storage(const cuda_device& device, const State& first = State{})
      : cuda_rmw_storage::object_storage((rmw::require_evidence<Consensus>(device), device), first) {}
};

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

}  // namespace gpusync
