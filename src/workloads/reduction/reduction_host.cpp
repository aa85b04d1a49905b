// Workload "reduction" on host threads, under every way to pass from step to step: a block leaves its sum behind each
// step, and the first block adds up those of the step before.
#include <numeric>

#include "boundary/steps_host.hpp"
#include "workloads/reduction/reduction.hpp"

namespace gpusync::tool {

namespace {

/// One sum a step. T: float or double.
template <class T>
struct host_sum_text : computation {
  const T* input;
  uint64_t elements;
  T* sums;     ///< two rows of one word for each thread, used in turn
  T* results;  ///< of the last sums, by number
  uint32_t kept_results;

  template <class Grid>
  void step(Grid grid, uint32_t number, kept&) const {
    const uint32_t threads = grid.blocks() * grid.threads();
    const uint32_t self = grid.block() * grid.threads() + grid.thread();
    if (self == 0 && number != 0) {
      const T* const row = sums + size_t{(number - 1) % 2} * threads;
      results[(number - 1) % kept_results] = std::accumulate(row, row + threads, T(0));
    }
    const uint64_t first = elements * self / threads, end = elements * (self + 1) / threads;
    sums[size_t{number % 2} * threads + self] = std::accumulate(input + first, input + end, T(0));
  }
};

/// The results of the last sums but one, and what the last one has left.
template <class T>
class host_sum_data : public run_data {
 public:
  static constexpr uint32_t kept_results = 64;

  host_sum_data(const reduction_problem& problem, uint32_t threads)
      : input_(problem.offset + problem.elements),
        offset_(problem.offset),
        elements_(problem.elements),
        sums_(2 * size_t{threads}),
        results_(kept_results),
        expected_(reduction_sum(offset_, elements_)) {
    for (uint64_t i = 0; i < input_.size(); ++i) input_[i] = T(reduction_element(i));
  }

  host_sum_text<T> text() {
    return {{}, input_.data() + offset_, elements_, sums_.data(), results_.data(), kept_results};
  }

  void reset() override {
    std::fill(results_.begin(), results_.end(), T(NAN));
    std::fill(sums_.begin(), sums_.end(), T(NAN));
  }
  check_result check(uint64_t steps) override {
    check_result found;
    const auto compare_with = [&](T sum) {
      ++found.checked;
      found.wrong += static_cast<double>(sum) == static_cast<double>(expected_) ? 0 : 1;
    };
    for (uint64_t i = 0; i < std::min<uint64_t>(steps - 1, kept_results); ++i) compare_with(results_[i]);
    const size_t threads = sums_.size() / 2;
    const auto row = sums_.begin() + static_cast<std::ptrdiff_t>((steps - 1) % 2 * threads);
    compare_with(std::accumulate(row, row + static_cast<std::ptrdiff_t>(threads), T(0)));
    return found;
  }
  std::string how() const override { return "up to 65 sums of every run compared exactly with a sum in integers"; }

 private:
  std::vector<T> input_;
  const uint32_t offset_;
  const uint64_t elements_;
  std::vector<T> sums_, results_;
  const int64_t expected_;
};

template <class T>
class host_sums : public workload {
 public:
  explicit host_sums(const reduction_problem& problem) : problem_(problem) {}

  std::vector<step_method> methods() const override { return methods_on_host(false); }
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const auto data = std::make_shared<host_sum_data<T>>(problem_, elements_of(shape));
    return prepare_program(method, shape, host_computation{host_text::of(data->text()), {}, data});
  }
  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return max_co_resident_on_host(threads);
  }

 private:
  const reduction_problem problem_;
};

class host_reduction : public reduction_device {
 public:
  uint64_t most_cached_bytes() const override { return UINT64_MAX; }  // all inputs here are read again and again

  std::unique_ptr<workload> summing(const reduction_problem& problem) override {
    if (problem.wide) return std::make_unique<host_sums<double>>(problem);
    return std::make_unique<host_sums<float>>(problem);
  }
};

const register_side<reduction_device> reduction_registered(device_kind::host, make_side<host_reduction>);

}  // namespace

}  // namespace gpusync::tool
