// Workload "Smith-Waterman" on host threads.
#include "boundary/steps_host.hpp"
#include "workloads/smith_waterman/alignment_result.hpp"

namespace gpusync::tool {

namespace {

class host_smith_waterman : public smith_waterman_device {
 public:
  std::unique_ptr<workload> aligning(const alignment_problem& problem, alignment_form form) override {
    if (!has(form)) throw invalid_argument("Host threads keep the rows of an alignment in memory only.");
    const auto memory = std::make_shared<host_arrays>(alignment_arrays(problem));
    const wavefront_steps text = alignment_in(problem, *memory);
    return workload_of(host_computation{host_text::of(text), step_sequence::of_whole(text.steps()),
                                        std::make_shared<alignment_result>(problem, memory)});
  }
};

const register_side<smith_waterman_device> registered(device_kind::host, make_side<host_smith_waterman>);

}  // namespace

}  // namespace gpusync::tool
