// Sums over GPUs with launches between the parts' sums and theirs (Zhang and others, figure 14): a kernel on each GPU,
// of which each block leaves its sum, and then one on the first GPU, which reads them of all. What lets that one wait
// is events across streams, or threads of the host. And the sum of one GPU's part alone.
#include "boundary/cuda_events.hpp"
#include "boundary/cuda_launch.hpp"
#include "boundary/openmp_barrier.hpp"
#include "workloads/multi_gpu_reduction/sums_across.cuh"

namespace gpusync::tool {

namespace {

template <class T>
__global__ void __launch_bounds__(sum_form::threads) sum_sums_of_gpus(sums_of_blocks<T> sums, T* out) {
  const T total = sum_of_gpus<sum_form::threads>(sums);
  if (threadIdx.x == 0) *out = total;
}

/// The two launches.
template <class T>
class launches_of_parts {
 public:
  explicit launches_of_parts(const summing_gpus<T>& gpus)
      : gpus_(gpus), blocks_(blocks_of(gpus)), sums_(gpus.targets, blocks_) {}

  /// Queues that of a GPU's part.
  void part(uint32_t gpu, uint32_t number) const {
    const cuda_device_scope scope(gpus_.targets[gpu].device().ordinal());
    reduction::input<T> in = gpus_.input(gpu, number);
    T* sums = sums_.places().of[gpu];
    void* arguments[] = {&in, &sums};
    start_kernel(gpus_.targets[gpu].stream(), {blocks_[gpu], sum_form::threads}, kernel_start::plain,
                 reinterpret_cast<const void*>(&sum_blocks<T>), arguments);
  }
  /// Queues the first GPU's.
  void whole(uint32_t number) const {
    const cuda_device_scope scope(gpus_.targets[0].device().ordinal());
    sums_of_blocks<T> sums = sums_.places();
    T* out = gpus_.pieces[0].result(number);
    void* arguments[] = {&sums, &out};
    start_kernel(gpus_.targets[0].stream(), {1, sum_form::threads}, kernel_start::plain,
                 reinterpret_cast<const void*>(&sum_sums_of_gpus<T>), arguments);
  }

  const summing_gpus<T>& gpus() const { return gpus_; }

 private:
  static std::vector<uint32_t> blocks_of(const summing_gpus<T>& gpus) {
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < gpus.size(); ++i) all.push_back(blocks_for<T>(gpus.targets[i], gpus.pieces[i].elements));
    return all;
  }

  const summing_gpus<T> gpus_;
  const std::vector<uint32_t> blocks_;
  const memory_of_blocks<T> sums_;
};

/// Events across streams; all of it may be one graph.
template <class T>
class by_events_of_gpus : public queued_sums {
 public:
  explicit by_events_of_gpus(const summing_gpus<T>& gpus) : queued_sums(gpus), launches_(gpus), events_(targets_) {}

 private:
  void queue(uint32_t number) override {
    events_.fork(0);  // behind the first GPU's last kernel, which reads what parts leave
    for (uint32_t gpu = 0; gpu < launches_.gpus().size(); ++gpu) launches_.part(gpu, number);
    events_.join(0);
    launches_.whole(number);
  }
  std::vector<cuda_graph> capture(uint32_t first, uint32_t count) override {
    const cuda_device_scope scope(targets_[0].device().ordinal());
    std::vector<cuda_graph> made;
    made.emplace_back(targets_[0].stream(), [&] {
      for (uint32_t i = 0; i < count; ++i) queue(first + i);
    });
    return made;
  }

  const launches_of_parts<T> launches_;
  const step_events events_;
};

/// A pinned thread of the host for each GPU launches, waits for its device, and meets the others.
template <class T>
class by_threads_of_the_host : public sums_across {
 public:
  explicit by_threads_of_the_host(const summing_gpus<T>& gpus) : launches_(gpus) {
    if (gpus.passing == method_names::graph) {
      throw invalid_argument("Threads of the host take part in every sum: there is no graph of them.");
    }
  }

  double run(uint32_t count) override {
    // They meet twice in a sum: when the parts are summed, and when the whole is.
    const auto half = [&](uint32_t gpu, uint32_t i) {
      if (i % 2 != 0 && gpu != 0) return;
      const cuda_device_scope scope(launches_.gpus().targets[gpu].device().ordinal());
      if (i % 2 == 0) {
        launches_.part(gpu, i / 2);
      } else {
        launches_.whole(i / 2);
      }
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    };
    return steps_with_openmp_barrier(launches_.gpus().size(), 2 * count, 0, half) * 2 * count;
  }

 private:
  const launches_of_parts<T> launches_;
};

/// gpusync::reduce() on the first GPU.
template <class T>
class on_one_gpu : public queued_sums {
 public:
  explicit on_one_gpu(const summing_gpus<T>& gpus)
      : queued_sums(gpus), calls_(library_sum<T>().prepare(targets_[0], gpus.pieces[0])) {}

 private:
  void queue(uint32_t number) override { calls_.sum(targets_[0].stream(), number); }
  std::vector<cuda_graph> capture(uint32_t first, uint32_t count) override {
    const cuda_device_scope scope(targets_[0].device().ordinal());
    std::vector<cuda_graph> made;
    made.emplace_back(targets_[0].stream(), [&] {
      for (uint32_t i = 0; i < count; ++i) queue(first + i);
    });
    return made;
  }

  const sum_calls calls_;
};

template <class T, class Sums>
across_sum_method<T> method_of(const char* name, const char* title, method_kind kind, bool rival) {
  step_method about{name, title, {}, kind};
  about.rival = rival;
  return {about, false, [](const summing_gpus<T>& gpus) { return std::make_unique<Sums>(gpus); }};
}

}  // namespace

template <class T>
std::vector<across_sum_method<T>> sums_in_launches() {
  std::vector<across_sum_method<T>> all{
      method_of<T, by_events_of_gpus<T>>("implicit",
                                         "a kernel on each GPU, events across streams, and a kernel for their sums",
                                         method_kind::launch, true),
      method_of<T, by_threads_of_the_host<T>>("host-threads",
                                              "the same kernels, between them cudaDeviceSynchronize and an omp barrier",
                                              method_kind::host_wait, true),
      method_of<T, on_one_gpu<T>>(one_gpu_sum, "gpusync::reduce of the first GPU's part alone", method_kind::floor,
                                  false)};
  all.back().alone = true;
  return all;
}

template std::vector<across_sum_method<float>> sums_in_launches<float>();
template std::vector<across_sum_method<double>> sums_in_launches<double>();

}  // namespace gpusync::tool
