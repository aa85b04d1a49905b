// Workload "barrier-memory" on CUDA devices: barriers whose words lie in the device's memory, and the same barriers
// with their words in the host's, which blocks reach through PCIe or NVLink. The thesis of 2013 planned the comparison
// (section 2.1.2) and did not report it.
#include <gpusync/gpusync.cuh>

#include <cstring>

#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/average/average.hpp"
#include "workloads/barrier_memory/barrier_memory.hpp"

namespace gpusync::tool {

namespace {

/// detail::cuda_words, in pinned memory of the host that the device has mapped.
template <class Word>
class host_words {
 public:
  host_words(const cuda_device& device, size_t count) : count_(count), ordinal_(device.ordinal()) {
    const cuda_device_scope scope(ordinal_);
    void* mapped = nullptr;
    check_cuda(cudaHostAlloc(&mapped, bytes(), cudaHostAllocMapped), "cudaHostAlloc");
    memory_.reset(static_cast<Word*>(mapped));
    std::memset(mapped, 0, bytes());
  }

  Word* data() const { return memory_.get(); }
  size_t bytes() const { return count_ * sizeof(Word); }
  void clear() {
    settle();
    std::memset(static_cast<void*>(data()), 0, bytes());
  }
  void clear(size_t first, size_t count, const detail::launch_request& launch) {
    check_cuda(cudaMemsetAsync(data() + first, 0, count * sizeof(Word), static_cast<cudaStream_t>(launch.stream)),
               "cudaMemsetAsync");
  }
  void write(const std::vector<Word>& from, size_t first = 0) {
    settle();
    std::copy(from.begin(), from.end(), data() + first);
  }

 private:
  struct free_host {
    void operator()(Word* words) const { (void)cudaFreeHost(words); }
  };
  /// Waits for what the device is doing.
  void settle() const {
    const cuda_device_scope scope(ordinal_);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  size_t count_;
  int ordinal_;
  std::unique_ptr<Word, free_host> memory_;
};

/// detail::cuda_backend with such words.
struct host_memory_backend : detail::cuda_backend {
  template <class Word>
  using words = host_words<Word>;
};

template <class Algorithm>
class host_memory_barrier final : public cuda_waiting {
 public:
  host_memory_barrier(const cuda_target& where, uint32_t blocks) : where_(where), blocks_(blocks), storage_(make()) {}

  void launch(const cuda_target& where, const launch_shape& shape, const void* kernel,
              std::vector<void*> arguments) override {
    launch_by_address(where.device(), where.stream(), shape, kernel, std::move(arguments), storage_->barrier());
  }
  void place_anew() override { storage_ = make(); }

 private:
  class storage
      : public detail::barrier_storage<Algorithm, cuda_grid, host_memory_backend, detail::plain_placement<Algorithm>> {
   public:
    storage(const cuda_device& device, uint32_t blocks)
        : storage::barrier_storage(device, blocks, 0, detail::plain_placement<Algorithm>()) {}
  };
  std::unique_ptr<storage> make() const { return std::make_unique<storage>(where_.device(), blocks_); }

  const cuda_target where_;
  const uint32_t blocks_;
  std::unique_ptr<storage> storage_;
};

/// The three of the papers that barriers were compared by, in their right forms.
using compared =
    grid::algorithm_list<grid::lock_based<ordering::acquire_release>, grid::tree<2, ordering::acquire_release>,
                         grid::lock_free<ordering::acquire_release>>;

class cuda_barrier_memory final : public workload {
 public:
  explicit cuda_barrier_memory(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all = methods_on_cuda(where_.device(), kernels_, true);
    for (const cuda_own_method& one : in_host()) all.push_back(one.method);
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const auto memory = std::make_shared<cuda_arrays>(where_, average_arrays(shape));
    const average_text text{
        {}, {memory->address<float>(0), memory->address<uint32_t>(1)}, shape.stores, crosses_blocks(method)};
    cuda_computation computation{where_, kernels_, text, average_steps(shape),
                                 std::make_shared<average_result>(shape, crosses_blocks(method), memory)};
    computation.own = in_host();
    return prepare_program(method, shape, std::move(computation));
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    cuda_computation computation{where_, kernels_, average_text{}, {}, nullptr};
    computation.own = in_host();
    return max_co_resident_of(computation, methods, threads);
  }
  std::vector<uint32_t> default_blocks(bool quick) override {
    const auto sms = static_cast<uint32_t>(where_.device().sm_count());
    if (quick) return {sms};
    return distinct({1, 2, 4, 8, 16, 32, 64, sms});
  }
  std::vector<uint32_t> default_threads(bool) override { return {256}; }

 private:
  /// The compared barriers with their words in the host's memory.
  std::vector<cuda_own_method> in_host() const {
    std::vector<cuda_own_method> all;
    compared::for_each([&](auto algorithm) {
      using barrier = decltype(algorithm);
      const std::string name = grid::name_of<barrier>();
      const auto there = methods_on_cuda(where_.device(), kernels_, false);
      const auto method = std::find_if(there.begin(), there.end(), [&](const auto& one) { return one.name == name; });
      if (method == there.end()) return;
      step_method made = *method;
      made.name += in_host_memory;
      made.title += ", its words in the host's memory";
      made.items = {"S10"};
      all.push_back({made, kernels_.with_barrier.find(name), [](const cuda_target& where, const step_shape& shape) {
                       return std::make_unique<host_memory_barrier<barrier>>(where, shape.blocks);
                     }});
    });
    return all;
  }

  const cuda_target where_;
  const cuda_kernels kernels_ = kernels_of<average_text, compared>();
};

const register_side<workload> barrier_memory_registered(device_kind::cuda, make_side<cuda_barrier_memory>,
                                                        "barrier-memory");

}  // namespace

}  // namespace gpusync::tool
