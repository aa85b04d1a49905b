#include "workloads/stencil/stencil.hpp"

#include <algorithm>

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

/// All of them after a relaxation, in the order of operations that devices have.
template <class Real>
std::vector<Real> end_of(const stencil_size& size, uint32_t steps, std::vector<Real> from) {
  std::vector<Real> to = from;
  const auto inside = [](uint32_t place, uint32_t length) {
    return length == 1 || (place != 0 && place != length - 1);
  };
  const size_t row_length = size.width, plate = row_length * size.height;
  const bool is_rod = size.height == 1, is_plate = !is_rod && size.depth == 1;
  for (uint32_t step = 0; step < steps; ++step) {
    for (uint32_t z = 0; z < size.depth; ++z) {
      for (uint32_t y = 0; y < size.height; ++y) {
        if (!inside(z, size.depth) || !inside(y, size.height)) continue;
        for (size_t x = 1; x + 1 < size.width; ++x) {
          const size_t at = z * plate + y * row_length + x;
          const Real across = from[at - 1] + from[at + 1];
          if (is_rod) {
            to[at] = across * Real{0.5f};
            continue;
          }
          const Real along = from[at - row_length] + from[at + row_length];
          to[at] = is_plate ? (along + across) * Real{0.25f}
                            : ((across + along) + (from[at - plate] + from[at + plate])) * (Real{1} / Real{6});
        }
      }
    }
    from.swap(to);
  }
  return from;
}

/// Points that the host relaxes in some seconds.
constexpr uint64_t most_relaxed = 4'000'000'000;

/// The first buffer, with what it must hold after the steps.
template <class Real>
array_content relaxed(const stencil_size& size, uint32_t steps) {
  const std::vector<Real> start = start_of<Real>(size);
  array_content content = array_content::of(start);
  content.expected = array_content::of(end_of(size, steps, start)).first;
  return content;
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
    : size_(size),
      real_(real),
      steps_(steps),
      first_(real == stencil_real::twice ? relaxed<double>(size, steps) : relaxed<float>(size, steps)),
      second_(first_) {
  second_.expected.reset();
}

std::shared_ptr<run_data> stencil_body::result(std::shared_ptr<arrays> memory) const {
  return std::make_shared<expected_array>(std::move(memory), first_.bytes,
                                          "every point after each of the timed relaxations of " +
                                              std::to_string(steps_) + " steps, bit for bit as the host computed it");
}

}  // namespace gpusync::tool
