// What the storages of wait-free objects have in common, whatever memory is behind them.
#pragma once

#include <vector>

#include <gpusync/rmw/object.hpp>

namespace gpusync::detail {

/// The base of cuda_rmw_storage and host_rmw_storage.
template <class Object, class Backend>
class object_storage {
 public:
  using object_type = Object;
  using state_type = typename Object::state_type;

  /// The object to hand to a kernel, or to threads.
  object_type object() const { return object_type(words_.data()); }

  /// The state. Waits for the device, if there is one. Precondition: no call is under way, and those that have ended
  /// happen before this one. What a crashed participant has announced may be applied later.
  state_type state() const { return object_type::settled_state(words_.read().data()); }

  /// A fresh object. Blocking. Precondition: nobody uses it, nor a participant that joined before.
  void reset(const state_type& first = state_type{}) {
    std::vector<uint64_t> image(object_type::words);
    object_type::start(image.data(), first);
    words_.write(image);
  }

  /// Bytes of the memory that participants share.
  size_t bytes() const { return object_type::bytes; }

 protected:
  object_storage(const typename Backend::place& where, const state_type& first) : words_(where, object_type::words) {
    reset(first);
  }

 private:
  typename Backend::template words<uint64_t> words_;
};

}  // namespace gpusync::detail
