// Workload "stencil" on host threads.
#include "boundary/steps_host.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

namespace {

class host_stencil : public stencil_device {
 public:
  std::unique_ptr<workload> relaxing(const stencil_body& body) override {
    const auto memory = std::make_shared<host_arrays>(body.content());
    return with_text_of(body, *memory, [&](const auto& text) {
      return workload_of(host_computation{host_text::of(text), body.steps(), body.result(memory)});
    });
  }
};

const register_side<stencil_device> registered(device_kind::host, make_side<host_stencil>);

}  // namespace

}  // namespace gpusync::tool
