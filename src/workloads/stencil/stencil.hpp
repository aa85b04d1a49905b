// Workload "stencil", whatever device it runs on. C++17: CUDA sources include it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "boundary/arrays.hpp"
#include "boundary/computation.hpp"
#include "boundary/device_side.hpp"
#include "boundary/step_text.h"

namespace gpusync::tool {

#include "workloads/stencil/stencil_text.h"

/// Steps of one relaxation, even, so that it ends in the buffer in which it began: 1,000, but for small bodies no more
/// than the square of the shortest side. What goes wrong in a step is smoothed away in some three times as many, and
/// would not be found at the end. For large bodies so few that the host computes them in some seconds.
uint32_t stencil_steps_of(const stencil_size& size);

/// What a point is.
enum class stencil_real { single, twice };

/// A body, and what becomes of it.
class stencil_body {
 public:
  /// Computes on the host what devices must find bit for bit: some seconds for large bodies. `steps`: even.
  stencil_body(const stencil_size& size, stencil_real real, uint32_t steps);
  stencil_body(const stencil_size& size, stencil_real real) : stencil_body(size, real, stencil_steps_of(size)) {}
  explicit stencil_body(const stencil_size& size) : stencil_body(size, stencil_real::single) {}
  /// One that is relaxed until no point changes by more than a tolerance, and then for one step more: so the answer of
  /// a step may be under way while the next is computed. Of some `steps` steps, which the tolerance is chosen for.
  /// Throws invalid_argument for a rod, if there is no such tolerance, for the largest change must become smaller from
  /// step to step, and if the host would take long.
  static stencil_body until_converged(const stencil_size& size, stencil_real real, uint32_t steps);

  const stencil_size& size() const { return size_; }
  stencil_real real() const { return real_; }
  /// None: the number of steps is given.
  std::optional<double> tolerance() const { return tolerance_; }
  /// Two buffers that both hold the start. The rim (a rod's ends, a block's faces) keeps its own.
  std::vector<array_content> content() const { return {first_, second_}; }
  /// The check of runs in such memory.
  std::shared_ptr<run_data> result(std::shared_ptr<arrays> memory) const;
  /// Whole relaxations.
  step_sequence steps() const { return step_sequence::of_whole(steps_); }

 private:
  stencil_body(const stencil_size& size, stencil_real real, uint32_t steps, bool converges);

  stencil_size size_;
  stencil_real real_;
  uint32_t steps_;
  std::optional<double> tolerance_;
  array_content first_, second_;
};

/// Calls `use` with the text for a body of this size on two buffers; returns what it returns.
template <class Real, class Use>
auto with_stencil_text(const stencil_size& size, Real* a, Real* b, Use&& use) {
  const uint32_t dimensions = stencil_dimensions(size);
  if (dimensions == 1) return use(stencil_text<Real, 1>{{}, a, b, size});
  if (dimensions == 2) return use(stencil_text<Real, 2>{{}, a, b, size});
  return use(stencil_text<Real, 3>{{}, a, b, size});
}
/// The same for a body in such memory.
template <class Memory, class Use>
auto with_text_of(const stencil_body& body, Memory& memory, Use&& use) {
  const auto in = [&](auto* a, auto* b) { return with_stencil_text(body.size(), a, b, use); };
  if (body.real() == stencil_real::twice) {
    return in(memory.template address<double>(0), memory.template address<double>(1));
  }
  return in(memory.template address<float>(0), memory.template address<float>(1));
}

/// The device side.
class stencil_device {
 public:
  virtual ~stencil_device() = default;
  /// Whether the device has such numbers.
  virtual bool has(stencil_real) const { return true; }
  /// The workload on this body. It must not outlive this object.
  virtual std::unique_ptr<workload> relaxing(const stencil_body& body) = 0;
};

}  // namespace gpusync::tool
