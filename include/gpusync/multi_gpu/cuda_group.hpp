// CUDA devices of one host that can reach each other's memory. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_driver.hpp>
#include <gpusync/multi_gpu/peers.hpp>

namespace gpusync {

/// Devices whose kernels may write to each other's memory, in the order of their ranks. A light value.
class cuda_device_group {
 public:
  /// All devices that there are. Throws as the other constructor does.
  cuda_device_group() : cuda_device_group(every_ordinal()) {}

  /// The devices of these numbers. Makes their memory accessible to each other (cudaDeviceEnablePeerAccess), and leaves
  /// it so: others in the process may rely on it. Throws no_such_device; invalid_argument if there are none or too
  /// many, one is named twice, or two of them cannot reach each other's memory or lack atomics on it (NVLink has them).
  explicit cuda_device_group(const std::vector<int>& ordinals) {
    if (ordinals.empty() || ordinals.size() > multi_gpu::most_gpus) {
      throw invalid_argument("A group has 1 to " + std::to_string(multi_gpu::most_gpus) + " devices; it was given " +
                             std::to_string(ordinals.size()) + ".");
    }
    for (const int ordinal : ordinals) devices_.emplace_back(ordinal);
    for (const cuda_device& one : devices_) {
      for (const cuda_device& other : devices_) {
        if (&one != &other) connect(one, other);
      }
    }
  }

  /// How many there are.
  uint32_t size() const { return static_cast<uint32_t>(devices_.size()); }
  /// The one with this rank, from 0.
  const cuda_device& operator[](uint32_t rank) const { return devices_[rank]; }
  /// All of them.
  const std::vector<cuda_device>& devices() const { return devices_; }

 private:
  static std::vector<int> every_ordinal() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) (void)cudaGetLastError();
    std::vector<int> all;
    for (int i = 0; i < std::max(count, 1); ++i) all.push_back(i);
    return all;
  }

  static int ask(cudaDeviceP2PAttr what, const cuda_device& one, const cuda_device& other) {
    int answer = 0;
    check_cuda(cudaDeviceGetP2PAttribute(&answer, what, one.ordinal(), other.ordinal()), "cudaDeviceGetP2PAttribute");
    return answer;
  }

  static void connect(const cuda_device& one, const cuda_device& other) {
    const std::string both =
        "CUDA devices " + std::to_string(one.ordinal()) + " and " + std::to_string(other.ordinal());
    if (one.ordinal() == other.ordinal()) {
      throw invalid_argument("CUDA device " + std::to_string(one.ordinal()) +
                             " is named twice in a group: two grids on one device need not run at the same time.");
    }
    if (ask(cudaDevP2PAttrAccessSupported, one, other) == 0) {
      throw invalid_argument(both + " cannot reach each other's memory, so their blocks cannot wait for each other.");
    }
    if (ask(cudaDevP2PAttrNativeAtomicSupported, one, other) == 0) {
      throw invalid_argument(both + " have no atomics on each other's memory, which a barrier across them needs.");
    }
    const cuda_device_scope scope(one.ordinal());
    if (enabled_by_driver(one, other)) return;
    const cudaError_t code = cudaDeviceEnablePeerAccess(other.ordinal(), 0);
    if (code == cudaErrorPeerAccessAlreadyEnabled) {
      (void)cudaGetLastError();
    } else {
      check_cuda(code, "cudaDeviceEnablePeerAccess");
    }
  }

  /// Whether the driver has enabled access, or had before: asked a second time, the runtime would keep an error, which
  /// tools like compute-sanitizer report when it is taken back.
  static bool enabled_by_driver(const cuda_device& one, const cuda_device& other) {
    const detail::cuda_driver& driver = detail::cuda_driver::get();
    if (driver.current_context == nullptr || driver.enable_peer_access == nullptr) return false;
    const auto context_of = [&driver](const cuda_device& device) -> void* {
      const cuda_device_scope scope(device.ordinal());
      void* context = nullptr;
      if (cudaFree(nullptr) != cudaSuccess || driver.current_context(&context) != 0) return nullptr;  // makes it
      return context;
    };
    void *const own = context_of(one), *const others = context_of(other);
    if (own == nullptr || others == nullptr) return false;
    constexpr int already = 704;  // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    const int code = driver.enable_peer_access(others, 0);
    return code == 0 || code == already;
  }

  std::vector<cuda_device> devices_;
};

}  // namespace gpusync
