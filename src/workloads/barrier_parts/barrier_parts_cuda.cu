// Workload "barrier-parts" on CUDA devices.
#include <algorithm>

#include "measure/cuda_clock.cuh"
#include "measure/cuda_full_blocks.cuh"
#include "measure/cuda_timer.cuh"
#include "workloads/barrier_parts/barrier_parts_methods.hpp"
#include "workloads/device_side/cuda_side.cuh"

namespace gpusync::tool {

namespace {

/// All steps of a run with a part between them.
template <barrier_part Part>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    part_kernel(barrier_parts_data data, bool works, uint32_t steps) {
  barrier_parts_run<Part>(cuda_grid::current(), data, works, steps);
}

/// With a whole barrier between them. Bounds as in workload "average".
template <class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    whole_kernel(barrier_parts_data data, bool works, uint32_t steps, Barrier barrier) {
  barrier_parts_run(cuda_grid::current(), data, works, steps, barrier);
}

/// Memory, counting and timing; what differs is the kernel.
class cuda_parts : public step_program {
 public:
  cuda_parts(const cuda_target& where, const step_shape& shape, bool synchronizes, bool adds)
      : where_(where),
        shape_(shape),
        result_(shape, synchronizes, adds),
        values_(where.device(), 2 * size_t{result_.elements()} * sizeof(float)),
        counts_(where.device(), (line_words + 1) * sizeof(uint32_t)) {
    const std::vector<float> first = result_.first_values();
    check_cuda(cudaMemcpy(values_.address(), first.data(), values_.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    // The stream does not wait for the legacy stream, on which this copy may still be under way.
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }

  double run(uint64_t steps) override {
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemsetAsync(counts_.address(), 0, counts_.bytes(), where_.stream()), "cudaMemsetAsync");
    timer_.start(where_.stream());
    start(static_cast<uint32_t>(steps));
    const double elapsed = timer_.stop(where_.stream());
    uint32_t counts[line_words + 1];
    check_cuda(cudaMemcpy(counts, counts_.address(), sizeof(counts), cudaMemcpyDeviceToHost), "cudaMemcpy");
    result_.add_run(steps, counts[line_words], counts[0]);
    return elapsed;
  }

  uint64_t steps_unit() const override { return average_period; }

  verification verify() override {
    const cuda_device_scope scope(where_.device().ordinal());
    std::vector<float> values(2 * size_t{result_.elements()});
    check_cuda(cudaMemcpy(values.data(), values_.address(), values_.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result_.verify(values);
  }

 protected:
  virtual void start(uint32_t steps) = 0;

  barrier_parts_data data() const {
    auto* counts = static_cast<uint32_t*>(counts_.address());
    return {{static_cast<float*>(values_.address()), counts + line_words}, counts, 0};
  }
  launch_shape shape() const { return {shape_.blocks, shape_.threads}; }

  const cuda_target& where_;
  const step_shape shape_;

 private:
  static constexpr size_t line_words = 32;  // the common word has a line to itself, the count of wrong words the next

  barrier_parts_result result_;
  cuda_buffer values_;
  cuda_buffer counts_;
  cuda_timer timer_;
};

template <barrier_part Part>
class part_program : public cuda_parts {
 public:
  part_program(const cuda_target& where, const step_shape& shape) : cuda_parts(where, shape, false, adds(Part)) {
    require_launchable(where.device(), part_kernel<Part>, this->shape());
  }

 private:
  void start(uint32_t steps) override {
    launch(where_.device(), where_.stream(), shape(), part_kernel<Part>, data(), shape_.stores, steps);
  }
};

template <class Algorithm>
class whole_program : public cuda_parts {
 public:
  whole_program(const cuda_target& where, const step_shape& shape)
      : cuda_parts(where, shape, true, false), storage_(where.device(), shape.blocks) {
    require_launchable(where.device(), kernel, this->shape());
  }

  static uint64_t max_blocks(const cuda_device& device, uint32_t threads) {
    return max_co_resident(device, kernel, {1, threads}).blocks();
  }

 private:
  static constexpr auto kernel = whole_kernel<basic_grid_barrier<Algorithm, cuda_grid>>;

  void start(uint32_t steps) override {
    launch(where_.device(), where_.stream(), shape(), kernel, data(), shape_.stores, steps, storage_.barrier());
  }

  cuda_barrier_storage<Algorithm> storage_;
};

class cuda_barrier_parts : public step_workload {
 public:
  explicit cuda_barrier_parts(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override { return barrier_parts_methods(); }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device().ordinal());
    auto program =
        with_part(method.name, [&](auto part) { return std::make_unique<part_program<part.value>>(where_, shape); });
    if (program) return program;
    program = with_algorithm<std::unique_ptr<step_program>, whole_barriers>(
        method, [&](auto algorithm) { return std::make_unique<whole_program<decltype(algorithm)>>(where_, shape); });
    if (!program) throw invalid_argument("There is no variant " + method.name + " on CUDA devices.");
    return program;
  }

  uint64_t max_co_resident(uint32_t threads) override {
    uint64_t least = UINT64_MAX;
    whole_barriers::for_each([&](auto algorithm) {
      least = std::min(least, whole_program<decltype(algorithm)>::max_blocks(where_.device(), threads));
    });
    return least;
  }

  /// One block on each multiprocessor, as in the paper, up to all of them; 30 is where the paper's grids end.
  std::vector<uint32_t> default_blocks(bool quick) override {
    const auto sms = static_cast<uint32_t>(where_.device().sm_count());
    std::vector<uint32_t> blocks{1, 2, 4, 8, 15, 30, sms / 2, sms};
    if (quick) blocks = {1, std::min(30u, std::max(sms / 2, 1u)), sms};
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    blocks.erase(std::remove_if(blocks.begin(), blocks.end(), [sms](uint32_t b) { return b == 0 || b > sms; }),
                 blocks.end());
    return blocks;
  }
  std::vector<uint32_t> default_threads(bool) override { return {256}; }
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  const cuda_target where_;
};

const register_workload registered("barrier-parts", device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_barrier_parts>(device);
});

}  // namespace

}  // namespace gpusync::tool
