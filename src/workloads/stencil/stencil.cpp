#include "workloads/stencil/stencil.hpp"

#include <algorithm>

namespace gpusync::tool {

namespace {

/// Temperatures from 0 to 1 that look random.
std::vector<float> start_of(const stencil_size& size) {
  std::vector<float> body(size_t{size.width} * size.height * size.depth);
  size_t i = 0;
  for (uint32_t row = 0; row < size.height * size.depth; ++row) {
    for (uint32_t column = 0; column < size.width; ++column) {
      uint32_t h = row * 0x9e3779b9u ^ column * 0x85ebca6bu;
      h ^= h >> 16;
      h *= 0x7feb352du;
      h ^= h >> 15;
      body[i++] = static_cast<float>(h >> 8) * (1.0f / 16777216.0f);
    }
  }
  return body;
}

/// All of them after a relaxation, in the order of operations that devices have.
std::vector<float> end_of(const stencil_size& size, uint32_t steps, std::vector<float> from) {
  std::vector<float> to = from;
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
          const float across = from[at - 1] + from[at + 1];
          if (is_rod) {
            to[at] = across * 0.5f;
            continue;
          }
          const float along = from[at - row_length] + from[at + row_length];
          to[at] = is_plate ? (along + across) * 0.25f
                            : ((across + along) + (from[at - plate] + from[at + plate])) * (1.0f / 6.0f);
        }
      }
    }
    from.swap(to);
  }
  return from;
}

}  // namespace

uint32_t stencil_steps_of(const stencil_size& size) {
  uint64_t shortest = size.width;
  for (const uint32_t side : {size.height, size.depth}) {
    if (side > 1) shortest = std::min<uint64_t>(shortest, side);
  }
  return static_cast<uint32_t>(std::min<uint64_t>(1000, shortest * shortest / 2 * 2));
}

stencil_body::stencil_body(const stencil_size& size, uint32_t steps) : size_(size), steps_(steps) {
  const std::vector<float> start = start_of(size);
  first_ = array_content::of(start);
  second_ = first_;
  first_.expected = array_content::of(end_of(size, steps, start)).first;
}

std::shared_ptr<run_data> stencil_body::result(std::shared_ptr<arrays> memory) const {
  return std::make_shared<expected_array>(std::move(memory), first_.bytes,
                                          "every point after each of the timed relaxations of " +
                                              std::to_string(steps_) + " steps, bit for bit as the host computed it");
}

}  // namespace gpusync::tool
