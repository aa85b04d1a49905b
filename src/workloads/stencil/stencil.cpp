#include "workloads/stencil/stencil.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace gpusync::tool {

namespace {

/// Temperatures from 0 to 1 that look random.
template <class Real>
std::vector<Real> start_of(const stencil_size& size) {
  std::vector<Real> body(size_t{size.width} * size.height * size.depth);
  size_t i = 0;
  for (uint32_t row = 0; row < size.height * size.depth; ++row) {
    for (uint32_t column = 0; column < size.width; ++column) {
      uint32_t h = row * 0x9e3779b9u ^ column * 0x85ebca6bu;
      h ^= h >> 16;
      h *= 0x7feb352du;
      h ^= h >> 15;
      body[i++] = static_cast<Real>(h >> 8) * (Real{1} / 16777216);
    }
  }
  return body;
}

/// One step, in the order of operations that devices have; returns the largest change of a point, if it Asks: that
/// takes as long as the step.
template <bool Asks, class Real>
Real relax_once(const stencil_size& size, const std::vector<Real>& from, std::vector<Real>& to) {
  const auto inside = [](uint32_t place, uint32_t length) {
    return length == 1 || (place != 0 && place != length - 1);
  };
  const size_t row_length = size.width, plate = row_length * size.height;
  const bool is_rod = size.height == 1, is_plate = !is_rod && size.depth == 1;
  Real largest = 0;
  for (uint32_t z = 0; z < size.depth; ++z) {
    for (uint32_t y = 0; y < size.height; ++y) {
      if (!inside(z, size.depth) || !inside(y, size.height)) continue;
      for (size_t x = 1; x + 1 < size.width; ++x) {
        const size_t at = z * plate + y * row_length + x;
        const Real across = from[at - 1] + from[at + 1];
        if (is_rod) {
          to[at] = across * Real{0.5f};
        } else {
          const Real along = from[at - row_length] + from[at + row_length];
          to[at] = is_plate ? (along + across) * Real{0.25f}
                            : ((across + along) + (from[at - plate] + from[at + plate])) * (Real{1} / Real{6});
        }
        if constexpr (Asks) largest = std::max(largest, std::abs(to[at] - from[at]));
      }
    }
  }
  return largest;
}

/// Points that the host relaxes in some seconds.
constexpr uint64_t most_relaxed = 4'000'000'000;

/// Points, and what becomes of them.
template <class Real>
class relaxation {
 public:
  explicit relaxation(const stencil_size& size)
      : size_(size), start_(start_of<Real>(size)), from_(start_), to_(from_) {}

  /// Returns the largest change of a point, if it Asks.
  template <bool Asks>
  Real step() {
    const Real largest = relax_once<Asks>(size_, from_, to_);
    from_.swap(to_);
    return largest;
  }
  /// The first buffer, with what it must hold now.
  array_content content() const {
    array_content made = array_content::of(start_);
    made.expected = array_content::of(from_).first;
    return made;
  }

 private:
  const stencil_size size_;
  const std::vector<Real> start_;
  std::vector<Real> from_, to_;
};

/// Relaxes until nothing changes by more than a tolerance that lies between the largest changes of two steps, some
/// `steps` steps behind the start, and one step more. Returns the tolerance; `steps` then says how many these were.
template <class Real>
Real relax_until_converged(relaxation<Real>& body, uint32_t& steps) {
  const uint32_t wanted = steps;
  // What is said to be larger must be so whatever is rounded: all points are at most 1.
  constexpr Real margin = 4 * std::numeric_limits<Real>::epsilon();
  Real least = body.template step<true>();  // of all steps before
  for (uint32_t step = 1; step < wanted + wanted / 2 + 2; ++step) {
    const Real largest = body.template step<true>();
    if (step + 2 >= wanted && least - largest > 2 * margin) {
      (void)body.template step<false>();
      steps = step + 2;
      return largest + (least - largest) / 2;
    }
    least = std::min(least, largest);
  }
  throw invalid_argument("From step " + std::to_string(wanted) +
                         " on the points of this body change by so much the same in each step that no tolerance tells "
                         "them apart: take fewer steps.");
}

template <class Real>
std::pair<array_content, std::optional<double>> relaxed(const stencil_size& size, uint32_t& steps, bool converges) {
  relaxation<Real> body(size);
  std::optional<double> tolerance;
  if (converges) {
    tolerance = relax_until_converged(body, steps);
  } else {
    for (uint32_t step = 0; step < steps; ++step) (void)body.template step<false>();
  }
  return {body.content(), tolerance};
}

}  // namespace

uint32_t stencil_steps_of(const stencil_size& size) {
  uint64_t shortest = size.width, points = size.width;
  for (const uint32_t side : {size.height, size.depth}) {
    points *= side;
    if (side > 1) shortest = std::min<uint64_t>(shortest, side);
  }
  const uint64_t affordable = std::max<uint64_t>(2, most_relaxed / points);
  return static_cast<uint32_t>(std::min({uint64_t{1000}, shortest * shortest, affordable}) / 2 * 2);
}

stencil_body::stencil_body(const stencil_size& size, stencil_real real, uint32_t steps)
    : stencil_body(size, real, steps, false) {}

stencil_body::stencil_body(const stencil_size& size, stencil_real real, uint32_t steps, bool converges)
    : size_(size), real_(real), steps_(steps) {
  std::tie(first_, tolerance_) =
      real == stencil_real::twice ? relaxed<double>(size, steps_, converges) : relaxed<float>(size, steps_, converges);
  second_ = first_;
  second_.expected.reset();
}

stencil_body stencil_body::until_converged(const stencil_size& size, stencil_real real, uint32_t steps) {
  if (size.height == 1) throw invalid_argument("Rods have a number of steps: plates and cubes converge.");
  const uint64_t points = uint64_t{size.width} * size.height * size.depth;
  if (points * steps > most_relaxed) {
    throw invalid_argument("The host relaxes this body too: " + std::to_string(most_relaxed / points) +
                           " steps in some seconds, not " + std::to_string(steps) + ".");
  }
  return {size, real, steps, true};
}

std::shared_ptr<run_data> stencil_body::result(std::shared_ptr<arrays> memory) const {
  return std::make_shared<expected_array>(std::move(memory), first_.bytes,
                                          "every point after each of the timed relaxations of " +
                                              std::to_string(steps_) + " steps, bit for bit as the host computed it");
}

}  // namespace gpusync::tool
