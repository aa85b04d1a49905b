// Checked launches on a CUDA device: what could deadlock is refused before it starts.
#pragma once

#include <cuda_runtime.h>

#include <tuple>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/launch/arguments.hpp>
#include <gpusync/launch/residency.hpp>

namespace gpusync {

namespace detail {

inline dim3 to_dim3(const extent& size) {
  return dim3(size.x, size.y, size.z);
}

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

/// A cooperative launch, in clusters if the shape has them.
class launch_config {
 public:
  launch_config(const launch_shape& shape, cudaStream_t stream) {
    config_.gridDim = to_dim3(shape.blocks);
    config_.blockDim = to_dim3(shape.threads);
    config_.dynamicSmemBytes = shape.shared_bytes;
    config_.stream = stream;
    config_.attrs = attributes_;
    config_.numAttrs = shape.cluster > 1 ? 2 : 1;
    attributes_[0].id = cudaLaunchAttributeCooperative;
    attributes_[0].val.cooperative = 1;
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

inline residency residency_of(const cuda_device& device, const void* kernel, const cudaFuncAttributes& attributes,
                              const launch_shape& shape) {
  const auto& properties = device.properties();
  int per_sm = 0;
  // A block larger than the device or the kernel allows makes the query fail instead of answering 0.
  if (shape.threads.count() <= static_cast<uint64_t>(attributes.maxThreadsPerBlock)) {
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, static_cast<int>(shape.threads.count()),
                                                             shape.shared_bytes),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  }
  residency found = explain_residency(device.sm_count(), per_sm, resources_of(properties), needs_of(attributes, shape));
  if (shape.cluster > 1 && per_sm > 0) {
    int clusters = 0;
    const launch_config config(shape, nullptr);
    check_cuda(cudaOccupancyMaxActiveClusters(&clusters, kernel, config.get()), "cudaOccupancyMaxActiveClusters");
    found.in_clusters = static_cast<uint64_t>(clusters) * shape.cluster;
  }
  return found;
}

/// Raises the kernel's limit of dynamic shared memory if the shape needs it.
inline void allow_shared(const void* kernel, const cudaFuncAttributes& attributes, const launch_shape& shape) {
  if (shape.shared_bytes <= static_cast<size_t>(attributes.maxDynamicSharedSizeBytes)) return;
  check_cuda(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes)),
      "cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize)");
}

inline void check_shape(const cuda_device& device, const launch_shape& shape) {
  if (shape.blocks.count() == 0 || shape.threads.count() == 0) {
    throw invalid_argument("A launch needs at least one block of one thread; it was given " +
                           std::to_string(shape.blocks.count()) + " blocks of " +
                           std::to_string(shape.threads.count()) + " threads.");
  }
  const auto most = static_cast<uint64_t>(device.properties().maxThreadsPerBlock);
  if (shape.threads.count() > most) {
    throw invalid_argument("A block of " + std::to_string(shape.threads.count()) + " threads is more than " +
                           device.name() + " allows: at most " + std::to_string(most) + ".");
  }
  if (shape.cluster == 0 || shape.blocks.x % shape.cluster != 0) {
    throw invalid_argument("A grid of " + std::to_string(shape.blocks.x) +
                           " blocks along x cannot be cut into clusters of " + std::to_string(shape.cluster) + ".");
  }
  if (shape.cluster > 1 && device.properties().major < 9) {
    throw invalid_argument("Clusters need compute capability 9.0; " + device.name() + " has " +
                           std::to_string(device.properties().major) + "." + std::to_string(device.properties().minor) +
                           ".");
  }
}

}  // namespace detail

/// How many blocks of `kernel` of the given shape run at once on `device`, and what limits them.
template <class... Parameters>
residency max_co_resident(const cuda_device& device, void (*kernel)(Parameters...), const launch_shape& shape) {
  const cuda_device_scope scope(device.ordinal());
  const void* function = reinterpret_cast<const void*>(kernel);
  const cudaFuncAttributes attributes = detail::attributes_of(function);
  detail::allow_shared(function, attributes, shape);
  return detail::residency_of(device, function, attributes, shape);
}

/// Starts `kernel` on `stream` with all its blocks running at once, as grid barriers need.
///
/// Asynchronous: returns when the launch is queued. It can be captured into a CUDA graph.
/// Throws not_co_resident, with the limit and its cause, if the blocks cannot all run at once; invalid_argument for a
/// shape that no launch can have or a barrier whose storage is too small; broken_barrier for one that must be reset;
/// cuda_failure for the rest. Nothing was started then.
template <class... Parameters, class... Arguments>
void launch(const cuda_device& device, cudaStream_t stream, const launch_shape& shape, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the kernel takes another number of arguments");
  const cuda_device_scope scope(device.ordinal());
  detail::check_shape(device, shape);
  detail::check_arguments(shape, arguments...);
  const void* function = reinterpret_cast<const void*>(kernel);
  const cudaFuncAttributes attributes = detail::attributes_of(function);
  detail::allow_shared(function, attributes, shape);
  require_co_resident(detail::residency_of(device, function, attributes, shape), device.name(), shape,
                      detail::needs_of(attributes, shape));
  (detail::prepare_argument(arguments,
                            [stream](uint32_t* words, uint32_t count) {
                              check_cuda(cudaMemsetAsync(words, 0, count * sizeof(uint32_t), stream),
                                         "cudaMemsetAsync");
                            }),
   ...);
  std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
  std::apply(
      [&](auto&... value) {
        void* pointers[sizeof...(value) + 1] = {static_cast<void*>(&value)...};
        const detail::launch_config config(shape, stream);
        check_cuda(cudaLaunchKernelExC(config.get(), function, pointers), "cudaLaunchKernelExC");
      },
      values);
}

}  // namespace gpusync
