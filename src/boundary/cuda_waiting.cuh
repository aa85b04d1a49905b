// What blocks of a kernel wait by besides grid barriers: any storage of the library's, for the engine.
#pragma once

#include <memory>
#include <utility>

#include <gpusync/core/cuda_memory.cuh>
#include <gpusync/launch/cuda.cuh>

#include "boundary/cuda_barriers.hpp"

namespace gpusync::tool {

/// What `make()` returns; `give(made, take)` calls `take(handle…)` with the kernel's last parameters, and `renew(made)`
/// takes other memory for what does not choose where its words lie.
template <class Make, class Give, class Renew>
class cuda_waiting_by : public cuda_waiting {
 public:
  cuda_waiting_by(const cuda_target& where, const Make& make, Give give, Renew renew)
      : where_(where), give_(std::move(give)), renew_(std::move(renew)), made_(make()) {}

  void launch(const cuda_target& where, const launch_shape& shape, const void* kernel,
              std::vector<void*> arguments) override {
    give_(made_, [&](auto... handles) {
      launch_by_address(where.device(), where.stream(), shape, kernel, std::move(arguments), handles...);
    });
  }
  void place_anew() override {
    const cuda_buffer spacer = where_.spacer();
    renew_(made_);
  }

 private:
  const cuda_target where_;
  const Give give_;
  const Renew renew_;
  decltype(std::declval<const Make&>()()) made_;
};

/// For kernels with several handles.
template <class Make, class Give, class Renew>
std::unique_ptr<cuda_waiting> waiting_by_several(const cuda_target& where, Make make, Give give, Renew renew) {
  return std::make_unique<cuda_waiting_by<Make, Give, Renew>>(where, make, std::move(give), std::move(renew));
}
/// A storage that `make()` returns, of which `handle(storage)` makes the kernel's last parameter.
template <class Make, class Handle>
std::unique_ptr<cuda_waiting> waiting_by(const cuda_target& where, Make make, Handle handle) {
  const auto made = [make] { return std::make_unique<decltype(make())>(make()); };
  return waiting_by_several(
      where, made, [handle](auto& storage, auto&& take) { take(handle(*storage)); },
      [made](auto& storage) { storage = made(); });
}

}  // namespace gpusync::tool
