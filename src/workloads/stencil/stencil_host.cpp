// Workload "stencil" on host threads.
#include "boundary/steps_host.hpp"
#include "workloads/stencil/stencil.hpp"
#include "workloads/stencil/stencil_converging.hpp"
#include "workloads/stencil/stencil_tiles.hpp"

namespace gpusync::tool {

namespace {

using votes_algorithm = grid::lock_based<ordering::acquire_release>;  // the default on host threads

/// A plate or a cube that ends by itself.
template <class Real, uint32_t Dimensions>
host_computation converging(const stencil_body& body) {
  const auto memory = std::make_shared<host_arrays>(converging_arrays(body));
  const step_sequence steps = converging_steps(body);
  const auto until = convergence_of<Real>(body, memory->address<uint32_t>(2));
  const auto text =
      stencil_text_ending_in<Dimensions>(memory->address<Real>(0), memory->address<Real>(1), body.size(), steps.count);
  const converging_stencil<Real, Dimensions> asking(text, until);
  host_computation made{host_text::of(asking), steps, std::make_shared<converged_result>(body, memory)};
  made.goes_on = [asking](uint32_t number) { return *asking.goes_on(number) != 0; };
  made.own.push_back({stencil_barrier_method("votes", "barrier that brings the answer"),
                      [text, until](const step_shape& of) -> std::function<void(uint32_t)> {
                        const auto storage = std::make_shared<host_barrier_storage<votes_algorithm>>(of.blocks);
                        return [text, until, of, storage](uint32_t) {
                          using barrier_type = basic_grid_barrier<votes_algorithm, host_grid>;
                          const stencil_by_votes<stencil_text<Real, Dimensions>, Real> relaxing{text, until};
                          launch(
                              host_device{}, {of.blocks, of.threads},
                              [&relaxing](barrier_type barrier) { relaxing.run(host_grid::current(), barrier); },
                              storage->barrier());
                        };
                      }});
  return made;
}
template <class Real>
host_computation converging(const stencil_body& body) {
  return body.size().depth == 1 ? converging<Real, 2>(body) : converging<Real, 3>(body);
}

class host_stencil : public stencil_device {
 public:
  std::unique_ptr<workload> relaxing(const stencil_body& body) override {
    if (body.tolerance()) {
      return workload_of(body.real() == stencil_real::twice ? converging<double>(body) : converging<float>(body));
    }
    const auto memory = std::make_shared<host_arrays>(body.content());
    return with_text_of(body, *memory, [&](const auto& text) {
      return workload_of(host_computation{host_text::of(text), body.steps(), body.result(memory)});
    });
  }
};

const register_side<stencil_device> stencil_registered(device_kind::host, make_side<host_stencil>);

}  // namespace

}  // namespace gpusync::tool
