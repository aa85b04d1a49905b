// Workload "maximal matches" on host threads.
#include <algorithm>
#include <thread>

#include "boundary/steps_host.hpp"
#include "workloads/maximal_matches/match_device.hpp"

namespace gpusync::tool {

namespace {

template <class Index>
class host_matching : public match_workload {
 public:
  host_matching(const match_problem& problem, std::shared_ptr<host_arrays> memory)
      : match_workload(memory, problem.batch->records), problem_(problem), memory_(std::move(memory)) {}

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    std::unique_ptr<program> made;
    for_each_placement([&](const std::string& name, auto edges, auto suffixes) {
      if (name == method.name) made = prepared<edges(), suffixes()>(shape);
    });
    if (!made) throw invalid_argument("There is no placement " + method.name + ".");
    return made;
  }
  step_shape shape_of(uint32_t threads) const override {
    step_shape shape;
    shape.blocks = std::max(1u, std::thread::hardware_concurrency() / threads);
    shape.threads = threads;
    return shape;
  }

 private:
  template <pace_kind Edges, pace_kind Suffixes>
  std::unique_ptr<program> prepared(const step_shape& shape) {
    const auto of_shape = std::make_shared<host_arrays>(match_arrays_of_shape(problem_, shape));
    const match_text<Index, Edges, Suffixes> text{
        {}, match_index_in<Index>(problem_, *memory_), match_reads_in(problem_, *memory_, *of_shape)};
    step_method launch;
    launch.name = method_names::host_wait;
    return prepare_program(
        launch, shape,
        host_computation{host_text::of(text), step_sequence::of_whole(1), match_result(problem_, memory_, of_shape)});
  }

  const match_problem problem_;
  const std::shared_ptr<host_arrays> memory_;
};

class host_matches : public match_device {
 public:
  std::unique_ptr<match_workload> matching(const match_problem& problem) override {
    auto memory = std::make_shared<host_arrays>(match_arrays(problem));
    if (problem.method == match_method::tree) {
      return std::make_unique<host_matching<match_tree>>(problem, std::move(memory));
    }
    return std::make_unique<host_matching<match_array>>(problem, std::move(memory));
  }
};

const register_side<match_device> matches_registered(device_kind::host, make_side<host_matches>);

}  // namespace

}  // namespace gpusync::tool
