// How a kernel is started whose parameters are known as bytes only. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/launch/cuda_admission.hpp>

namespace gpusync::tool {

/// How a kernel is started. Dependent: with programmatic stream serialization; the kernel itself waits for the one
/// before (cudaGridDependencySynchronize()).
enum class kernel_start { plain, cooperative, dependent };

/// Queues `kernel` on `stream`; `arguments` point to its parameters. Throws cuda_failure.
inline void start_kernel(cudaStream_t stream, const launch_shape& shape, kernel_start how, const void* kernel,
                         void** arguments) {
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{};
  config.gridDim = to_dim3(shape.blocks);
  config.blockDim = to_dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  if (how == kernel_start::plain) {
    check_cuda(cudaLaunchKernel(kernel, config.gridDim, config.blockDim, arguments, shape.shared_bytes, stream),
               "cudaLaunchKernel");
    return;
  }
  if (how == kernel_start::cooperative && shape.cluster == 1) {
    check_cuda(
        cudaLaunchCooperativeKernel(kernel, config.gridDim, config.blockDim, arguments, shape.shared_bytes, stream),
        "cudaLaunchCooperativeKernel");
    return;
  }
  const auto add = [&]() -> cudaLaunchAttribute& { return attributes[config.numAttrs++]; };
  if (how == kernel_start::dependent) {
    cudaLaunchAttribute& dependent = add();
    dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    dependent.val.programmaticStreamSerializationAllowed = 1;
  } else {
    cudaLaunchAttribute& cooperative = add();
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
  }
  if (shape.cluster > 1) {
    cudaLaunchAttribute& cluster = add();
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = shape.cluster;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  }
  check_cuda(cudaLaunchKernelExC(&config, kernel, arguments), "cudaLaunchKernelExC");
}

}  // namespace gpusync::tool
