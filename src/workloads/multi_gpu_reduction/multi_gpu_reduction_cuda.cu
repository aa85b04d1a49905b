// Workload "multi-GPU reduction" on CUDA devices: which GPUs there are, their memory, and checks.
#include "workloads/multi_gpu_reduction/sums_across.cuh"
#include "workloads/reduction/sum_memory.cuh"

namespace gpusync::tool {

namespace {

/// The last results of a run on the first GPUs, compared exactly with the sums of all.
template <class T>
class across_sum_data : public run_data {
 public:
  using memories = std::vector<std::shared_ptr<const sum_memory<T>>>;

  /// `parts`: of all GPUs that sum; `holders`: of so many of them results are looked at.
  across_sum_data(memories parts, uint32_t holders) : parts_(std::move(parts)), holders_(holders) {}

  void reset() override {
    for (const auto& part : parts_) part->reset();
  }

  check_result check(uint64_t steps) override {
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(steps, parts_[0]->pieces().kept));
    check_result result;
    for (uint32_t gpu = 0; gpu < holders_; ++gpu) {
      const std::vector<T> found = parts_[gpu]->results(count);
      for (uint32_t place = 0; place < count; ++place) {
        ++result.checked;
        result.wrong += static_cast<double>(found[place]) == static_cast<double>(expected(place)) ? 0 : 1;
      }
    }
    return result;
  }

  std::string how() const override {
    return std::string("the last 16,384 sums of every run, or all, on ") +
           (holders_ == 1 ? "the first GPU" : "every GPU") + ", compared exactly with sums in integers";
  }

 private:
  int64_t expected(uint32_t place) const {
    int64_t sum = 0;
    for (const auto& part : parts_) sum += part->expected(place);
    return sum;
  }

  const memories parts_;
  const uint32_t holders_;
};

class across_sum_program : public checked_program {
 public:
  across_sum_program(std::unique_ptr<sums_across> sums, std::shared_ptr<run_data> data, const step_sequence& steps,
                     bool in_graphs)
      : checked_program(std::move(data), steps), sums_(std::move(sums)) {
    if (in_graphs) require_multiples_of(steps.nodes);
  }

 private:
  double compute(uint32_t count) override {
    if (sums_->arrange(count)) start_again();
    return sums_->run(count);
  }

  const std::unique_ptr<sums_across> sums_;
};

template <class T>
class cuda_sums_across : public workload {
 public:
  cuda_sums_across(const cuda_gpus& gpus, const across_problem& problem) : gpus_(gpus), problem_(problem) {
    for (auto* const make : {&sums_in_one_kernel<T>, &sums_in_launches<T>, &sums_by_nccl<T>}) {
      for (across_sum_method<T>& one : make()) methods_.push_back(std::move(one));
    }
  }

  std::vector<step_method> methods() const override {
    std::vector<step_method> all;
    for (const across_sum_method<T>& one : methods_) all.push_back(one.about);
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape&) override {
    const auto found =
        std::find_if(methods_.begin(), methods_.end(), [&](const auto& one) { return one.about.name == method.name; });
    if (found == methods_.end()) throw invalid_argument("There is no sum over GPUs named " + method.name + ".");
    make_memory();
    const uint32_t count = found->alone ? 1 : problem_.gpus;
    const auto first_of = [count](const auto& all) {
      return std::decay_t<decltype(all)>(all.begin(), all.begin() + count);
    };
    const auto parts = first_of(memory_);
    summing_gpus<T> given{first_of(gpus_.targets()), gpus_.group(count), {}, problem_.whole.passing, layout_.nodes};
    for (const auto& part : parts) given.pieces.push_back(part->pieces());
    step_sequence steps;
    steps.nodes = layout_.nodes;
    steps.most = layout_.most;
    const cuda_device_scope scope(given.targets[0].device().ordinal());
    return std::make_unique<across_sum_program>(
        found->prepare(given), std::make_shared<across_sum_data<T>>(parts, found->everywhere ? count : 1), steps,
        problem_.whole.passing == method_names::graph);
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t) override { return UINT64_MAX; }

 private:
  /// Every GPU's inputs, all laid out alike.
  void make_memory() {
    (void)gpus_.group(problem_.gpus);
    if (!memory_.empty()) return;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < problem_.gpus; ++i) least = std::min(least, gpus_.targets()[i].free_memory());
    layout_ = layout_of(problem_, least);
    for (uint32_t i = 0; i < problem_.gpus; ++i) require_room(layout_, i, gpus_.targets()[i].free_memory());
    std::vector<std::shared_ptr<const sum_memory<T>>> made;
    for (uint32_t i = 0; i < problem_.gpus; ++i) {
      made.push_back(std::make_shared<sum_memory<T>>(gpus_.targets()[i], problem_of_gpu(problem_, i), layout_));
    }
    memory_ = std::move(made);
  }

  const cuda_gpus& gpus_;
  const across_problem problem_;
  reduction_layout layout_{};
  std::vector<across_sum_method<T>> methods_;
  std::vector<std::shared_ptr<const sum_memory<T>>> memory_;  ///< by rank
};

class cuda_multi_gpu_reduction : public multi_gpu_reduction_device {
 public:
  explicit cuda_multi_gpu_reduction(const device_description& description) : gpus_(description.index) {}

  uint32_t gpus() const override { return gpus_.size(); }
  uint64_t most_cached_bytes() const override {
    return static_cast<uint64_t>(gpus_.targets()[0].device().properties().l2CacheSize) / 2;
  }
  std::unique_ptr<workload> summing(const across_problem& problem) override {
    if (problem.whole.wide) return std::make_unique<cuda_sums_across<double>>(gpus_, problem);
    return std::make_unique<cuda_sums_across<float>>(gpus_, problem);
  }

 private:
  const cuda_gpus gpus_;
};

const register_side<multi_gpu_reduction_device> sums_registered(device_kind::cuda, make_side<cuda_multi_gpu_reduction>);

}  // namespace

}  // namespace gpusync::tool
