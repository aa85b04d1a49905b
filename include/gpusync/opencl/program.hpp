// From source text to a program with a barrier in it.
#pragma once

#include <string>

#include <gpusync/core/ordering.hpp>
#include <gpusync/opencl/barrier_source.hpp>
#include <gpusync/opencl/device.hpp>
#include <gpusync/opencl/discovery_source.hpp>
#include <gpusync/opencl/memory_source.hpp>
#include <gpusync/opencl/ordering_source.hpp>
#include <gpusync/opencl/registry.hpp>
#include <gpusync/opencl/storage_layout_source.hpp>
#include <gpusync/opencl/wait_source.hpp>

namespace gpusync::opencl {

/// The OpenCL C text of a barrier, to be put before a kernel's own. Errors in the text behind it are reported with line
/// numbers that count from its own first line. What it defines is documented in barrier.cl: gpusync_barrier_of,
/// gpusync_sync, gpusync_arrive, gpusync_wait, gpusync_sync_for, gpusync_wait_for; and in discovery.cl: GPUSYNC_TRIAL,
/// gpusync_discover. The kernel's storage must be made for the same algorithm. (gpusync.cl is the same for kernels that
/// are compiled from files.)
inline std::string barrier_source(const barrier_algorithm& algorithm, ordering order = ordering::acquire_release) {
  std::string text = "#define GPUSYNC_ORDERING " + std::to_string(static_cast<int>(order)) +
                     "\n#define GPUSYNC_ALGORITHM " + algorithm.file + "\n";
  for (const char* part :
       {embedded::opencl_storage_layout, embedded::opencl_memory, embedded::opencl_wait, embedded::opencl_ordering,
        algorithm.text, embedded::opencl_barrier, embedded::opencl_discovery}) {
    text += part;
    text += '\n';
  }
  return text + "#line 1\n";
}
/// Of the default algorithm.
inline std::string barrier_source(ordering order = ordering::acquire_release) {
  return barrier_source(lock_based, order);
}
static_assert(static_cast<int>(ordering::none) == 0 && static_cast<int>(ordering::fence) == 1 &&
                  static_cast<int>(ordering::acquire_release) == 2,
              "ordering.cl counts the orderings in the same way");

/// The options that make a device's compiler offer the strongest ordering that the device has.
inline std::string build_options(const cl::Device& device) {
  if (ordering_means_of(device) != ordering_means::c11) return "";  // the default, OpenCL C 1.2, is on every device
  return checked([&] { return detail::device_version(device) >= 300 ? "-cl-std=CL3.0" : "-cl-std=CL2.0"; });
}

/// Compiles `source` (barrier_source() and kernels) for one device, with build_options() and `more` options. Throws
/// build_failure, with the compiler's log, if it does not compile.
inline cl::Program build(const cl::Context& context, const cl::Device& device, const std::string& source,
                         const std::string& more = "") {
  std::string options = build_options(device);
  if (!more.empty()) options += (options.empty() ? "" : " ") + more;
  return checked([&] {
    cl::Program program(context, source);
    try {
      program.build({device}, options.c_str());
    } catch (const cl::Error& failure) {
      throw build_failure(name_of(device), options, failure.err(),
                          trimmed(program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device)));
    }
    return program;
  });
}

}  // namespace gpusync::opencl
