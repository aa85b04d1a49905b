#include "experiments/grid_barriers/stencil_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "usage_error.hpp"
#include "workloads/stencil/stencil_tiles.hpp"

namespace gpusync::tool {

namespace {

void require_point_type(const std::string& word) {
  if (word == "float" || word == "double") return;
  throw usage_error(fmt::format("Axis type does not take '{}': it takes float, double.", word));
}

std::vector<point_type> types_of(const experiment_request& request, const stencil_device& device) {
  std::vector<point_type> all;
  for (const auto& [word, real] : {std::pair{"float", stencil_real::single}, {"double", stencil_real::twice}}) {
    if (device.has(real)) all.push_back({word, real});
  }
  return chosen_of(request, "type", all, &point_type::name,
                   request.quick ? std::vector<std::string>{"float"} : std::vector<std::string>{"float", "double"});
}

std::vector<step_shape> shapes_of(const experiment_request& request, const std::vector<std::string>& defaults) {
  if (request.device.kind == device_kind::cuda || has_chosen(request, "shape")) return shapes_or(request, defaults);
  const auto processors = static_cast<uint32_t>(std::max(1, request.device.compute_units));
  return {{processors, static_cast<uint32_t>(threads_by_default(request.device.kind))}};
}

/// A rod of elements^2 points, a square plate of as many, or a cube of about as many.
stencil_size size_of(uint32_t elements, int64_t dimensions) {
  if (dimensions == 1) return {elements * elements, 1, 1};
  if (dimensions == 2) return {elements, elements, 1};
  const auto side = static_cast<uint32_t>(std::lround(std::cbrt(static_cast<double>(elements) * elements)));
  return {side, side, side};
}

}  // namespace

axis point_axis() {
  return {"type",
          "what points are: float or double",
          0,
          0,
          true,
          "float,double; with --quick float",
          false,
          false,
          require_point_type};
}

std::vector<relaxing> relaxing_cases(const experiment_request& request, const stencil_device& device,
                                     const std::vector<uint32_t>& elements, const std::vector<int64_t>& dimensions,
                                     const std::vector<std::string>& shapes) {
  std::vector<relaxing> cases;
  const std::vector<step_shape> grids = shapes_of(request, shapes);
  const std::vector<point_type> types = types_of(request, device);
  for (const int64_t side : chosen_numbers(request, "elements", elements)) {
    for (const int64_t count : request.axes.numbers_or("dimensions", dimensions)) {
      for (const point_type& type : types) {
        for (const step_shape& shape : grids) {
          cases.push_back({side, count, size_of(static_cast<uint32_t>(side), count), type, shape});
        }
      }
    }
  }
  return cases;
}

bool has_strips(const relaxing& one) {
  return one.dimensions == 2 && strip_pairs(one.size, one.shape) != 0;
}

std::string label_of(const relaxing& one) {
  return fmt::format("{} x {} x {} points, {}, {}", one.size.width, one.size.height, one.size.depth, one.type.name,
                     to_word(one.shape));
}

axis_values axes_of(const relaxing& one) {
  return {{"shape", to_word(one.shape)},
          {"dimensions", one.dimensions},
          {"elements", one.elements},
          {"type", one.type.name}};
}

workload& body_of_cases::of(const relaxing& one, const std::function<void(double, const std::string&)>& progress) {
  const auto body_in = [](const relaxing& which) {
    return std::tuple{which.elements, which.dimensions, which.type.real};
  };
  if (body_ == nullptr || body_in(one) != body_in(which_)) {
    progress(0, "on the host");
    body_.reset();
    const stencil_body made = make_(one);
    body_ = kept_if_stuck(device_.relaxing(made));
    steps_ = made.steps().count;
    tolerance_ = made.tolerance();
    which_ = one;
  }
  return *body_;
}

}  // namespace gpusync::tool
