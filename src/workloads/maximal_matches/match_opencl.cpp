// Workload "maximal matches" on OpenCL devices.
#include <map>

#include "boundary/steps_opencl.hpp"
#include "embedded/match_text_h.hpp"
#include "workloads/maximal_matches/match_device.hpp"

namespace gpusync::tool {

namespace {

/// The kernels of one device, by placement and method.
class match_kernels {
 public:
  explicit match_kernels(const opencl_target& target) : target_(target) {}

  const opencl_target& target() const { return target_; }
  std::shared_ptr<opencl_kernels> of(const barrier_placement& placement, match_method method) {
    auto& made = made_[{placement.name, method}];
    if (!made) {
      const auto kind = [](pace_kind what) { return std::to_string(static_cast<uint32_t>(what)); };
      made = std::make_shared<opencl_kernels>(target_, embedded::match_text_h,
                                              "-DMATCH_EDGES_KIND=" + kind(placement.edges) +
                                                  " -DMATCH_SUFFIXES_KIND=" + kind(placement.suffixes) +
                                                  (method == match_method::array ? " -DMATCH_BY_ARRAY" : ""));
    }
    return made;
  }

 private:
  const opencl_target& target_;
  std::map<std::pair<std::string, match_method>, std::shared_ptr<opencl_kernels>> made_;
};

class opencl_matching : public match_workload {
 public:
  opencl_matching(std::shared_ptr<match_kernels> kernels, const match_problem& problem,
                  std::shared_ptr<opencl_arrays> memory)
      : match_workload(memory, problem.batch->records),
        kernels_(std::move(kernels)),
        problem_(problem),
        memory_(std::move(memory)) {}

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const auto* const placement = std::find_if(barrier_placements.begin(), barrier_placements.end(),
                                               [&](const barrier_placement& each) { return each.name == method.name; });
    if (placement == barrier_placements.end()) throw invalid_argument("There is no placement " + method.name + ".");
    const auto of_shape = std::make_shared<opencl_arrays>(kernels_->target(), match_arrays_of_shape(problem_, shape));
    const auto set_arguments = [memory = memory_, of_shape, problem = problem_](cl::Kernel& kernel, cl_uint first) {
      cl_uint next = of_shape->set_arguments(kernel, memory->set_arguments(kernel, first));
      opencl::checked([&] {
        kernel.setArg(next++, static_cast<cl_uint>(problem.batch->queries.size()));
        kernel.setArg(next++, cl_uint{problem.batch->least});
        kernel.setArg(next++, cl_uint{letters_of_words(problem.index->text.bases.size(), problem.batch->least)});
        kernel.setArg(next++, cl::Local(3 * sizeof(cl_uint)));
      });
    };
    step_method launch;
    launch.name = method_names::relaunch;
    return prepare_program(launch, shape,
                           opencl_computation{kernels_->of(*placement, problem_.method), set_arguments,
                                              step_sequence::of_whole(1), match_result(problem_, memory_, of_shape)});
  }
  step_shape shape_of(uint32_t threads) const override { return shape_for_queries(problem_, threads); }

 private:
  const std::shared_ptr<match_kernels> kernels_;
  const match_problem problem_;
  const std::shared_ptr<opencl_arrays> memory_;
};

class opencl_matches : public match_device {
 public:
  explicit opencl_matches(const device_description& device)
      : target_(device), kernels_(std::make_shared<match_kernels>(target_)) {}

  std::unique_ptr<match_workload> matching(const match_problem& problem) override {
    return std::make_unique<opencl_matching>(kernels_, problem,
                                             std::make_shared<opencl_arrays>(target_, match_arrays(problem)));
  }
  uint64_t memory() const override { return target_.memory(); }
  uint64_t largest_buffer() const override { return target_.largest_buffer(); }

 private:
  const opencl_target target_;
  const std::shared_ptr<match_kernels> kernels_;
};

const register_side<match_device> matches_registered(device_kind::opencl, make_side<opencl_matches>);

}  // namespace

}  // namespace gpusync::tool
