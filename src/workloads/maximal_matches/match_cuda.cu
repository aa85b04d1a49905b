// Workload "maximal matches" on CUDA devices.
#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/maximal_matches/match_device.hpp"

namespace gpusync::tool {

namespace {

/// One launch is all that there is to it: no other kernel of boundary/cuda_text.cuh is compiled.
template <class Text>
cuda_kernels launched_once() {
  return {nullptr, reinterpret_cast<const void*>(&run_one_step<Text, kernel_start::plain>), nullptr, nullptr, {}};
}

template <class Index>
class cuda_matching : public match_workload {
 public:
  cuda_matching(const cuda_target& where, const match_problem& problem, std::shared_ptr<cuda_arrays> memory)
      : match_workload(memory, problem.batch->records), where_(where), problem_(problem), memory_(std::move(memory)) {
    problem_.expected.reset();  // the device has it
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    std::unique_ptr<program> made;
    for_each_placement([&](const std::string& name, auto edges, auto suffixes) {
      if (name == method.name) made = prepared<decltype(edges)::value, decltype(suffixes)::value>(shape);
    });
    if (!made) throw invalid_argument("There is no placement " + method.name + ".");
    return made;
  }
  step_shape shape_of(uint32_t threads) const override { return shape_for_queries(problem_, threads); }

 private:
  template <pace_kind Edges, pace_kind Suffixes>
  std::unique_ptr<program> prepared(const step_shape& shape) {
    using text_type = match_text<Index, Edges, Suffixes>;
    const auto of_shape = std::make_shared<cuda_arrays>(where_, match_arrays_of_shape(problem_, shape));
    const text_type text{{}, match_index_in<Index>(problem_, *memory_), match_reads_in(problem_, *memory_, *of_shape)};
    step_method launch;
    launch.name = method_names::relaunch;
    return prepare_program(launch, shape,
                           cuda_computation{where_, launched_once<text_type>(), text, step_sequence::of_whole(1),
                                            match_result(problem_, memory_, of_shape)});
  }

  const cuda_target& where_;
  match_problem problem_;
  const std::shared_ptr<cuda_arrays> memory_;
};

class cuda_matches : public match_device {
 public:
  explicit cuda_matches(const device_description& device) : where_(device.index) {}

  std::unique_ptr<match_workload> matching(const match_problem& problem) override {
    auto memory = std::make_shared<cuda_arrays>(where_, match_arrays(problem));
    if (problem.method == match_method::tree) {
      return std::make_unique<cuda_matching<match_tree>>(where_, problem, std::move(memory));
    }
    return std::make_unique<cuda_matching<match_array>>(where_, problem, std::move(memory));
  }
  uint64_t memory() const override { return where_.free_memory(); }

 private:
  const cuda_target where_;
};

const register_side<match_device> matches_registered(device_kind::cuda, make_side<cuda_matches>);

}  // namespace

}  // namespace gpusync::tool
