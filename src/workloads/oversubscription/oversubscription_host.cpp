// Workload "oversubscription" on host threads.
#include "boundary/steps_host.hpp"
#include "workloads/oversubscription/oversubscription.hpp"

namespace gpusync::tool {

namespace {

/// Threads that stay for all phases.
template <class Schedule>
class phased_program : public host_program {
 public:
  phased_program(const step_shape& shape, const relay_data& data, const std::shared_ptr<relay_result>& result)
      : host_program(shape, result, relay_steps(result)),
        data_(data),
        result_(*result),
        virtual_blocks_(shape.blocks),
        storage_(shape.blocks) {}

 private:
  using grid_type = typename host_phased_storage<Schedule>::grid_type;

  void carry_out(uint32_t phases) override {
    launch_phased(
        device_, {virtual_blocks_, shape_.threads},
        [this, phases](grid_type grid) {
          relay_phases(host_grid::current(), grid, data_, result_.next_phase(), phases);
        },
        storage_);
  }

  const relay_data data_;
  const relay_result& result_;
  const uint32_t virtual_blocks_;
  host_phased_storage<Schedule> storage_;
};

class host_oversubscription : public workload {
 public:
  std::vector<step_method> methods() const override { return relay_methods(); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const auto memory = std::make_shared<host_arrays>(relay_arrays(shape));
    const auto result = std::make_shared<relay_result>(shape, memory);
    const relay_data data{memory->address<uint32_t>(0), memory->address<uint32_t>(1), shape.blocks};
    const auto phased = [&](auto schedule) {
      return std::make_unique<phased_program<decltype(schedule)>>(shape, data, result);
    };
    if (method.name == "phased-striding") return phased(phased::striding{});
    if (method.name == "phased-claiming") return phased(phased::claiming{});
    if (method.name == "phased-flag-claiming") return phased(phased::flag_claiming{});
    // The host's counterpart of a launch is a launch and a wait.
    step_method launched = method;
    if (method.name == method_names::relaunch) launched.name = method_names::host_wait;
    return prepare_program(launched, shape,
                           host_computation{host_text::of(relay_text{{}, data}), relay_steps(result), result});
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return std::max(1u, device_.cores() / threads);
  }
  std::vector<uint32_t> default_blocks(bool) override { return {device_.cores()}; }
  std::vector<uint32_t> default_threads(bool) override { return {1}; }

 private:
  const host_device device_{};
};

const register_side<workload> oversubscription_registered(device_kind::host, make_side<host_oversubscription>,
                                                          "oversubscription");

}  // namespace

}  // namespace gpusync::tool
