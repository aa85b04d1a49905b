// How a kernel is started whose parameters are known as bytes only. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/launch/cuda_admission.hpp>

#include "boundary/cuda_kernels.hpp"

namespace gpusync::tool {

/// Queues `kernel` on `stream`, in clusters if the shape has them; `arguments` point to its parameters. Throws
/// cuda_failure.
inline void start_kernel(cudaStream_t stream, const launch_shape& shape, kernel_start how, const void* kernel,
                         void** arguments) {
  const dim3 blocks = to_dim3(shape.blocks), threads = to_dim3(shape.threads);
  if (how == kernel_start::plain && shape.cluster == 1) {
    check_cuda(cudaLaunchKernel(kernel, blocks, threads, arguments, shape.shared_bytes, stream), "cudaLaunchKernel");
    return;
  }
  if (how == kernel_start::cooperative && shape.cluster == 1) {
    check_cuda(cudaLaunchCooperativeKernel(kernel, blocks, threads, arguments, shape.shared_bytes, stream),
               "cudaLaunchCooperativeKernel");
    return;
  }
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  if (how == kernel_start::cooperative) {
    cudaLaunchAttribute& cooperative = attributes[config.numAttrs++];
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
  }
  if (is_dependent(how)) {
    cudaLaunchAttribute& dependent = attributes[config.numAttrs++];
    dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    dependent.val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.cluster > 1) {
    cudaLaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = shape.cluster;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  }
  check_cuda(cudaLaunchKernelExC(&config, kernel, arguments), "cudaLaunchKernelExC");
}

}  // namespace gpusync::tool
