// Wait-free objects on a CUDA device: in global and in shared memory.
#pragma once

#include <string>

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_code.cuh>
#include <gpusync/rmw/device.cuh>
#include <gpusync/rmw/object_storage.hpp>

namespace gpusync {

/// A consensus policy that stands on something which was not tested on this device.
class untested_device : public error {
 public:
  using error::error;
};

namespace rmw {

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
  if constexpr (Consensus::compute_capability != 0) {
    constexpr int needed = Consensus::compute_capability;
    const std::string name = Consensus::name,
                      capability = std::to_string(needed / 10) + "." + std::to_string(needed % 10);
    const cudaDeviceProp& properties = device.properties();
    if (properties.major * 10 + properties.minor < needed) {
      throw invalid_argument("Consensus " + name + " needs a device of compute capability " + capability + ", and " +
                             device.name() + " has " + std::to_string(properties.major) + "." +
                             std::to_string(properties.minor) + ". Use rmw::cas.");
    }
    if (code_for(device) < needed) {
      throw invalid_argument("Consensus " + name + " needs code for compute capability " + capability +
                             ", and what this program has for " + device.name() +
                             " was compiled for an older one. Compile for it " +
                             "(CMAKE_CUDA_ARCHITECTURES=native), or use rmw::cas.");
    }
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

}  // namespace gpusync
