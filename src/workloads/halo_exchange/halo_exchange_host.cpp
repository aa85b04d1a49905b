// Workload "halo-exchange" on host threads.
#include <fmt/format.h>

#include <gpusync/neighbours/host.hpp>

#include "boundary/steps_host.hpp"
#include "workloads/halo_exchange/halo_exchange.hpp"

namespace gpusync::tool {

namespace {

/// Words of a thread, at most.
constexpr uint32_t most_words = 4;

template <class Text, halo_form Form>
host_own_method by_halo(const char* name, const Text& text, const halo_problem& problem) {
  return {halo_own_method(name), [text, problem](const step_shape& shape) -> std::function<void(uint32_t)> {
            const auto storage =
                std::make_shared<host_halo_storage<uint32_t>>(halo_neighbourhood(problem, shape.blocks), problem.words);
            return [text, shape, storage](uint32_t steps) {
              launch(
                  host_device{}, {shape.blocks, shape.threads},
                  [&text, steps](host_halo<uint32_t, Form> halo) {
                    if constexpr (Form == halo_form::automatic) {
                      halo.in_form([&](auto& fixed) { text.exchange(host_grid::current(), steps, fixed); });
                    } else {
                      text.exchange(host_grid::current(), steps, halo);
                    }
                  },
                  storage->template halo<Form>());
            };
          }};
}

template <class Text>
host_own_method by_neighbour_barrier(const Text& text, const halo_problem& problem) {
  return {halo_own_method(halo_methods::barrier),
          [text, problem](const step_shape& shape) -> std::function<void(uint32_t)> {
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
                  },
                  storage->barrier());
            };
          }};
}

template <uint32_t Neighbours>
class host_halo_workload : public workload {
 public:
  explicit host_halo_workload(const halo_problem& problem) : problem_(problem) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all = methods_on_host(false);
    for (step_method& method : halo_own_methods()) all.push_back(std::move(method));
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    using text_type = halo_text<Neighbours, most_words, 1>;
    if (problem_.words > most_words * shape.threads) {
      throw invalid_argument(fmt::format("A block of {} threads takes up to {} words, not {}.", shape.threads,
                                         most_words * shape.threads, problem_.words));
    }
    if (blocks_ != shape.blocks) reference_ = std::make_shared<halo_reference>(problem_, shape.blocks);
    blocks_ = shape.blocks;
    const auto memory = std::make_shared<host_arrays>(halo_arrays(*reference_));
    text_type text{};
    text.a = memory->address<uint32_t>(0);
    text.b = memory->address<uint32_t>(1);
    text.words = problem_.words;
    text.across = halo_blocks_across(problem_, shape.blocks);
    step_sequence steps;
    steps.most = reference_->affordable_steps();
    return prepare_program(
        method, shape,
        host_computation{host_text::of(text),
                         steps,
                         std::make_shared<halo_result>(reference_, memory),
                         {by_halo<text_type, halo_form::automatic>(halo_methods::automatic, text, problem_),
                          by_halo<text_type, halo_form::words>(halo_methods::words, text, problem_),
                          by_halo<text_type, halo_form::flags>(halo_methods::flags, text, problem_),
                          by_neighbour_barrier(text, problem_)}});
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return max_co_resident_on_host(threads);
  }

 private:
  const halo_problem problem_;
  uint32_t blocks_ = 0;
  std::shared_ptr<halo_reference> reference_;
};

class host_halo_device : public halo_device {
 public:
  std::unique_ptr<workload> exchanging(const halo_problem& problem) override {
    if (problem.work != halo_work::kind::none) {
      throw invalid_argument(
          "Work is measured in cycles of a GPU; on host threads there is none besides the exchange.");
    }
    if (problem.neighbours == 2) return std::make_unique<host_halo_workload<2>>(problem);
    if (problem.neighbours == 4) return std::make_unique<host_halo_workload<4>>(problem);
    return std::make_unique<host_halo_workload<8>>(problem);
  }
};

const register_side<halo_device> halo_registered(device_kind::host, make_side<host_halo_device>);

}  // namespace

}  // namespace gpusync::tool
