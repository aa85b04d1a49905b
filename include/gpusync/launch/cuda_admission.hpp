// Whether all blocks of a launch on a CUDA device run at once. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <string>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/launch/residency.hpp>
#include <gpusync/launch/shape.hpp>

namespace gpusync {

/// An extent as CUDA has it.
inline dim3 to_dim3(const extent& size) {
  return dim3(size.x, size.y, size.z);
}

/// Throws invalid_argument for a shape that no launch on this device can have.
inline void check_shape(const cuda_device& device, const launch_shape& shape) {
  const cudaDeviceProp& properties = device.properties();
  if (shape.blocks.count() == 0 || shape.threads.count() == 0) {
    throw invalid_argument("A launch needs at least one block of one thread; it was given " +
                           std::to_string(shape.blocks.count()) + " blocks of " +
                           std::to_string(shape.threads.count()) + " threads.");
  }
  const auto most = static_cast<uint64_t>(properties.maxThreadsPerBlock);
  if (shape.threads.count() > most) {
    throw invalid_argument("A block of " + std::to_string(shape.threads.count()) + " threads is more than " +
                           device.name() + " allows: at most " + std::to_string(most) + ".");
  }
  if (shape.shared_bytes > properties.sharedMemPerBlockOptin) {
    throw invalid_argument("A block with " + std::to_string(shape.shared_bytes) +
                           " bytes of dynamic shared memory is more than " + device.name() + " allows: at most " +
                           std::to_string(properties.sharedMemPerBlockOptin) +
                           ", the kernel's static memory included.");
  }
  if (shape.cluster == 0 || shape.blocks.x % shape.cluster != 0) {
    throw invalid_argument("A grid of " + std::to_string(shape.blocks.x) +
                           " blocks along x cannot be cut into clusters of " + std::to_string(shape.cluster) + ".");
  }
  if (shape.cluster > 1 && properties.major < 9) {
    throw invalid_argument("Clusters need compute capability 9.0; " + device.name() + " has " +
                           std::to_string(properties.major) + "." + std::to_string(properties.minor) + ".");
  }
}

namespace detail {

inline cudaFuncAttributes attributes_of(const void* kernel) {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  return attributes;
}

inline sm_resources resources_of(const cudaDeviceProp& device) {
  return {device.maxThreadsPerMultiProcessor, device.maxBlocksPerMultiProcessor, device.regsPerMultiprocessor,
          device.sharedMemPerMultiprocessor, device.reservedSharedMemPerBlock};
}

inline block_needs needs_of(const cudaFuncAttributes& kernel, const launch_shape& shape) {
  return {static_cast<uint32_t>(shape.threads.count()), kernel.numRegs, kernel.sharedSizeBytes + shape.shared_bytes};
}

/// The largest cluster that every device with clusters takes.
constexpr uint32_t portable_cluster = 8;

/// A launch, in clusters if the shape has them; cooperative, unless its blocks need not run at once.
class launch_config {
 public:
  launch_config(const launch_shape& shape, cudaStream_t stream, bool at_once = true) {
    config_.gridDim = to_dim3(shape.blocks);
    config_.blockDim = to_dim3(shape.threads);
    config_.dynamicSmemBytes = shape.shared_bytes;
    config_.stream = stream;
    config_.attrs = attributes_;
    config_.numAttrs = shape.cluster > 1 ? 2 : 1;
    attributes_[0].id = cudaLaunchAttributeCooperative;
    attributes_[0].val.cooperative = at_once ? 1 : 0;
    attributes_[1].id = cudaLaunchAttributeClusterDimension;
    attributes_[1].val.clusterDim.x = shape.cluster;
    attributes_[1].val.clusterDim.y = attributes_[1].val.clusterDim.z = 1;
  }
  launch_config(const launch_config&) = delete;
  launch_config& operator=(const launch_config&) = delete;
  const cudaLaunchConfig_t* get() const { return &config_; }

