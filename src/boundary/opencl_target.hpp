// Where the programs of an OpenCL device run.
#pragma once

#include <fmt/format.h>

#include <gpusync/opencl/opencl.hpp>
#include "devices/device.hpp"

namespace gpusync::tool {

/// A device with a context and a queue that times what it executes.
class opencl_target {
 public:
  /// Throws no_such_device if the machine has none of that number, opencl_failure if it cannot be used.
  explicit opencl_target(const device_description& description) {
    const auto devices = opencl::all_devices();
    if (static_cast<size_t>(description.index) >= devices.size()) {
      throw no_such_device(fmt::format("There is no device {} on this machine.", description.id));
    }
    device = devices[static_cast<size_t>(description.index)];
    opencl::checked([&] {
      context = cl::Context(device);
      queue = cl::CommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE);
    });
  }

  /// Throws invalid_argument if a work-group of that size cannot run.
  void require_size(const cl::Kernel& kernel, uint32_t items) const {
    const size_t most = opencl::checked([&] { return kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device); });
    if (items >= 1 && items <= most) return;
    throw invalid_argument(fmt::format("A work-group of this kernel has 1 to {} work-items on {}, not {}.", most,
                                       opencl::name_of(device), items));
  }

  bool is_cpu() const {
    return opencl::checked([&] { return (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0; });
  }

  /// Bytes of its memory, and those that one buffer may have.
  uint64_t memory() const {
    return opencl::checked([&] { return device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>(); });
  }
  uint64_t largest_buffer() const {
    return opencl::checked([&] { return device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>(); });
  }

  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
};

/// Nanoseconds from the start of the first command to the end of the last, on the device's timer. Throws error if that
/// ran backwards.
inline double profiled(const cl::Event& first, const cl::Event& last) {
  const cl_ulong start = first.getProfilingInfo<CL_PROFILING_COMMAND_START>();
  const cl_ulong end = last.getProfilingInfo<CL_PROFILING_COMMAND_END>();
  if (end >= start) return static_cast<double>(end - start);
  throw error(fmt::format("The device's profiling timer ran backwards: a command that started at {} ns ended at {} ns.",
                          start, end));
}

}  // namespace gpusync::tool
