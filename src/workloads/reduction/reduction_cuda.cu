// Workload "reduction" on CUDA devices: memory, checks, and this library's own sums.
#include <gpusync/reduce/reduce.cuh>

#include <algorithm>

#include "workloads/reduction/sum_memory.cuh"

namespace gpusync::tool {

namespace {

/// The last sums of a run, some for each input, compared exactly; or the very last, where the others leave no result.
template <class T>
class sum_data : public run_data {
 public:
  sum_data(std::shared_ptr<const sum_memory<T>> memory, queued_call finish)
      : memory_(std::move(memory)), finish_(std::move(finish)) {}

  void reset() override { memory_->reset(); }

  check_result check(uint64_t steps) override {
    const sum_pieces<T>& pieces = memory_->pieces();
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(steps, pieces.kept));
    uint32_t first = 0;
    if (finish_) {
      const auto last = static_cast<uint32_t>(steps - 1);
      const cuda_stream_scope done(memory_->where(), [&](cudaStream_t stream) { finish_(stream, last); });
      first = last % pieces.kept;
    }
    const std::vector<T> found = memory_->results(finish_ ? first + 1 : count);
    check_result result;
    for (uint32_t place = first; place < found.size(); ++place) {
      ++result.checked;
      result.wrong += static_cast<double>(found[place]) == static_cast<double>(memory_->expected(place)) ? 0 : 1;
    }
    return result;
  }

  std::string how() const override {
    return finish_ ? "the last sum of every run, put together from what the blocks have left, compared exactly"
                   : "the last 16,384 sums of every run, or all, compared exactly with sums in integers";
  }

 private:
  /// Queues something and waits for it.
  struct cuda_stream_scope {
    template <class Queue>
    cuda_stream_scope(const cuda_target& where, Queue&& queue) {
      const cuda_device_scope scope(where.device().ordinal());
      queue(where.stream());
      check_cuda(cudaStreamSynchronize(where.stream()), "a check");
    }
  };

  const std::shared_ptr<const sum_memory<T>> memory_;
  const queued_call finish_;
};

template <class T>
class cuda_sums : public workload {
 public:
  cuda_sums(const cuda_target& where, const reduction_problem& problem)
      : where_(where), problem_(problem), layout_(layout_of(problem, where.free_memory())) {
    for (auto* const make : {&library_sums<T>, &cub_sums<T>, &sums_with_barriers<T>}) {
      for (sum_method<T>& one : make()) methods_.push_back(std::move(one));
    }
  }

  std::vector<step_method> methods() const override {
    std::vector<step_method> all;
    for (const sum_method<T>& one : methods_) all.push_back(one.about);
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape&) override {
    const auto found = std::find_if(methods_.begin(), methods_.end(),
                                    [&](const sum_method<T>& one) { return one.about.name == method.name; });
    if (found == methods_.end()) throw invalid_argument("There is no sum " + method.name + ".");
    if (found->most_bytes != 0 && problem_.bytes() > found->most_bytes) {
      throw invalid_argument(method.name + " takes at most " + std::to_string(found->most_bytes) + " bytes.");
    }
    if (!memory_) memory_ = std::make_shared<sum_memory<T>>(where_, problem_, layout_);
    const sum_calls calls = found->prepare(where_, memory_->pieces());
    step_sequence steps;
    steps.nodes = layout_.nodes;
    steps.most = layout_.most;
    step_method passing;
    passing.name = problem_.passing;
    return prepare_program(passing, {1, 1},
                           {where_, calls.sum, steps, std::make_shared<sum_data<T>>(memory_, calls.finish)});
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t) override { return UINT64_MAX; }

