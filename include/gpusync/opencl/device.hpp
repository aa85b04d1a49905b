// OpenCL devices, and what they promise.
#pragma once

#include <string>
#include <vector>

#include <gpusync/opencl/error.hpp>

namespace gpusync::opencl {

/// Every device of every platform, in the order in which the loader lists them; empty where there is none. Throws
/// opencl_failure if the loader or a driver fails.
inline std::vector<cl::Device> all_devices() {
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error& failure) {
    if (failure.err() == CL_PLATFORM_NOT_FOUND_KHR) return {};
    throw opencl_failure(failure.what(), failure.err());
  }
  std::vector<cl::Device> all;
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    try {
      platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    } catch (const cl::Error& failure) {
      if (failure.err() != CL_DEVICE_NOT_FOUND) throw opencl_failure(failure.what(), failure.err());
    }
    all.insert(all.end(), devices.begin(), devices.end());
  }
  return all;
}

/// A string that OpenCL reports, without the zero and the blanks at its end.
inline std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(std::string(" \t\n\0", 4)) + 1);
  text.erase(0, text.find_first_not_of(' '));
  return text;
}

/// The device's name.
inline std::string name_of(const cl::Device& device) {
  return checked([&] { return trimmed(device.getInfo<CL_DEVICE_NAME>()); });
}

/// How the device's compiler lets memory be ordered across work-groups; see memory.cl.
enum class ordering_means {
  c11,         ///< C11 acquire and release at device scope: promised by OpenCL
  ptx,         ///< PTX fences around OpenCL C 1.2 atomics: promised by the PTX memory model
  best_effort  ///< OpenCL C 1.2 atomics and mem_fence(): works where caches are coherent, promised by nobody
};

/// In words, for people.
inline const char* to_string(ordering_means means) {
  switch (means) {
    case ordering_means::c11: return "C11 acquire/release at device scope";
    case ordering_means::ptx: return "PTX fence.acq_rel.gpu and OpenCL C 1.2 atomics";
    case ordering_means::best_effort: return "OpenCL C 1.2 atomics and mem_fence";
  }
  return "?";
}

namespace detail {

/// 100 * major + 10 * minor of a device's OpenCL version: "OpenCL 3.0 CUDA" -> 300.
inline int device_version(const cl::Device& device) {
  const std::string text = device.getInfo<CL_DEVICE_VERSION>();
  constexpr size_t major = 7;  // behind "OpenCL "
  if (text.size() < major + 3) return 100;
  return (text[major] - '0') * 100 + (text[major + 2] - '0') * 10;
}

}  // namespace detail

/// What build_options() makes the compiler of this device offer.
inline ordering_means ordering_means_of(const cl::Device& device) {
  return checked([&] {
    const int version = detail::device_version(device);
    if (version >= 200 && version < 300) return ordering_means::c11;
    if (version >= 300) {
      const auto able = device.getInfo<CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES>();
      const cl_device_atomic_capabilities needed = CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
      if ((able & needed) == needed) return ordering_means::c11;
    }
    const bool nvidia = device.getInfo<CL_DEVICE_VENDOR>().find("NVIDIA") != std::string::npos;
    return nvidia ? ordering_means::ptx : ordering_means::best_effort;
  });
}

}  // namespace gpusync::opencl
