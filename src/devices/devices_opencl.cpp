// OpenCL devices.
#include <fmt/format.h>

#include <array>

#include <gpusync/opencl/device.hpp>
#include "devices/device.hpp"

namespace gpusync::tool {

namespace {

std::string type_in_words(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return "GPU";
  if (type & CL_DEVICE_TYPE_CPU) return "CPU";
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return "accelerator";
  return "custom";
}

std::string atomics_in_words(cl_device_atomic_capabilities able) {
  constexpr std::pair<cl_device_atomic_capabilities, const char*> words[] = {
      {CL_DEVICE_ATOMIC_ORDER_RELAXED, "relaxed"},
      {CL_DEVICE_ATOMIC_ORDER_ACQ_REL, "acquire/release"},
      {CL_DEVICE_ATOMIC_ORDER_SEQ_CST, "sequentially consistent"},
      {CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP, "work-group scope"},
      {CL_DEVICE_ATOMIC_SCOPE_DEVICE, "device scope"},
      {CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES, "all-devices scope"},
  };
  std::string text;
  for (const auto& [bit, word] : words) {
    if (able & bit) text += (text.empty() ? "" : ", ") + std::string(word);
  }
  return text;
}

/// Those of the device's extensions that bear on synchronization.
std::string relevant_extensions(const std::string& all) {
  std::string text;
  for (const char* name : {"cl_khr_global_int32_base_atomics", "cl_khr_int64_base_atomics", "cl_khr_subgroups",
                           "cl_khr_device_uuid", "cl_khr_command_buffer", "cl_nv_device_attribute_query"}) {
    if ((" " + all + " ").find(" " + std::string(name) + " ") == std::string::npos) continue;
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

std::string uuid_of(const cl::Device& device) {
  std::array<unsigned char, CL_UUID_SIZE_KHR> bytes{};
  if (clGetDeviceInfo(device(), CL_DEVICE_UUID_KHR, bytes.size(), bytes.data(), nullptr) != CL_SUCCESS) return "";
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

device_description describe(const cl::Device& device, int index) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  device_description result;
  result.kind = device_kind::opencl;
  result.index = index;
  result.id = fmt::format("opencl:{}", index);
  result.name = opencl::name_of(device);
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  if (extensions.find("cl_khr_device_uuid") != std::string::npos) result.uuid = uuid_of(device);
  result.driver = opencl::trimmed(device.getInfo<CL_DRIVER_VERSION>());
  result.runtime = opencl::trimmed(platform.getInfo<CL_PLATFORM_VERSION>());
  // PoCL goes on with how it was compiled, behind two blanks.
  result.runtime = opencl::trimmed(result.runtime.substr(0, result.runtime.find("  ")));
  result.compute_units = static_cast<int>(device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
  result.facts = {
      {"type", type_in_words(device.getInfo<CL_DEVICE_TYPE>())},
      {"platform", opencl::trimmed(platform.getInfo<CL_PLATFORM_NAME>())},
      {"compute units", static_cast<int64_t>(result.compute_units)},
      {"max work-group size", static_cast<int64_t>(device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>())},
      {"global memory bytes", static_cast<int64_t>(device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>())},
      {"OpenCL C", opencl::trimmed(device.getInfo<CL_DEVICE_OPENCL_C_VERSION>())},
      {"memory ordering", std::string(opencl::to_string(opencl::ordering_means_of(device)))},
  };
  cl_device_atomic_capabilities atomics = 0;
  if (clGetDeviceInfo(device(), CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, sizeof(atomics), &atomics, nullptr) ==
      CL_SUCCESS) {
    result.facts.push_back({"atomics", atomics_in_words(atomics)});
  }
  const std::string relevant = relevant_extensions(extensions);
  if (!relevant.empty()) result.facts.push_back({"extensions", relevant});
  return result;
}

std::vector<device_description> discover(std::string& note) {
  std::vector<device_description> found;
  try {
    for (const cl::Device& device : opencl::all_devices()) {
      found.push_back(describe(device, static_cast<int>(found.size())));
    }
    if (found.empty())
      note = "No OpenCL device: the loader knows no platform that has one (on Debian, pocl-opencl-icd).";
  } catch (const cl::Error& failure) {
    note = fmt::format("OpenCL devices cannot be listed: {} failed with {} ({}).", failure.what(),
                       opencl::error_name(failure.err()), failure.err());
  } catch (const std::exception& failure) {
    note = fmt::format("OpenCL devices cannot be listed: {}", failure.what());
  }
  return found;
}

const register_device_backend registered({device_kind::opencl, discover,
                                          [](const device_description&) { return device_state{}; }});

}  // namespace

}  // namespace gpusync::tool
