// The end of a kernel as the boundary between steps: the ways to start one kernel after the other.
#pragma once

#include <tuple>
#include <type_traits>

#include <gpusync/gpusync.cuh>

#include "boundary/cuda_graph.cuh"
#include "measure/cuda_timer.cuh"
#include "measure/host_timer.hpp"

namespace gpusync::tool {

/// How the kernel of a step is started. Dependent: with programmatic stream serialization; the kernel itself waits for
/// the one before (cudaGridDependencySynchronize()).
enum class kernel_start { plain, cooperative, dependent };

/// Queues `kernel` on `stream`. Throws cuda_failure.
template <class... Parameters, class... Arguments>
void start_kernel(cudaStream_t stream, const launch_shape& shape, kernel_start how, void (*kernel)(Parameters...),
                  const Arguments&... arguments) {
  std::tuple<std::remove_cv_t<Parameters>...> values(arguments...);
  std::apply(
      [&](auto&... value) {
        void* pointers[sizeof...(value) + 1] = {&value...};
        const void* const function = reinterpret_cast<const void*>(kernel);
        const dim3 blocks = to_dim3(shape.blocks), threads = to_dim3(shape.threads);
        if (how == kernel_start::plain) {
          check_cuda(cudaLaunchKernel(function, blocks, threads, pointers, shape.shared_bytes, stream),
                     "cudaLaunchKernel");
        } else if (how == kernel_start::cooperative) {
          check_cuda(cudaLaunchCooperativeKernel(function, blocks, threads, pointers, shape.shared_bytes, stream),
                     "cudaLaunchCooperativeKernel");
        } else {
          cudaLaunchAttribute attribute{};
          attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
          attribute.val.programmaticStreamSerializationAllowed = 1;
          cudaLaunchConfig_t config{};
          config.gridDim = blocks;
          config.blockDim = threads;
          config.dynamicSmemBytes = shape.shared_bytes;
          config.stream = stream;
          config.attrs = &attribute;
          config.numAttrs = 1;
          check_cuda(cudaLaunchKernelExC(&config, function, pointers), "cudaLaunchKernelExC");
        }
      },
      values);
}

/// A kernel for each step, started by the host.
enum class relaunch {
  queued,       ///< behind each other in a stream
  waited_for,   ///< the host waits for each
  cooperative,  ///< queued, each a cooperative launch
};

inline kernel_start start_of(relaunch how) {
  return how == relaunch::cooperative ? kernel_start::cooperative : kernel_start::plain;
}

/// To be called after each step's start.
inline void end_step(relaunch how) {
  if (how == relaunch::waited_for) check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/// The nanoseconds of what `carry_out()` queues on `stream`: the device's, or the host's where the host waits for each
/// step. Blocking.
template <class CarryOut>
double timed_steps(relaunch how, cuda_timer& timer, cudaStream_t stream, CarryOut&& carry_out) {
  if (how == relaunch::waited_for) {
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const host_timer watch;
    carry_out();
    return watch.nanoseconds();
  }
  timer.start(stream);
  carry_out();
  return timer.stop(stream);
}

}  // namespace gpusync::tool
