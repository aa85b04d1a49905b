// Workload "grid-votes" on host threads.
#include "boundary/device_side.hpp"
#include "boundary/steps_host.hpp"
#include "workloads/grid_votes/grid_votes.hpp"

namespace gpusync::tool {

namespace {

using votes_algorithm = grid::lock_based<ordering::acquire_release>;  // the default on host threads

host_own_method by_votes(const vote_method& one, const votes_by_partials& text) {
  return {method_of(one), [text, form = one.form](const step_shape& shape) -> std::function<void(uint32_t)> {
            const auto storage = std::make_shared<host_barrier_storage<votes_algorithm>>(shape.blocks);
            return [text, shape, form, storage](uint32_t steps) {
              with_vote_form(form, [&](auto which) {
                constexpr vote_form chosen = decltype(which)::value;
                launch(
                    host_device{}, {shape.blocks, shape.threads},
                    [&text, steps](basic_grid_barrier<votes_algorithm, host_grid> barrier) {
                      votes_of_a_run<chosen>(host_grid::current(), text, steps, barrier);
                    },
                    storage->barrier());
              });
            };
          }};
}

class host_grid_votes : public workload {
 public:
  std::vector<step_method> methods() const override {
    std::vector<step_method> all = methods_on_host(false);
    for (const vote_method& one : vote_methods) {
      if (std::string_view(one.barrier) == method_names::default_barrier) all.push_back(method_of(one));
    }
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    require_co_resident(host_device{}, {shape.blocks, shape.threads});  // before its arrays are made
    const auto memory = std::make_shared<host_arrays>(votes_arrays(shape));
    votes_by_partials text{};
    text.words = memory->address<uint32_t>(0);
    text.partials = memory->address<uint32_t>(1);
    host_computation computation{host_text::of(text), votes_steps_of_a_run(),
                                 std::make_shared<votes_result>(shape, method.name, memory)};
    for (const vote_method& one : vote_methods) {
      if (std::string_view(one.barrier) == method_names::default_barrier)
        computation.own.push_back(by_votes(one, text));
    }
    return prepare_program(method, shape, std::move(computation));
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return max_co_resident_on_host(threads);
  }
};

const register_side<workload> grid_votes_registered(device_kind::host, make_side<host_grid_votes>, "grid-votes");

}  // namespace

}  // namespace gpusync::tool
