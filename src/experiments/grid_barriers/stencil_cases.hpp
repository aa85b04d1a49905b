// What experiments on workload "stencil" have in common: bodies, shapes, types of points.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boundary/program.hpp"
#include "harness/experiment.hpp"
#include "harness/shapes.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

/// What points are: the axis `type`.
struct point_type {
  std::string name;
  stencil_real real;
};
axis point_axis();

/// What is relaxed, and by which grid.
struct relaxing {
  int64_t elements, dimensions;
  stencil_size size;
  point_type type;
  step_shape shape;
};

/// A case for each of the axes `elements`, `dimensions`, `type` and `shape`; these are the defaults. On the host and on
/// OpenCL devices the shape is a block on each processor.
std::vector<relaxing> relaxing_cases(const experiment_request& request, const stencil_device& device,
                                     const std::vector<uint32_t>& elements, const std::vector<int64_t>& dimensions,
                                     const std::vector<std::string>& shapes);
/// Whether it is a plate that such a grid can relax in strips; which plates these are, in words.
bool has_strips(const relaxing& one);
inline constexpr const char* plates_with_strips =
    "plates whose rows have two or four points for each thread of a block, or four or eight if they are long";
/// In words, and as a row has it.
std::string label_of(const relaxing& one);
axis_values axes_of(const relaxing& one);

/// The workloads of cases that are gone through in order: what the host has computed of a body is kept for its next
/// shape.
class body_of_cases {
 public:
  body_of_cases(stencil_device& device, std::function<stencil_body(const relaxing&)> make)
      : device_(device), make_(std::move(make)) {}
  /// Until the next call.
  workload& of(const relaxing& one, const std::function<void(double, const std::string&)>& progress);
  /// Steps of the workload that of() has returned, and until when it relaxes. Precondition: called.
  uint32_t steps() const { return steps_; }
  std::optional<double> tolerance() const { return tolerance_; }

 private:
  stencil_device& device_;
  const std::function<stencil_body(const relaxing&)> make_;
  std::shared_ptr<workload> body_;
  uint32_t steps_ = 0;
  std::optional<double> tolerance_;
  relaxing which_{};
};

}  // namespace gpusync::tool
