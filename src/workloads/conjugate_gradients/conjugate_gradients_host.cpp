// Workload "conjugate-gradients" on host threads.
#include <fmt/format.h>

#include "boundary/steps_host.hpp"
#include "workloads/conjugate_gradients/conjugate_gradients.hpp"

namespace gpusync::tool {

namespace {

using conjugate_algorithm = grid::lock_based<ordering::acquire_release>;  // the default on host threads
constexpr uint32_t most_host_rows = 64;                                   ///< of a thread

template <class Real>
class host_conjugate : public workload {
 public:
  explicit host_conjugate(std::shared_ptr<const conjugate_problem> problem) : problem_(std::move(problem)) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all = methods_on_host(false);
    all.push_back(conjugate_votes_method());
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    using text_type = conjugate_text<Real, most_host_rows, false>;
    const uint32_t threads = elements_of(shape);
    if (problem_->rows() > uint64_t{threads} * most_host_rows) {
      throw invalid_argument(fmt::format("{} host threads take up to {} rows, not {}.", threads,
                                         uint64_t{threads} * most_host_rows, problem_->rows()));
    }
    const auto memory = std::make_shared<host_arrays>(conjugate_arrays<Real>(*problem_, threads));
    text_type text{};
    text.data = conjugate_data_in<Real>(*memory, *problem_, threads);
    host_computation computation{
        host_text::of(text), step_sequence::of_whole(2 * problem_->iterations()),
        std::make_shared<conjugate_result>(problem_, sizeof(Real) == sizeof(double), threads, memory)};
    computation.own.push_back(
        {conjugate_votes_method(), [text](const step_shape& of) -> std::function<void(uint32_t)> {
           if (of.threads != 1)
             throw invalid_argument("On host threads sums come with the barrier of blocks of 1 thread.");
           const auto low = std::make_shared<host_barrier_storage<conjugate_algorithm>>(of.blocks);
           const auto high = std::make_shared<host_barrier_storage<conjugate_algorithm>>(of.blocks);
           return [text, of, low, high](uint32_t steps) {
             using barrier = basic_grid_barrier<conjugate_algorithm, host_grid>;
             launch(
                 host_device{}, {of.blocks, of.threads},
                 [&text, steps](barrier a, barrier b) { conjugate_by_votes(host_grid::current(), text, steps, a, b); },
                 low->barrier(), high->barrier());
           };
         }});
    return prepare_program(method, shape, std::move(computation));
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return max_co_resident_on_host(threads);
  }

 private:
  const std::shared_ptr<const conjugate_problem> problem_;
};

class host_conjugate_device : public conjugate_device {
 public:
  std::unique_ptr<workload> solving(std::shared_ptr<const conjugate_problem> problem, bool is_double) override {
    if (is_double) return std::make_unique<host_conjugate<double>>(std::move(problem));
    return std::make_unique<host_conjugate<float>>(std::move(problem));
  }
};

const register_side<conjugate_device> conjugate_registered(device_kind::host, make_side<host_conjugate_device>);

}  // namespace

}  // namespace gpusync::tool
