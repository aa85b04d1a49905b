// Workload "reduction" on CUDA devices: memory, checks, and this library's own sums.
#include <gpusync/reduce/reduce.cuh>

#include <algorithm>

#include "workloads/reduction/reduction_cuda.cuh"

namespace gpusync::tool {

namespace {

/// All inputs, one behind the other, the space between them included: element i of the memory is that of index i.
template <class T>
__global__ void fill_inputs(T* values, uint64_t count) {
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    values[i] = T(reduction_element(i));
  }
}

/// The sum of each input in whole numbers, from what stands in memory: a row of blocks for each.
template <class T>
__global__ void sum_in_integers(const T* first, uint64_t stride, uint64_t count, unsigned long long* sums) {
  const T* const values = first + blockIdx.y * stride;
  long long sum = 0;
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    sum += static_cast<long long>(values[i]);
  }
  for (unsigned step = 16; step != 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sums + blockIdx.y, static_cast<unsigned long long>(sum));
}

/// Fills the caches with something else.
__global__ void read_junk(const float4* junk, uint64_t count, float* never) {
  float sum = 0;
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    const float4 value = junk[i];
    sum += value.x + value.y + value.z + value.w;
  }
  if (sum == -1.5f) *never = sum;  // zeros never add up to that
}

/// Inputs and results in device memory, and what they must be.
template <class T>
class sum_memory {
 public:
  static constexpr uint32_t most_results = 1u << 14;  ///< are kept of a run, or one for each input

  sum_memory(const cuda_target& where, const reduction_problem& problem, const reduction_layout& layout)
      : where_(where),
        cached_(problem.cached),
        inputs_(where.device(), layout.bytes(), where.stream()),
        kept_((most_results + layout.pieces - 1) / layout.pieces * layout.pieces),
        results_(where.device(), kept_ * sizeof(T), where.stream()),
        junk_(where.device(), problem.cached ? 16 : 2 * l2_bytes(where.device()) + 16, where.stream()) {
    auto* const first = static_cast<T*>(inputs_.address());
    const uint64_t stride = layout.stride / sizeof(T);
    const cuda_device_scope scope(where.device().ordinal());
    fill_inputs<<<blocks(), 512, 0, where.stream()>>>(first, layout.bytes() / sizeof(T));
    pieces_ = {
        first + problem.offset, stride, layout.pieces, problem.elements, static_cast<T*>(results_.address()), kept_};
    const cuda_buffer sums(where.device(), layout.pieces * sizeof(long long), where.stream());
    sum_in_integers<<<dim3(blocks() / 4, layout.pieces), 256, 0, where.stream()>>>(
        pieces_.first, stride, problem.elements, static_cast<unsigned long long*>(sums.address()));
    check_cuda(cudaGetLastError(), "the launch of a sum in integers");
    check_cuda(cudaStreamSynchronize(where.stream()), "the sums in integers");
    expected_.resize(layout.pieces);
    where.download(expected_.data(), sums, sums.bytes());
    require_expected(problem, stride);
  }

  const sum_pieces<T>& pieces() const { return pieces_; }
  /// What the sum in that place must be.
  int64_t expected(uint32_t place) const { return expected_[place % pieces_.count]; }

  /// No result is a number, and no input is in a cache, unless it is to be.
  void reset() const {
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemsetAsync(results_.address(), 0xff, results_.bytes(), where_.stream()), "cudaMemsetAsync");
    if (!cached_) {
      read_junk<<<blocks(), 512, 0, where_.stream()>>>(static_cast<const float4*>(junk_.address()), junk_.bytes() / 16,
                                                       static_cast<float*>(junk_.address()));
      check_cuda(cudaGetLastError(), "the launch of what clears the caches");
    }
    check_cuda(cudaStreamSynchronize(where_.stream()), "what clears the caches");
  }

  std::vector<T> results(uint32_t count) const {
    std::vector<T> found(count);
    where_.download(found.data(), results_, count * sizeof(T));
    return found;
  }

  const cuda_target& where() const { return where_; }

 private:
  static uint64_t l2_bytes(const cuda_device& device) { return static_cast<uint64_t>(device.properties().l2CacheSize); }
  unsigned blocks() const { return 4 * static_cast<unsigned>(where_.device().sm_count()); }

  /// What the device has summed in whole numbers is itself checked by the host, as far as that is soon done.
  void require_expected(const reduction_problem& problem, uint64_t stride) const {
    constexpr uint64_t most = 1 << 22;
    if (problem.elements > most) return;
    const auto pieces = static_cast<uint32_t>(std::clamp<uint64_t>(most / problem.elements, 1, expected_.size()));
    for (uint32_t piece = 0; piece < pieces; ++piece) {
      int64_t sum = 0;
      for (uint64_t i = 0; i < problem.elements; ++i) sum += reduction_element(problem.offset + piece * stride + i);
      if (sum != expected_[piece]) throw runtime_failure("The device's sums in integers are not the host's.", 0);
    }
  }

  const cuda_target& where_;
  const bool cached_;
  const cuda_buffer inputs_;
  const uint32_t kept_;
  const cuda_buffer results_, junk_;
  sum_pieces<T> pieces_{};
  std::vector<int64_t> expected_;
};

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
  double clock_mhz() override { return measure_clock_mhz(where_.device(), where_.stream()); }

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

const register_side<reduction_device> registered(device_kind::cuda, make_side<cuda_reduction>);

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

template std::vector<sum_method<float>> library_sums<float>();
template std::vector<sum_method<double>> library_sums<double>();

}  // namespace gpusync::tool