 private:
  cudaLaunchConfig_t config_{};
  cudaLaunchAttribute attributes_[2]{};
};

/// A kernel that the runtime knows by its address: what residency_of() asks of it.
class runtime_kernel {
 public:
  explicit runtime_kernel(const void* address) : address_(address), attributes_(attributes_of(address)) {}

  const cudaFuncAttributes& attributes() const { return attributes_; }

  /// Raises its limit of dynamic shared memory.
  void allow_shared(size_t bytes) const {
    check_cuda(cudaFuncSetAttribute(address_, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
               "cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize)");
  }
  /// That run at once on a multiprocessor.
  int blocks_per_sm(uint64_t threads, size_t shared_bytes) const {
    int per_sm = 0;
    check_cuda(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, address_, static_cast<int>(threads), shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return per_sm;
  }
  /// Clusters of a shape that run at once.
  uint64_t clusters(const cuda_device& device, const launch_shape& shape) const {
    if (shape.cluster > portable_cluster) {
      check_cuda(cudaFuncSetAttribute(address_, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                 "cudaFuncSetAttribute(cudaFuncAttributeNonPortableClusterSizeAllowed)");
    }
    int clusters = 0;
    const launch_config config(shape, nullptr);
    const cudaError_t code = cudaOccupancyMaxActiveClusters(&clusters, address_, config.get());
    if (code == cudaErrorInvalidClusterSize || code == cudaErrorInvalidValue) {
      (void)cudaGetLastError();
      throw invalid_argument("Clusters of " + std::to_string(shape.cluster) + " blocks are more than " + device.name() +
                             " has for this kernel: 8 can always be had, up to 16 sometimes.");
    }
    check_cuda(code, "cudaOccupancyMaxActiveClusters");
    return static_cast<uint64_t>(clusters);
  }

 private:
  const void* address_;
  cudaFuncAttributes attributes_;
};

/// The runtime's count of blocks for a kernel and a shape that have passed check_shape(), and what explains it. Raises
/// the kernel's limit of dynamic shared memory if the shape needs that.
template <class Kernel>
residency residency_of(const cuda_device& device, const Kernel& kernel, const launch_shape& asked) {
  check_shape(device, asked);
  const cudaDeviceProp& properties = device.properties();
  const cudaFuncAttributes& attributes = kernel.attributes();
  launch_shape shape = asked;
  const auto required = static_cast<uint32_t>(attributes.requiredClusterWidth);
  if (required > 1 || attributes.requiredClusterHeight > 1 || attributes.requiredClusterDepth > 1) {
    if (asked.cluster != 1 && asked.cluster != required) {
      throw invalid_argument("The kernel was compiled for clusters of " + std::to_string(required) +
                             " blocks (__cluster_dims__), and the launch asks for " + std::to_string(asked.cluster) +
                             ".");
    }
    if (attributes.requiredClusterHeight > 1 || attributes.requiredClusterDepth > 1) {
      throw invalid_argument(
          "The kernel was compiled for clusters in two or three dimensions (__cluster_dims__); launches here have them "
          "along x.");
    }
    shape.cluster = required;
    check_shape(device, shape);
  }
  const uint64_t threads = shape.threads.count();
  if (attributes.sharedSizeBytes + shape.shared_bytes > properties.sharedMemPerBlockOptin) {
    throw invalid_argument("A block of this kernel would take " +
                           std::to_string(attributes.sharedSizeBytes + shape.shared_bytes) +
                           " bytes of shared memory (" + std::to_string(attributes.sharedSizeBytes) + " static and " +
                           std::to_string(shape.shared_bytes) + " dynamic); " + device.name() + " allows at most " +
                           std::to_string(properties.sharedMemPerBlockOptin) + ".");
  }
  if (shape.shared_bytes > static_cast<size_t>(attributes.maxDynamicSharedSizeBytes)) {
    kernel.allow_shared(shape.shared_bytes);
  }
  // A block larger than the device or the kernel allows makes the query fail instead of answering 0.
  const bool allowed = threads <= static_cast<uint64_t>(attributes.maxThreadsPerBlock);
  const int per_sm = allowed ? kernel.blocks_per_sm(threads, shape.shared_bytes) : 0;
  residency found = explain_residency(device.sm_count(), per_sm, resources_of(properties), needs_of(attributes, shape));
  if (per_sm == 0 && found.limited_by.empty()) {
    found.limited_by.push_back("the kernel's __launch_bounds__ of " + std::to_string(attributes.maxThreadsPerBlock) +
                               " threads");
  }
  if (shape.cluster > 1 && per_sm > 0) found.in_clusters = kernel.clusters(device, shape) * shape.cluster;
  return found;
}

/// What this thread has found out of kernels and shapes, so that a launch like an earlier one asks the runtime nothing
/// (0.5 us). A kernel's attributes may change behind it; then the launch itself fails, and all is asked again.
class admissions {
 public:
  struct key {
    const void* kernel;
    int device;
    uint32_t cluster;
    uint64_t threads;
    size_t shared_bytes;
    bool operator==(const key& other) const {
      return kernel == other.kernel && device == other.device && cluster == other.cluster && threads == other.threads &&
             shared_bytes == other.shared_bytes;
    }
  };
  /// The most blocks that run at once; 0 if it is not known.
  uint64_t find(const key& which) const {
    for (size_t i = 1; i <= entries_.size(); ++i) {  // the newest first
      const entry& one = entries_[(next_ - i) % entries_.size()];
      if (one.blocks != 0 && one.which == which) return one.blocks;
    }
    return 0;
  }
  void add(const key& which, uint64_t blocks) { entries_[next_++ % entries_.size()] = {which, blocks}; }
  void clear() { *this = admissions(); }

  static admissions& of_this_thread();

 private:
  struct entry {
    key which{};
    uint64_t blocks = 0;
  };
  std::array<entry, 8> entries_{};
  size_t next_ = 0;
};

inline thread_local admissions known_admissions;

inline admissions& admissions::of_this_thread() {
  return known_admissions;
}

inline void forget_admissions() {
  admissions::of_this_thread().clear();
}

/// Whether the blocks can all run at once. If they cannot, and `must` or none of them can run at all, throws
/// not_co_resident, with the limit and its cause; invalid_argument for what no launch of the kernel can have.
inline bool runs_at_once(const cuda_device& device, const void* kernel, const launch_shape& shape, bool must) {
  admissions& known = admissions::of_this_thread();
  const admissions::key which{kernel, device.ordinal(), shape.cluster, shape.threads.count(), shape.shared_bytes};
  const uint64_t most = known.find(which);
  if (shape.blocks.count() <= most) return true;
  if (!must && most != 0) return false;
  const runtime_kernel asked(kernel);
  const residency found = residency_of(device, asked, shape);
  const bool at_once = shape.blocks.count() <= found.blocks();
  if (must || found.blocks() == 0) {
    require_co_resident(found, device.name(), shape, needs_of(asked.attributes(), shape));
  }
  known.add(which, found.blocks());
  return at_once;
}

}  // namespace detail

/// How many blocks of the kernel at an address, as cudaLaunchKernel() takes it, run at once on `device` in the given
/// shape, and what limits them. Throws invalid_argument for a shape that no launch can have.
inline residency max_co_resident(const cuda_device& device, const void* kernel, const launch_shape& shape) {
  const cuda_device_scope scope(device.ordinal());
  return detail::residency_of(device, detail::runtime_kernel(kernel), shape);
}

/// Throws what a launch of the kernel at an address would throw in this shape, whatever its arguments: invalid_argument
/// for a shape that no launch can have, not_co_resident, with the limit and its cause, if the blocks cannot all run at
/// once.
inline void require_co_resident(const cuda_device& device, const void* kernel, const launch_shape& shape) {
  const cuda_device_scope scope(device.ordinal());
  check_shape(device, shape);
  (void)detail::runs_at_once(device, kernel, shape, true);
}

}  // namespace gpusync
