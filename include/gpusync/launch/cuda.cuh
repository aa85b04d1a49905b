// Checked launches on a CUDA device: what could deadlock or corrupt a barrier is refused before it starts.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_stream.hpp>
#include <gpusync/launch/arguments.hpp>
#include <gpusync/launch/cuda_admission.hpp>

namespace gpusync {

namespace detail {

/// What a kernel that is a function object runs as.
template <class Function, class... Arguments>
__global__ void run_function_object(Function function, Arguments... arguments) {
  static_assert(std::is_invocable_v<Function&, Arguments&...>,
                "the function object cannot be called on the device with these arguments, of which it gets references");
  function(arguments...);
}

/// An argument as the kernel gets it: converted to the parameter's type if it has another; a copy, byte by byte as for
/// any kernel, if there are handles in it that are to be completed.
template <class Parameter, class Argument>
class kernel_argument {
  using given = std::remove_cv_t<std::remove_reference_t<Argument>>;
  static constexpr bool as_it_is = std::is_same_v<std::remove_cv_t<Parameter>, given>;
  struct nothing {};

  template <class Converted>
  static std::conditional_t<as_it_is, nothing, Parameter> converted(Converted&& argument) {
    if constexpr (as_it_is) {
      return {};
    } else {
      return static_cast<Parameter>(std::forward<Converted>(argument));
    }
  }

 public:
  explicit kernel_argument(Argument&& argument) : converted_(converted(std::forward<Argument>(argument))) {
    if constexpr (as_it_is) {
      address_ = const_cast<void*>(static_cast<const volatile void*>(std::addressof(argument)));
    } else {
      address_ = const_cast<void*>(static_cast<const volatile void*>(std::addressof(converted_)));
    }
  }
  kernel_argument(const kernel_argument&) = delete;
  kernel_argument& operator=(const kernel_argument&) = delete;

  void* address() const { return address_; }

  /// Adds the handles in it to a list. If there are any, the kernel gets a copy, in which they can be completed.
  void add_handles(handle_list& handles) {
    if constexpr (may_hold_handles<Parameter>) {
      bool any = false;
      find_handles<Parameter>(static_cast<unsigned char*>(address_), [&](handle_header&) { any = true; });
      if (!any) return;
      std::memcpy(copy_.bytes, address_, sizeof(Parameter));
      address_ = copy_.bytes;
      find_handles<Parameter>(copy_.bytes, [&](handle_header& found) { handles.add(found); });
    }
  }

 private:
  template <class T, bool Needed>
  struct buffer {
    alignas(T) unsigned char bytes[sizeof(T)];
  };
  template <class T>
  struct buffer<T, false> {};

  std::conditional_t<as_it_is, nothing, Parameter> converted_;
  void* address_;
  buffer<Parameter, may_hold_handles<Parameter>> copy_;
};

/// All arguments of a launch.
template <class... Parameters>
class kernel_arguments;

template <class... Parameters, class... Arguments>
class kernel_arguments<void(Parameters...), Arguments...> {
 public:
  explicit kernel_arguments(Arguments&&... arguments) : values_(std::forward<Arguments>(arguments)...) {
    std::apply([&](auto&... value) { (value.add_handles(handles_), ...); }, values_);
  }

  const handle_list& handles() const { return handles_; }
  /// Calls `use` with what cudaLaunchKernelExC() takes.
  template <class Use>
  void with_pointers(Use&& use) {
    std::apply(
        [&](auto&... value) {
          void* pointers[sizeof...(value) + 1] = {value.address()...};
          use(pointers);
        },
        values_);
  }

