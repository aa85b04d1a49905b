// What the things that a kernel holds in its hand have in common: they are not copied, and a launch can find them.
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync::detail {

/// False, and only known to be so once T is: for static_asserts in templates.
template <class T>
inline constexpr bool always_false = false;

/// Whether two types are one. (Headers that are compiled at run time have no <type_traits>.)
template <class One, class Other>
inline constexpr bool same_type = false;
template <class One>
inline constexpr bool same_type<One, One> = true;

/// Says that a constructor makes what one thread of a kernel holds of what the kernel was given.
struct for_one_thread {};

/// Base of the handles. A handle knows how far its block has come; of two copies one would fall behind, and its next
/// wait would end at once. So the compiler refuses to copy one, as it does std::barrier and cuda::barrier. (A deleted
/// constructor would say no more than that it is deleted.)
///
/// A kernel takes a handle as a parameter of its own, by value, and whatever it calls takes it by reference. No moves
/// either: what is left behind by a move could still be used.
template <class Handle>
class passed_by_reference {
 public:
  GPUSYNC_HD passed_by_reference(const passed_by_reference&) {
    static_assert(always_false<Handle>,
                  "a handle is passed by reference, for a copy would not know how far its block has come: write "
                  "gpusync::grid_barrier& barrier (or auto&) in the parameter list of what a kernel calls, [&] in a "
                  "lambda within the kernel; to a launch give storage.barrier() itself");
  }
  GPUSYNC_HD passed_by_reference& operator=(const passed_by_reference&) {
    static_assert(always_false<Handle>, "a handle cannot be assigned: keep a reference to it, or a pointer");
    return *this;
  }

 protected:
  GPUSYNC_HD constexpr passed_by_reference() {}
};

/// What a handle is to a launch.
enum class handle_kind : uint32_t {
  whole_grid,          ///< a barrier of all blocks
  part,                ///< a barrier of the blocks `first` to `first + count - 1`
  dropping,            ///< a barrier that blocks may leave early
  survivors,           ///< a fault-tolerant barrier
  evidence,            ///< a permit for objects that stand on evidence for one device
  strict_window,       ///< a window of pace, whose waits end when the other blocks come
  best_effort_window,  ///< one whose waits end by themselves: the blocks need not all run at once
  exact_grid,          ///< of a grid of exactly as many blocks as its storage was made for
  at_least_grid,       ///< of a grid of at least so many
  at_most_grid,        ///< a phased grid: its launch has at most `count` blocks
};

/// What every handle begins with. A launch finds it among the bytes of a kernel's arguments, also inside a struct or
/// among what a lambda has captured, and asks the storage that made it (core/storage_control.hpp).
struct handle_header {
  static constexpr uint64_t magic = 0x9e6b70c5d41f2a83u;

  uint64_t tag = 0;    ///< magic; 0 for handles of no storage, which are on their own
  uint64_t owner = 0;  ///< the storage's number, never used twice in a process
  handle_kind kind = handle_kind::whole_grid;
  uint32_t first = 0;
  uint32_t count = 0;
};

}  // namespace gpusync::detail
