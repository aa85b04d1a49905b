// What blocks of a kernel wait by besides grid barriers: any storage of the library's, for the engine.
#pragma once

#include <memory>
#include <random>
#include <utility>

#include <gpusync/core/cuda_memory.cuh>
#include <gpusync/launch/cuda.cuh>

#include "boundary/cuda_barriers.hpp"

namespace gpusync::tool {

/// What `make()` returns; `give(made, take)` calls `take(handle…)` with the kernel's last parameters.
template <class Make, class Give>
class cuda_waiting_by : public cuda_waiting {
 public:
  cuda_waiting_by(const cuda_target& where, Make make, Give give)
      : where_(where), make_(std::move(make)), give_(std::move(give)), storage_(made()) {}

  void launch(const cuda_target& where, const launch_shape& shape, const void* kernel,
              std::vector<void*> arguments) override {
    give_(*storage_, [&](auto... handles) {
      launch_by_address(where.device(), where.stream(), shape, kernel, std::move(arguments), handles...);
    });
  }
  void place_anew() override {
    // Allocations are told apart by multiples of 512 bytes, and lines of the L2 cache by less than a megabyte.
    static std::minstd_rand pieces(std::random_device{}());
    const cuda_buffer spacer(where_.device(), 512 * (1 + pieces() % 2048), where_.stream());
    storage_ = made();
  }

 private:
  using storage_type = decltype(std::declval<const Make&>()());
  std::unique_ptr<storage_type> made() const { return std::make_unique<storage_type>(make_()); }

  const cuda_target where_;
  const Make make_;
  const Give give_;
  std::unique_ptr<storage_type> storage_;
};

/// For kernels with several handles.
template <class Make, class Give>
std::unique_ptr<cuda_waiting> waiting_by_several(const cuda_target& where, Make make, Give give) {
  return std::make_unique<cuda_waiting_by<Make, Give>>(where, std::move(make), std::move(give));
}
/// A storage that `make()` returns, of which `handle(storage)` makes the kernel's last parameter.
template <class Make, class Handle>
std::unique_ptr<cuda_waiting> waiting_by(const cuda_target& where, Make make, Handle handle) {
  return waiting_by_several(where, std::move(make), [handle](auto& storage, auto&& take) { take(handle(storage)); });
}

}  // namespace gpusync::tool
