// Workload "situations" on host threads.
#include <gpusync/neighbours/host.hpp>

#include "boundary/steps_host.hpp"
#include "workloads/situations/situations.hpp"

namespace gpusync::tool {

namespace {

constexpr double nanoseconds_in_us = 1000;

template <class Text>
std::vector<host_own_method> methods_among_neighbours(const Text& text, const halo_problem& problem) {
  const auto by_halo = [text, problem](const step_shape& shape) -> std::function<void(uint32_t)> {
    const auto storage =
        std::make_shared<host_halo_storage<uint32_t>>(halo_neighbourhood(problem, shape.blocks), problem.words);
    return [text, shape, storage](uint32_t steps) {
      launch(
          host_device{}, {shape.blocks, shape.threads},
          [&text, steps](host_halo<uint32_t, halo_form::automatic> halo) {
            halo.in_form([&](auto& fixed) { text.exchange(host_grid::current(), steps, fixed); });
          },
          storage->template halo<halo_form::automatic>());
    };
  };
  const auto by_barrier = [text, problem](const step_shape& shape) -> std::function<void(uint32_t)> {
    const auto storage = std::make_shared<host_neighbour_storage>(halo_neighbourhood(problem, shape.blocks));
    return [text, shape, storage](uint32_t steps) {
      launch(
          host_device{}, {shape.blocks, shape.threads},
          [&text, steps](host_neighbour_barrier barrier) {
            const host_grid grid = host_grid::current();
            typename Text::kept kept = text.load(grid, 0);
            all_steps(text, grid, steps, kept, [&barrier](uint32_t) {
              barrier.sync();
              return true;
            });
            text.save(grid, kept);
          },
          storage->barrier());
    };
  };
  return {{halo_own_method(halo_methods::automatic), by_halo}, {halo_own_method(halo_methods::barrier), by_barrier}};
}

class host_situation_workload : public workload {
 public:
  explicit host_situation_workload(const advice::situation& asked) : asked_(asked) {}

  std::vector<step_method> methods() const override { return methods_of(computation()); }
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    return prepare_program(method, shape, computation());
  }
  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return max_co_resident_on_host(threads);
  }

 private:
  host_computation computation() const {
    return with_situation_text(asked_, false, [this](auto text) {
      text = filled_in(text, asked_, nanoseconds_in_us);
      const auto memory = std::make_shared<host_arrays>(situation_arrays(asked_));
      text.a = memory->template address<uint32_t>(0);
      text.b = memory->template address<uint32_t>(1);
      text.memory = memory->template address<uint32_t>(2);
      host_computation all{host_text::of(text), step_sequence::of_whole(static_cast<uint32_t>(asked_.steps)),
                           std::make_shared<situation_result>(asked_, memory)};
      if (asked_.waits_for == advice::dependence::neighbours) {
        all.own = methods_among_neighbours(text, neighbours_of(asked_));
      }
      return all;
    });
  }

  const advice::situation asked_;
};

class host_situation_device : public situation_device {
 public:
  std::unique_ptr<workload> in(const advice::situation& asked) override {
    return std::make_unique<host_situation_workload>(asked);
  }
  advice::device_room room() const override {
    const host_device host;
    return {static_cast<uint32_t>(host.cores()), 1, static_cast<uint32_t>(host.max_threads().threads)};
  }
};

const register_side<situation_device> situations_registered(device_kind::host, make_side<host_situation_device>);

}  // namespace

}  // namespace gpusync::tool
