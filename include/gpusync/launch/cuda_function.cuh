// Checked launches of kernels that the driver knows: a CUfunction, as NVRTC's users and other languages have it.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <vector>

#include <gpusync/core/cuda_memory_range.hpp>
#include <gpusync/core/cuda_stream.hpp>
#include <gpusync/core/storage_control.hpp>
#include <gpusync/grid/addressed_barrier.cuh>
#include <gpusync/launch/cuda_admission.hpp>

namespace gpusync {

namespace detail {

/// A kernel that the driver knows: what residency_of() asks of it.
class driver_kernel {
 public:
  /// Throws invalid_argument for null and for kernels that are launched in clusters.
  explicit driver_kernel(CUfunction function) : function_(function) {
    if (function == nullptr) throw invalid_argument("No kernel was given, but null.");
    attributes_.numRegs = ask(CU_FUNC_ATTRIBUTE_NUM_REGS);
    attributes_.sharedSizeBytes = static_cast<size_t>(ask(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    attributes_.maxThreadsPerBlock = ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attributes_.maxDynamicSharedSizeBytes = ask(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    const int width = ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
    if (std::max({width, ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
                  ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)}) > 1) {
      throw invalid_argument(
          "The kernel was compiled for clusters of blocks; launches of a CUfunction here have none.");
    }
  }

  const cudaFuncAttributes& attributes() const { return attributes_; }

  void allow_shared(size_t bytes) const {
    static const auto set = driver_function<CUresult (*)(CUfunction, CUfunction_attribute, int)>("cuFuncSetAttribute");
    check_driver(set(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes)),
                 "cuFuncSetAttribute");
  }
  int blocks_per_sm(uint64_t threads, size_t shared_bytes) const {
    static const auto count =
        driver_function<CUresult (*)(int*, CUfunction, int, size_t)>("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    int per_sm = 0;
    check_driver(count(&per_sm, function_, static_cast<int>(threads), shared_bytes),
                 "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return per_sm;
  }
  uint64_t clusters(const cuda_device&, const launch_shape&) const {
    throw invalid_argument("Launches of a CUfunction have no clusters here: use a kernel that the runtime knows.");
  }

 private:
  int ask(CUfunction_attribute which) const {
    static const auto get = driver_function<CUresult (*)(int*, CUfunction_attribute, CUfunction)>("cuFuncGetAttribute");
    int value = 0;
    check_driver(get(&value, which, function_), "cuFuncGetAttribute");
    return value;
  }

  CUfunction function_;
  cudaFuncAttributes attributes_{};
};

/// A list of the headers in an array, which must live as long.
template <size_t Count>
handle_list list_of(handle_header (&headers)[Count]) {
  handle_list handles;
  for (handle_header& header : headers) handles.add(header);
  return handles;
}

/// The device's context, made if there is none, current for a scope: the driver does not make it as the runtime does.
class cuda_context_scope : public cuda_device_scope {
 public:
  explicit cuda_context_scope(const cuda_device& device) : cuda_device_scope(device.ordinal()) {
    const cuda_driver& driver = cuda_driver::get();
    int current = 0;
    if (!driver.ask(driver.current_device, &current)) check_cuda(cudaFree(nullptr), "cudaFree");
  }
};

}  // namespace detail

/// How many blocks of a kernel that the driver knows run at once on `device` in the given shape, and what limits them.
/// Throws invalid_argument for a shape that no launch can have, runtime_failure.
inline residency max_co_resident(const cuda_device& device, CUfunction kernel, const launch_shape& shape) {
  const detail::cuda_context_scope scope(device);
  return detail::residency_of(device, detail::driver_kernel(kernel), shape);
}

/// Everything that launch_function() does before it starts the kernel: for cooperative launches by other means. Call it
/// right before each such launch, in the same order on the same stream. Throws as launch_function() does.
template <class... Storages>
void check_launch_function(const cuda_device& device, cudaStream_t stream, const launch_shape& shape, CUfunction kernel,
                           Storages&... storages) {
  static_assert(sizeof...(Storages) != 0,
                "a kernel that waits for all blocks has a barrier, whose storage stands here");
  detail::with_reports(device.ordinal(), [&] {
    const detail::cuda_context_scope scope(device);
    check_shape(device, shape);
    const detail::driver_kernel asked(kernel);
    require_co_resident(detail::residency_of(device, asked, shape), device.name(), shape,
                        detail::needs_of(asked.attributes(), shape));
    detail::handle_header headers[] = {storages.header()...};
    const detail::handle_list handles = detail::list_of(headers);
    const detail::storage_control::hold living;
    const detail::launch_request request{
        shape.blocks.count(), shape.threads.count(), device.ordinal(), stream, detail::is_captured(stream), true};
    handles.check(living, request);
    handles.for_each(living, [&](detail::storage_control& storage, const detail::handle_header& handle) {
      storage.prepare(handle, request);
    });
  });
}

/// Starts a kernel that the driver knows (NVRTC's, by cuModuleGetFunction() or cudaLibraryGetKernel()), with all its
/// blocks running at once. `arguments`: pointers to its parameters, as cuLaunchKernel() takes them; nothing can be
/// checked of their number and types. `storages`: those whose addresses are among them (addressed_barrier_storage).
///
/// Asynchronous. Throws not_co_resident, with the limit and its cause, if the blocks cannot all run at once;
/// invalid_argument for a shape that no launch can have, a kernel for clusters, a storage that is too small, of another
/// device, given twice, or in memory that has been freed; storage_in_use for one whose launches go to another stream;
/// broken_barrier for one that must be reset; runtime_failure for the rest. Nothing was started then.
template <class... Storages>
void launch_function(const cuda_device& device, cudaStream_t stream, const launch_shape& shape, CUfunction kernel,
                     std::vector<void*> arguments, Storages&... storages) {
  check_launch_function(device, stream, shape, kernel, storages...);
  static const auto start =
      detail::driver_function<CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                           unsigned, CUstream, void**)>("cuLaunchCooperativeKernel");
  detail::with_reports(device.ordinal(), [&] {
    const detail::cuda_context_scope scope(device);
    const CUresult code =
        start(kernel, shape.blocks.x, shape.blocks.y, shape.blocks.z, shape.threads.x, shape.threads.y, shape.threads.z,
              static_cast<unsigned>(shape.shared_bytes), stream, arguments.data());
    if (code != CUDA_SUCCESS) {
      detail::handle_header headers[] = {storages.header()...};
      detail::list_of(headers).withdraw();
    }
    detail::check_driver(code, "cuLaunchCooperativeKernel");
  });
}

}  // namespace gpusync