 private:
  std::tuple<kernel_argument<Parameters, Arguments>...> values_;
  handle_list handles_;
};

/// Whether each argument can become its parameter; a handle must be one already.
template <class Parameter, class Argument>
inline constexpr bool can_pass =
    std::is_same_v<std::remove_cv_t<Parameter>, std::remove_cv_t<std::remove_reference_t<Argument>>> ||
    (!is_handle<std::remove_cv_t<Parameter>>::value && std::is_convertible_v<Argument, Parameter>);

template <class... Parameters, class... Arguments>
constexpr bool can_pass_all(void (*)(Parameters...), std::tuple<Arguments...>*) {
  if constexpr (sizeof...(Parameters) == sizeof...(Arguments)) {
    return (can_pass<Parameters, Arguments> && ...);
  } else {
    return true;  // that is another sentence's
  }
}

/// What a kernel is launched with. To ask whether it fits says in a sentence if it does not.
template <class Kernel, class Arguments>
struct argument_list;
template <class... Parameters, class... Arguments>
struct argument_list<void(Parameters...), std::tuple<Arguments...>> {
  static constexpr bool as_many = sizeof...(Parameters) == sizeof...(Arguments);
  static constexpr bool convertible =
      can_pass_all(static_cast<void (*)(Parameters...)>(nullptr), static_cast<std::tuple<Arguments...>*>(nullptr));
  static_assert(as_many, "the kernel takes another number of arguments");
  static_assert(convertible, "an argument is not of its parameter's type and cannot be converted to it");
  static constexpr bool fits = as_many && convertible;
};

/// What a launch checks: the shape, that all blocks run at once if they must, and the arguments' storages. Queues and
/// changes nothing. Throws as launch() does.
inline launch_request inspect(const cuda_device& device, cudaStream_t stream, const launch_shape& shape,
                              const void* function, const handle_list& handles, const storage_control::hold& storages) {
  check_shape(device, shape);
  const bool at_once = runs_at_once(device, function, shape, !handles.best_effort());
  launch_request request{shape.blocks.count(), shape.threads.count(), device.ordinal(), stream, false, at_once};
  if (handles.empty()) return request;
  request.captured = is_captured(stream);
  handles.check(storages, request);
  return request;
}

/// All that a launch does but to start the kernel: inspect(), queues what the storages need, and completes the handles.
/// Returns whether the launch is to be cooperative.
inline bool admit(const cuda_device& device, cudaStream_t stream, const launch_shape& shape, const void* function,
                  const handle_list& handles) {
  const storage_control::hold storages;
  const launch_request request = inspect(device, stream, shape, function, handles, storages);
  handles.for_each(storages, [&](storage_control& storage, handle_header& handle) {
    storage.prepare(handle, request);
    storage.complete(handle, request);
  });
  return request.at_once;
}

/// Starts a kernel that has been admitted, at_once or not; `pointers` as cudaLaunchKernel() takes them.
inline void start_admitted(cudaStream_t stream, const launch_shape& shape, const void* function, void** pointers,
                           bool at_once) {
  cudaError_t code;
  if (shape.cluster == 1 && at_once) {
    code = cudaLaunchCooperativeKernel(function, to_dim3(shape.blocks), to_dim3(shape.threads), pointers,
                                       shape.shared_bytes, stream);
  } else {
    const launch_config config(shape, stream, at_once);
    code = cudaLaunchKernelExC(config.get(), function, pointers);
  }
  if (code == cudaSuccess) return;
  forget_admissions();  // what was known of the kernel may have changed
  check_cuda(code, "The launch of the kernel");
}

/// admit(), and starts the kernel with the pointers that `with_pointers(use)` hands to `use`. If that fails, storages
/// on which nothing was queued are free for other streams, as before.
template <class WithPointers>
void admit_and_start(const cuda_device& device, cudaStream_t stream, const launch_shape& shape, const void* function,
                     const handle_list& handles, WithPointers&& with_pointers) {
  const bool at_once = admit(device, stream, shape, function, handles);
  try {
    with_pointers([&](void** pointers) { start_admitted(stream, shape, function, pointers, at_once); });
  } catch (...) {
    handles.withdraw();
    throw;
  }
}

/// inspect() for a kernel and its arguments.
template <class... Parameters, class... Arguments>
void inspect_function(const cuda_device& device, cudaStream_t stream, const launch_shape& shape,
                      void (*kernel)(Parameters...), Arguments&&... values) {
  with_reports(device.ordinal(), [&] {
    const cuda_device_scope scope(device.ordinal());
    const kernel_arguments<void(Parameters...), Arguments...> arguments(std::forward<Arguments>(values)...);
    (void)inspect(device, stream, shape, reinterpret_cast<const void*>(kernel), arguments.handles(),
                  storage_control::hold());
  });
}

template <class... Parameters, class... Arguments>
void launch_function(const cuda_device& device, cudaStream_t stream, const launch_shape& shape,
                     void (*kernel)(Parameters...), Arguments&&... values) {
  with_reports(device.ordinal(), [&] {
    const cuda_device_scope scope(device.ordinal());
    const void* function = reinterpret_cast<const void*>(kernel);
    kernel_arguments<void(Parameters...), Arguments...> arguments(std::forward<Arguments>(values)...);
    admit_and_start(device, stream, shape, function, arguments.handles(),
                    [&](auto&& use) { arguments.with_pointers(use); });
  });
}

template <class Function, class... Arguments>
constexpr auto as_kernel() {
  return &run_function_object<Function, std::decay_t<Arguments>...>;
}

}  // namespace detail

/// How many blocks of `kernel` of the given shape run at once on `device`, and what limits them.
template <class... Parameters>
residency max_co_resident(const cuda_device& device, void (*kernel)(Parameters...), const launch_shape& shape) {
  return max_co_resident(device, reinterpret_cast<const void*>(kernel), shape);
}

/// The same for a kernel that is a function object or an extended lambda, called with arguments of these types:
/// max_co_resident<gpusync::grid_barrier, float*>(device, object, shape).
template <class... Arguments, class Function, class = std::enable_if_t<std::is_class_v<Function>>>
residency max_co_resident(const cuda_device& device, const Function&, const launch_shape& shape) {
  return max_co_resident(device, detail::as_kernel<Function, Arguments...>(), shape);
}

/// Throws what launch() would throw for `kernel` in this shape, whatever its arguments: invalid_argument for a shape
/// that no launch can have, not_co_resident, with the limit and its cause, if the blocks cannot all run at once.
template <class... Parameters>
void require_co_resident(const cuda_device& device, void (*kernel)(Parameters...), const launch_shape& shape) {
  require_co_resident(device, reinterpret_cast<const void*>(kernel), shape);
}

/// Starts `kernel` on `stream` with all its blocks running at once, as grid barriers need. A kernel whose only handles
/// are windows of pace::best_effort is also started if they cannot, in any number.
///
/// Asynchronous: returns when the launch is queued. It can be captured into a CUDA graph. Handles (barriers, phased
/// grids, fault-tolerant barriers) may be arguments of their own or stand in structs among the arguments; their
/// storages are asked.
///
/// Throws not_co_resident, with the limit and its cause, if the blocks cannot all run at once; invalid_argument for a
/// shape that no launch can have, a storage that is too small, of another device, or used for two handles of the
/// launch; storage_in_use for one whose launches go to another stream; broken_barrier for one that must be reset;
/// cuda_failure for the rest, with the reason if an earlier launch broke a rule of the library and ended the device's
/// context. Nothing was started then.
template <class... Parameters, class... Arguments>
void launch(const cuda_device& device, cudaStream_t stream, const launch_shape& shape, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
  if constexpr (detail::argument_list<void(Parameters...), std::tuple<Arguments...>>::fits) {
    detail::launch_function(device, stream, shape, kernel, std::forward<Arguments>(arguments)...);
  }
}

/// The same for a kernel that is a function object or an extended lambda (nvcc --extended-lambda), callable on the
/// device with the arguments, of which it gets references to the kernel's own copies:
///   launch(gpu, stream, {blocks, threads}, [=] __device__(gpusync::grid_barrier& barrier, float* a) { … },
///          storage.barrier(), a);
template <class Function, class... Arguments,
          class = std::enable_if_t<std::is_class_v<std::remove_reference_t<Function>>>>
void launch(const cuda_device& device, cudaStream_t stream, const launch_shape& shape, Function&& function,
            Arguments&&... arguments) {
  detail::launch_function(device, stream, shape,
                          detail::as_kernel<std::remove_cv_t<std::remove_reference_t<Function>>, Arguments...>(),
                          std::forward<Function>(function), std::forward<Arguments>(arguments)...);
}

/// The same for a kernel that is known by its address, as cudaLaunchKernel() takes it. `arguments`: pointers to its
/// first parameters; the others are `handles`, e.g. storage.barrier(). Nothing can be checked of their number and
/// types.
template <class... Handles>
void launch_by_address(const cuda_device& device, cudaStream_t stream, const launch_shape& shape, const void* kernel,
                       std::vector<void*> arguments, Handles&&... handles) {
  static_assert((detail::is_handle<std::decay_t<Handles>>::value && ...),
                "the last parameters are barriers or other handles");
  detail::with_reports(device.ordinal(), [&] {
    const cuda_device_scope scope(device.ordinal());
    detail::kernel_arguments<void(std::decay_t<Handles>...), Handles...> last(std::forward<Handles>(handles)...);
    detail::admit_and_start(device, stream, shape, kernel, last.handles(), [&](auto&& use) {
      last.with_pointers([&](void** pointers) {
        arguments.insert(arguments.end(), pointers, pointers + sizeof...(handles));
        use(arguments.data());
      });
    });
  });
}

/// For launches by `<<<>>>`, cudaLaunchCooperativeKernel() or another library: everything that launch() does before it
/// starts the kernel. Throws as launch() does. Call it right before each such launch, with what is launched, in the
/// same order on the same stream.
///
/// What such a launch still lacks: by `<<<>>>` the promise that all blocks run at once, which only a cooperative launch
/// has (other kernels may take their places); and the plan of the default barrier for the very grid: its blocks make
/// the plan fit that suits as many blocks as the storage serves, of 256 threads, and take longer to their first
/// phase.
template <class... Parameters, class... Arguments>
void check_launch(const cuda_device& device, cudaStream_t stream, const launch_shape& shape,
                  void (*kernel)(Parameters...), Arguments&&... arguments) {
  if constexpr (detail::argument_list<void(Parameters...), std::tuple<Arguments...>>::fits) {
    detail::with_reports(device.ordinal(), [&] {
      const cuda_device_scope scope(device.ordinal());
      detail::kernel_arguments<void(Parameters...), Arguments...> all(std::forward<Arguments>(arguments)...);
      (void)detail::admit(device, stream, shape, reinterpret_cast<const void*>(kernel), all.handles());
    });
  }
}

/// Waits for `stream`. Throws cuda_failure if a launch has failed, with what the storages of the device have to say of
/// it: which block missed which phase, or broke which rule.
inline void synchronize(const cuda_device& device, cudaStream_t stream = nullptr) {
  const auto wait = [&] {
    const cuda_device_scope scope(device.ordinal());
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  };
  detail::with_reports(device.ordinal(), wait, true);
}

}  // namespace gpusync