 private:
  const cuda_target& where_;
  const reduction_problem problem_;
  const reduction_layout layout_;
  std::vector<sum_method<T>> methods_;
  std::shared_ptr<const sum_memory<T>> memory_;
};

/// By gpusync::reduce() with these options.
template <class T>
sum_calls calls_of_library(const cuda_target& where, const sum_pieces<T>& pieces, const reduction_options& options) {
  const auto storage = std::make_shared<reduction_storage>(where.device());
  return {[=](cudaStream_t stream, uint32_t number) {
    reduce(*storage, stream, pieces.input(number), pieces.elements, pieces.result(number), options);
  }};
}

class cuda_reduction : public reduction_device {
 public:
  uint64_t most_cached_bytes() const override {
    return static_cast<uint64_t>(where_.device().properties().l2CacheSize) / 2;
  }

  explicit cuda_reduction(const device_description& description) : where_(description.index) {}

  std::unique_ptr<workload> summing(const reduction_problem& problem) override {
    if (problem.wide) return std::make_unique<cuda_sums<double>>(where_, problem);
    return std::make_unique<cuda_sums<float>>(where_, problem);
  }

 private:
  const cuda_target where_;
};

const register_side<reduction_device> reduction_registered(device_kind::cuda, make_side<cuda_reduction>);

}  // namespace

/// By one plan, whatever the size.
template <class T>
sum_calls calls_by_plan(const cuda_target& where, const sum_pieces<T>& pieces, const reduction_plan& plan) {
  const uint64_t bytes = pieces.elements * sizeof(T);
  if (plan.capacity(reduction_tuning::most_tiles) < bytes) throw invalid_argument("The plan does not hold the input.");
  reduction_tuning tuning = reduction_tuning::generic();
  reduction_rules& rules = sizeof(T) == 4 ? tuning.float_rules : tuning.double_rules;
  const reduction_rule rest = rules.back();
  rules = {{bytes, plan}, rest};
  const auto storage = std::make_shared<reduction_storage>(where.device(), tuning);
  if (!(storage->plan_for<T>(pieces.elements) == plan)) {
    throw invalid_argument("The device takes no clusters of " + std::to_string(plan.cluster) + " such blocks.");
  }
  return {[=](cudaStream_t stream, uint32_t number) {
    reduce(*storage, stream, pieces.input(number), pieces.elements, pieces.result(number));
  }};
}

/// What there is to choose from: a method for each kernel, in clusters of 8 and of 16, in loops with blocks for all
/// threads of a multiprocessor.
template <class T>
void add_plans(std::vector<sum_method<T>>& methods) {
  detail::reduction_kernels<T>::for_each([&](reduction_plan plan, const void*) {
    if (plan.finish == reduction_finish::ticket) return;  // always behind messages
    if (plan.walk != reduction_walk::one_tile) plan.blocks_per_sm = plan.vectors > 4 ? 2 : 4;
    const bool clustered = plan.finish == reduction_finish::cluster;
    for (const uint16_t cluster : {8, 16}) {
      if (clustered) plan.cluster = cluster;
      const std::string words = reduction_tuning::words_of(plan);
      step_method about{name_of_plan(words), "gpusync::reduce by " + words, {}, method_kind::launch};
      methods.push_back({about, [plan](const cuda_target& where, const sum_pieces<T>& pieces) {
                           return calls_by_plan(where, pieces, plan);
                         }});
      if (!clustered) break;
    }
  });
}

template <class T>
std::vector<sum_method<T>> library_sums() {
  const auto method = [](const char* name, const char* title, const reduction_options& options) {
    return sum_method<T>{{name, title, {}, method_kind::launch},
                         [options](const cuda_target& where, const sum_pieces<T>& pieces) {
                           return calls_of_library(where, pieces, options);
                         }};
  };
  std::vector<sum_method<T>> all{
      method("gpusync", "gpusync::reduce", {}),
      method("gpusync-same-order", "gpusync::reduce, the same order of additions in every call", {true, false}),
      method("gpusync-independent", "gpusync::reduce, no block waits for another", {false, true})};
  add_plans(all);
  return all;
}

template <class T>
sum_method<T> library_sum() {
  return library_sums<T>().front();
}

template sum_method<float> library_sum<float>();
template sum_method<double> library_sum<double>();
template std::vector<sum_method<float>> library_sums<float>();
template std::vector<sum_method<double>> library_sums<double>();

}  // namespace gpusync::tool
