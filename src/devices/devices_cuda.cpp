// CUDA devices.
#include <cuda_runtime_api.h>

#include <gpusync/core/cuda_device.hpp>
#include "devices/device.hpp"
#include "devices/nvidia_smi.hpp"

namespace gpusync::tool {

namespace {

std::string version_in_words(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// "GPU-01234567-89ab-…", as nvidia-smi prints it.
std::string uuid_in_words(const cudaUUID_t& uuid) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

int64_t attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess ? value : 0;
}

/// What a barrier across two GPUs finds between them.
std::string link_in_words(int from, int to) {
  const auto answer = [&](cudaDeviceP2PAttr what) {
    int value = 0;
    return cudaDeviceGetP2PAttribute(&value, what, from, to) == cudaSuccess && value != 0;
  };
  if (!answer(cudaDevP2PAttrAccessSupported)) return "no access";
  return answer(cudaDevP2PAttrNativeAtomicSupported) ? "native atomics" : "access without native atomics";
}

device_description describe(int ordinal) {
  const cuda_device device(ordinal);
  const cudaDeviceProp& p = device.properties();
  int runtime = 0;
  int driver = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  (void)cudaDriverGetVersion(&driver);
  device_description description;
  description.kind = device_kind::cuda;
  description.index = ordinal;
  description.id = "cuda:" + std::to_string(ordinal);
  description.name = p.name;
  description.uuid = uuid_in_words(p.uuid);
  description.driver = nvidia_driver_version();
  description.runtime = "CUDA " + version_in_words(runtime) + " (driver supports " + version_in_words(driver) + ")";
  description.compute_units = p.multiProcessorCount;
  description.facts = {
      {"compute capability", std::to_string(p.major) + "." + std::to_string(p.minor)},
      {"SMs", static_cast<int64_t>(p.multiProcessorCount)},
      {"threads per SM", static_cast<int64_t>(p.maxThreadsPerMultiProcessor)},
      {"blocks per SM", static_cast<int64_t>(p.maxBlocksPerMultiProcessor)},
      {"registers per SM", static_cast<int64_t>(p.regsPerMultiprocessor)},
      {"shared memory per SM, bytes", static_cast<int64_t>(p.sharedMemPerMultiprocessor)},
      {"L2 cache, bytes", static_cast<int64_t>(p.l2CacheSize)},
      {"global memory, bytes", static_cast<int64_t>(p.totalGlobalMem)},
      {"cooperative launch", attribute(cudaDevAttrCooperativeLaunch, ordinal) != 0},
      {"ECC", p.ECCEnabled != 0},
      {"most SM clock, MHz", attribute(cudaDevAttrClockRate, ordinal) / 1000},
  };
  int count = 0;
  (void)cudaGetDeviceCount(&count);
  for (int other = 0; other < count; ++other) {
    if (other != ordinal)
      description.facts.push_back({"link to cuda:" + std::to_string(other), link_in_words(ordinal, other)});
  }
  return description;
}

std::vector<device_description> discover(std::string& note) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    (void)cudaGetLastError();
    int driver = 0;  // stays so without one, which the error's text calls too old
    const bool has_driver = cudaDriverGetVersion(&driver) != cudaSuccess || driver != 0;
    note = std::string("No CUDA device can be used: ") +
           (has_driver ? cudaGetErrorString(code) : "no NVIDIA driver was found") + ".";
    return {};
  }
#ifdef GPUSYNC_NO_GPU_HERE
  if (count > 0) {
    note =
        "No CUDA device is used: this program was built where there was no GPU, so its kernels were compiled to be "
        "checked and not to be measured. Build it on a machine with the GPU, or with -DGPUSYNC_GPUS=all.";
    return {};
  }
#endif
  std::vector<device_description> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    try {
      devices.push_back(describe(ordinal));
    } catch (const error& failure) {  // one sick device must not hide the others
      note = failure.what();
    }
  }
  if (count == 0) note = "There is no CUDA device.";
  return devices;
}

const register_device_backend registered({device_kind::cuda, discover, [](const device_description& device) {
                                            return nvidia_smi_state(device.uuid);
                                          }});

}  // namespace

}  // namespace gpusync::tool
