// Workload "Smith-Waterman" on host threads.
#include "boundary/steps_host.hpp"
#include "workloads/smith_waterman/alignment_result.hpp"
#include "workloads/smith_waterman/pipeline_host.hpp"

namespace gpusync::tool {

namespace {

class host_smith_waterman : public smith_waterman_device {
 public:
  std::unique_ptr<workload> aligning(const alignment_problem& problem, alignment_form form) override {
    if (form == alignment_form::pipeline) return aligning_in_pipeline(problem);
    if (!has(form)) throw invalid_argument("Host threads keep the rows of an alignment in memory, or in a pipeline.");
    const auto memory = std::make_shared<host_arrays>(alignment_arrays(problem));
    const wavefront_steps text = alignment_in(problem, *memory);
    return workload_of(host_computation{host_text::of(text), step_sequence::of_whole(text.steps()),
                                        std::make_shared<alignment_result>(problem, memory)});
  }
  bool has(alignment_form form) const override { return form != alignment_form::registers; }
  uint32_t pipeline_threads() const override { return host_pipeline_threads; }
};

const register_side<smith_waterman_device> smith_waterman_registered(device_kind::host, make_side<host_smith_waterman>);

}  // namespace

}  // namespace gpusync::tool
