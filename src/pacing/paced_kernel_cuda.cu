// A user's kernel in several variants on a CUDA device.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "boundary/cuda_target.hpp"
#include "boundary/device_side.hpp"
#include "measure/cuda_timer.cuh"
#include "pacing/paced_kernel.hpp"

namespace gpusync::tool {

namespace {

/// How many bytes differ, and the first of them.
struct difference_found {
  unsigned long long wrong;
  unsigned long long first;
};

__global__ void compare_bytes(const unsigned char* left, const unsigned char* right, unsigned long long bytes,
                              difference_found* found) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  const unsigned long long self = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned long long wrong = 0, first = ~0ull;
  // Memory of cudaMalloc begins at a multiple of 256 bytes.
  const uint4* const left_words = reinterpret_cast<const uint4*>(left);
  const uint4* const right_words = reinterpret_cast<const uint4*>(right);
  for (unsigned long long i = self; i < bytes / sizeof(uint4); i += stride) {
    const uint4 a = left_words[i], b = right_words[i];
    if (a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w) continue;
    for (unsigned long long k = i * sizeof(uint4); k < (i + 1) * sizeof(uint4); ++k) {
      if (left[k] == right[k]) continue;
      ++wrong;
      if (k < first) first = k;
    }
  }
  for (unsigned long long k = bytes / sizeof(uint4) * sizeof(uint4) + self; k < bytes; k += stride) {
    if (left[k] == right[k]) continue;
    ++wrong;
    if (k < first) first = k;
  }
  if (wrong == 0) return;
  atomicAdd(&found->wrong, wrong);
  atomicMin(&found->first, first);
}

/// An array of the kernel's: as it is, as it begins, and as it must be in the end.
struct device_array {
  size_t argument;  ///< counted from 0
  cuda_buffer now, at_start, reference;
  const kernel_argument* about;
};

#if CUDART_VERSION >= 12080

/// Machine code that is loaded until the owner goes.
class loaded_kernel {
 public:
  explicit loaded_kernel(const loadable_kernel& from) {
    check_cuda(cudaLibraryLoadData(&library_, from.image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
               "cudaLibraryLoadData");
    const cudaError_t found = cudaLibraryGetKernel(&kernel_, library_, from.symbol.c_str());
    if (found == cudaSuccess) return;
    (void)cudaLibraryUnload(library_);
    check_cuda(found, "cudaLibraryGetKernel");
  }
  ~loaded_kernel() {
    if (library_ != nullptr) (void)cudaLibraryUnload(library_);
  }
  loaded_kernel(loaded_kernel&& other) noexcept
      : library_(std::exchange(other.library_, nullptr)), kernel_(std::exchange(other.kernel_, nullptr)) {}
  loaded_kernel& operator=(loaded_kernel&&) = delete;

  /// As the runtime's functions take it.
  const void* function() const { return static_cast<const void*>(kernel_); }

 private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

constexpr bool can_load = true;

#else

class loaded_kernel {
 public:
  explicit loaded_kernel(const loadable_kernel&) {}
  const void* function() const { return nullptr; }
};

constexpr bool can_load = false;

#endif

class cuda_paced_kernel : public paced_kernel {
 public:
  cuda_paced_kernel(const cuda_target& where, const std::vector<loadable_kernel>& variants, const paced_launch& launch)
      : where_(where), launch_(launch) {
    const cuda_device_scope scope(where_.device().ordinal());
    timer_ = std::make_unique<cuda_timer>();
    for (const loadable_kernel& each : variants) kernels_.emplace_back(each);
    for (const loaded_kernel& each : kernels_) require_fits(each);
    require_memory();
    make_arrays();
  }

  residency room_of(size_t variant) override {
    const cuda_device_scope scope(where_.device().ordinal());
    const void* const kernel = kernels_[variant].function();
    cudaFuncAttributes about{};
    check_cuda(cudaFuncGetAttributes(&about, kernel), "cudaFuncGetAttributes");
    residency room;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   &room.blocks_per_sm, kernel, static_cast<int>(launch_.threads.all()), launch_.shared_bytes),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    room.static_shared = about.sharedSizeBytes;
    room.carve_out = about.preferredShmemCarveout;
    room.registers = about.numRegs;
    room.local_bytes = about.localSizeBytes;
    return room;
  }

  paced_run run(size_t variant, double limit_s) override {
    const cuda_device_scope scope(where_.device().ordinal());
    const cudaStream_t stream = where_.stream();
    for (const device_array& each : arrays_) restore(each);
    cudaLaunchConfig_t how{};
    how.gridDim = dim3(launch_.blocks.x, launch_.blocks.y, launch_.blocks.z);
    how.blockDim = dim3(launch_.threads.x, launch_.threads.y, launch_.threads.z);
    how.dynamicSmemBytes = launch_.shared_bytes;
    how.stream = stream;
    timer_->start(stream);
    check_cuda(cudaLaunchKernelExC(&how, kernels_[variant].function(), pointers_.data()), "cudaLaunchKernelExC");
    timer_->mark_stop(stream);
    where_.await(limit_s);
    paced_run done;
    done.nanoseconds = timer_->elapsed();
    if (has_reference_) compare(done);
    return done;
  }

  void keep_as_reference() override {
    const cuda_device_scope scope(where_.device().ordinal());
    for (const device_array& each : arrays_) {
      check_cuda(cudaMemcpyAsync(each.reference.address(), each.now.address(), each.now.bytes(),
                                 cudaMemcpyDeviceToDevice, where_.stream()),
                 "cudaMemcpyAsync");
    }
    check_cuda(cudaStreamSynchronize(where_.stream()), "cudaStreamSynchronize");
    has_reference_ = true;
  }

 private:
  void require_fits(const loaded_kernel& kernel) const {
    cudaFuncAttributes about{};
    check_cuda(cudaFuncGetAttributes(&about, kernel.function()), "cudaFuncGetAttributes");
    if (launch_.threads.all() > static_cast<uint64_t>(about.maxThreadsPerBlock)) {
      throw invalid_argument(
          "Blocks of " + to_string(launch_.threads) + " threads do not run: this kernel takes at most " +
          std::to_string(about.maxThreadsPerBlock) + " of " + std::to_string(about.numRegs) + " registers each.");
    }
    const cudaDeviceProp& device = where_.device().properties();
    const uint64_t most = device.sharedMemPerBlockOptin;
    if (launch_.shared_bytes + about.sharedSizeBytes > most) {
      throw invalid_argument("Blocks with " + std::to_string(launch_.shared_bytes + about.sharedSizeBytes) +
                             " bytes of shared memory do not run: " + device.name + " has " + std::to_string(most) +
                             " for a block.");
    }
    if (launch_.shared_bytes > 0) {
      check_cuda(cudaFuncSetAttribute(kernel.function(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(launch_.shared_bytes)),
                 "cudaFuncSetAttribute");
    }
  }

  void require_memory() const {
    uint64_t needed = 0;
    for (const kernel_argument& each : launch_.arguments) {
      if (each.is_array) needed += each.bytes() * (each.start == array_start::zero ? 2 : 3);
    }
    const uint64_t free = where_.free_memory();
    if (needed <= free) return;
    throw invalid_argument("The arrays need " + std::to_string(needed >> 20) +
                           " MiB, each two or three times (as it is, "
                           "as it begins, and as it must be in the end), and " +
                           std::to_string(free >> 20) + " MiB are free on the device.");
  }

  void make_arrays() {
    arrays_.reserve(launch_.arguments.size());  // their addresses are taken
    values_.resize(launch_.arguments.size());
    for (size_t i = 0; i < launch_.arguments.size(); ++i) {
      const kernel_argument& about = launch_.arguments[i];
      if (!about.is_array) {
        std::memcpy(&values_[i], about.value.data(), std::min(about.value.size(), sizeof(values_[i])));
      } else {
        const cuda_device& device = where_.device();
        const size_t bytes = about.bytes();
        device_array array{i, {device, bytes, where_.stream()}, {}, {device, bytes, where_.stream()}, &about};
        if (about.start != array_start::zero) {
          array.at_start = cuda_buffer(device, bytes, where_.stream());
          const std::vector<std::byte> contents = start_contents(about, i + 1);
          where_.upload(array.at_start, contents.data(), bytes);
        }
        const void* const address = array.now.address();
        std::memcpy(&values_[i], &address, sizeof(address));
        arrays_.push_back(std::move(array));
      }
      pointers_.push_back(&values_[i]);
    }
    found_ =
        cuda_buffer(where_.device(), sizeof(difference_found) * std::max<size_t>(arrays_.size(), 1), where_.stream());
  }

  void restore(const device_array& array) const {
    if (array.about->start == array_start::zero) {
      check_cuda(cudaMemsetAsync(array.now.address(), 0, array.now.bytes(), where_.stream()), "cudaMemsetAsync");
    } else {
      check_cuda(cudaMemcpyAsync(array.now.address(), array.at_start.address(), array.now.bytes(),
                                 cudaMemcpyDeviceToDevice, where_.stream()),
                 "cudaMemcpyAsync");
    }
  }

  void compare(paced_run& done) const {
    constexpr double limit_s = 60;
    if (arrays_.empty()) return;
    std::vector<difference_found> found(arrays_.size());
    for (difference_found& each : found) each = {0, ~0ull};
    where_.upload(found_, found.data(), found.size() * sizeof(difference_found));
    for (size_t i = 0; i < arrays_.size(); ++i) {
      constexpr unsigned threads = 256;
      const auto blocks = static_cast<unsigned>(
          std::min<uint64_t>(arrays_[i].now.bytes() / (16 * threads) + 1, 8u * where_.device().sm_count()));
      compare_bytes<<<blocks, threads, 0, where_.stream()>>>(
          static_cast<const unsigned char*>(arrays_[i].now.address()),
          static_cast<const unsigned char*>(arrays_[i].reference.address()), arrays_[i].now.bytes(),
          static_cast<difference_found*>(found_.address()) + i);
      check_cuda(cudaGetLastError(), "a launch");
    }
    where_.await(limit_s);
    where_.download(found.data(), found_, found.size() * sizeof(difference_found));
    for (size_t i = 0; i < arrays_.size(); ++i) {
      done.compared += arrays_[i].now.bytes();
      if (found[i].wrong > 0 && done.wrong == 0) {
        done.first = "argument " + std::to_string(arrays_[i].argument + 1) + ", element " +
                     std::to_string(found[i].first / arrays_[i].about->type.bytes);
      }
      done.wrong += found[i].wrong;
    }
  }

  cuda_target where_;
  paced_launch launch_;
  std::vector<loaded_kernel> kernels_;
  std::vector<device_array> arrays_;
  std::vector<uint64_t> values_;  ///< of the arguments, eight bytes at most
  std::vector<void*> pointers_;   ///< to them
  cuda_buffer found_;
  std::unique_ptr<cuda_timer> timer_;  ///< made while the device is current
  bool has_reference_ = false;
};

class cuda_pacing_device : public pacing_device {
 public:
  explicit cuda_pacing_device(const device_description& device) : where_(device.index) {}

  int architecture() const override {
    const cudaDeviceProp& properties = where_.device().properties();
    return properties.major * 10 + properties.minor;
  }

  std::unique_ptr<paced_kernel> load(const std::vector<loadable_kernel>& variants,
                                     const paced_launch& launch) override {
    if (!can_load) throw error("gpusync pace needs the CUDA runtime 12.8 or later, which loads code at run time.");
    return std::make_unique<cuda_paced_kernel>(where_, variants, launch);
  }

 private:
  cuda_target where_;
};

const register_side<pacing_device> pacing_registered(device_kind::cuda, make_side<cuda_pacing_device>);

}  // namespace

}  // namespace gpusync::tool
