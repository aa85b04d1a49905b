// What a launch does with the arguments that it is given.
#pragma once

#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpusync/core/storage_control.hpp>
#include <gpusync/grid/barrier.hpp>
#include <gpusync/launch/shape.hpp>

namespace gpusync::detail {

/// Whether a type is a handle itself: it can show its header.
template <class T, class = void>
struct is_handle {
  static constexpr bool value = false;
};
template <class T>
struct is_handle<T, decltype(void(std::declval<const T&>().header().owner))> {
  static constexpr bool value = true;
};

/// Whether handles may be found among the bytes of a T.
template <class T>
inline constexpr bool may_hold_handles = std::is_class_v<T> && sizeof(T) >= sizeof(handle_header) &&
                                         alignof(T) >= alignof(handle_header);

/// Calls `found(header)` for each handle among the bytes of a T at `bytes`. A handle begins with its header.
template <class T, class Found>
void find_handles(unsigned char* bytes, Found&& found) {
  constexpr size_t last = is_handle<T>::value ? 0 : sizeof(T) - sizeof(handle_header);
  for (size_t at = 0; at <= last; at += alignof(handle_header)) {
    uint64_t tag;
    std::memcpy(&tag, bytes + at, sizeof(tag));
    if (tag == handle_header::magic) found(*reinterpret_cast<handle_header*>(bytes + at));
  }
}

/// What one thread of a kernel on host threads gets of an argument.
template <class Argument>
Argument for_a_thread(const Argument& argument) {
  if constexpr (is_handle<Argument>::value) {
    return Argument(for_one_thread{}, argument);
  } else {
    return Argument(argument);
  }
}

/// An argument of a launch on host threads: of a handle a copy, which the launch completes.
template <class Argument, bool Handle = is_handle<Argument>::value>
struct launch_argument {
  explicit launch_argument(const Argument& given) : value(given) {}
  const Argument& value;
};
template <class Argument>
struct launch_argument<Argument, true> {
  explicit launch_argument(const Argument& given) : value(for_one_thread{}, given) {}
  Argument value;
};

/// The arguments of a launch on host threads.
template <class... Arguments>
class launch_arguments {
 public:
  explicit launch_arguments(const Arguments&... given) : all_(given...) {}

  /// Calls `visit(argument)` for each: of a handle with the copy.
  template <class Visit>
  void each(Visit&& visit) {
    std::apply([&](auto&... one) { (visit(one.value), ...); }, all_);
  }
  /// Calls a thread's copy of the kernel with copies of all of them.
  template <class Kernel>
  void call(Kernel& kernel) const {
    std::apply([&](const auto&... one) { kernel(for_a_thread(one.value)...); }, all_);
  }

 private:
  std::tuple<launch_argument<Arguments>...> all_;
};

/// Adds the handle that an argument of a launch on host threads is; a struct of them cannot be copied for each thread.
template <class Argument>
void add_handle(handle_list& handles, Argument& argument) {
  if constexpr (is_handle<Argument>::value) {
    // Who makes its header up when asked is of no storage.
    if constexpr (std::is_reference_v<decltype(argument.header())>) {
      if (argument.header().tag == handle_header::magic) handles.add(const_cast<handle_header&>(argument.header()));
    }
  }
}

}  // namespace gpusync::detail
