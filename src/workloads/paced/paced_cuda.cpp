// The engine of paced texts on CUDA devices.
#include "workloads/paced/paced_cuda.hpp"

#include <algorithm>

#include "boundary/cuda_arrays.hpp"
#include "boundary/cuda_graph.hpp"
#include "measure/cuda_function.hpp"
#include "measure/cuda_timer.cuh"

namespace gpusync::tool {

namespace {

/// One kernel, as it is used.
struct loaded_kernel {
  cuda_paced_kernel kernel;
  paced_resources takes = {};
  cuda_graph launches = {};  ///< so many as are timed together, if they are several
  bool captured = false;
  uint64_t checked = 0, wrong = 0;
};

class cuda_paced_program : public paced_program {
 public:
  cuda_paced_program(const cuda_target& where, const paced_problem& problem, const cuda_paced_text& text)
      : where_(where), shape_(problem.shape), sizes_(text.arrays(problem)) {
    require_room(sizes_.bytes(), where.free_memory(), "free");
    uint32_t* addresses[std::size(paced_arrays{}.words)] = {};
    for (uint32_t i = 0; i <= sizes_.count; ++i) {  // the last is what the output must be
      const uint64_t words = sizes_.words[std::min(i, sizes_.count - 1)];
      arrays_.emplace_back(where.device(), std::max<uint64_t>(words, 1) * sizeof(uint32_t), where.stream());
      if (i < sizes_.count) addresses[i] = static_cast<uint32_t*>(arrays_.back().address());
    }
    made_ = text.make(problem, addresses);
    compute_words(text);
    load_kernels(text.kernels, problem.small_l1);
    choose_launches();
  }

  std::vector<paced_variant> variants() const override { return those(false); }
  std::vector<paced_variant> clocked() const override { return those(true); }
  uint64_t trips() const override { return made_.trips; }
  uint64_t bytes() const override { return made_.bytes; }
  paced_resources resources(const paced_variant& which) override { return find(which, false).takes; }

  double run(const paced_variant& which) override {
    loaded_kernel& one = find(which, false);
    if (launches_ > 1 && !one.captured) {
      one.launches = cuda_graph(where_.stream(), [&] {
        for (uint32_t i = 0; i < launches_; ++i) start(one);
      });
      one.captured = true;
    }
    return checked_run(one, [&] { launches_ > 1 ? one.launches.replay(where_.stream()) : start(one); }) / launches_;
  }

  paced_clocks run_clocked(const paced_variant& which) override {
    loaded_kernel& one = find(which, true);
    const size_t warps = size_t{shape_.blocks} * ((shape_.threads + 31) / 32);
    if (clocks_.address() == nullptr) {
      clocks_ = cuda_buffer(where_.device(), warps * sizeof(warp_clocks), where_.stream());
    }
    (void)checked_run(one, [&] { start(one); });
    std::vector<warp_clocks> found(warps);
    where_.download(found.data(), clocks_, warps * sizeof(warp_clocks));
    return mean_clocks(found, "cycles");
  }

  verification verify(const paced_variant& which, bool instrumented) const override {
    const loaded_kernel& one = find(which, instrumented);
    return {true, one.checked, one.wrong, paced_check};
  }
  std::string function_of(const paced_variant& which) const override {
    return name_in_machine_code(where_.device(), find(which, false).kernel.function);
  }

 private:
  std::vector<paced_variant> those(bool instrumented) const {
    std::vector<paced_variant> all;
    for (const loaded_kernel& one : kernels_) {
      if (one.kernel.instrumented == instrumented) all.push_back(one.kernel.about);
    }
    return all;
  }
  const loaded_kernel& find(const paced_variant& which, bool instrumented) const {
    for (const loaded_kernel& one : kernels_) {
      if (one.kernel.about.name == which.name && one.kernel.instrumented == instrumented) return one;
    }
    throw invalid_argument("There is no variant " + which.name + ".");
  }
  loaded_kernel& find(const paced_variant& which, bool instrumented) {
    return const_cast<loaded_kernel&>(std::as_const(*this).find(which, instrumented));
  }
  const cuda_buffer& output() const { return arrays_[sizes_.count - 1]; }
  unsigned blocks_to_fill() const { return 8 * static_cast<unsigned>(where_.device().sm_count()); }

  /// Inputs and what the output must be, by formula.
  void compute_words(const cuda_paced_text& text) {
    const cuda_device_scope scope(where_.device().ordinal());
    for (uint32_t array = 0; array + 1 < sizes_.count; ++array) {
      auto* to = static_cast<uint32_t*>(arrays_[array].address());
      void* arguments[] = {made_.text.get(), &array, &to, &sizes_.words[array]};
      check_cuda(cudaLaunchKernel(text.fill, dim3(blocks_to_fill()), dim3(256), arguments, 0, where_.stream()),
                 "cudaLaunchKernel");
    }
    auto* to = static_cast<uint32_t*>(arrays_[sizes_.count].address());
    void* arguments[] = {made_.text.get(), &to, &sizes_.words[sizes_.count - 1]};
    check_cuda(cudaLaunchKernel(text.expect, dim3(blocks_to_fill()), dim3(256), arguments, 0, where_.stream()),
               "cudaLaunchKernel");
    check_cuda(cudaStreamSynchronize(where_.stream()), "the input of a paced kernel");
  }

  int resident(const void* function) const {
    int blocks = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, static_cast<int>(shape_.threads), 0),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks;
  }
  static cudaFuncAttributes attributes_of(const void* function) {
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, function), "cudaFuncGetAttributes");
    return attributes;
  }

  /// All variants ask for the same part of a multiprocessor's memory as shared memory, the least that has room for all:
  /// left to itself the driver may give one that takes a few bytes another L1 cache.
  void load_kernels(const std::vector<cuda_paced_kernel>& kernels, bool small_l1) {
    const cuda_device_scope scope(where_.device().ordinal());
    const cudaDeviceProp& device = where_.device().properties();
    int shared = 0;
    for (const cuda_paced_kernel& kernel : kernels) {
      loaded_kernel& one = kernels_.emplace_back();
      one.kernel = kernel;
      // Forgets what an earlier problem asked for.
      check_cuda(cudaFuncSetAttribute(kernel.function, cudaFuncAttributePreferredSharedMemoryCarveout, -1),
                 "cudaFuncSetAttribute");
      if (is_compared(kernel))
        shared = std::max(shared, static_cast<int>(attributes_of(kernel.function).sharedSizeBytes));
    }
    const int blocks = resident(kernels.front().function);
    if (blocks == 0) {
      throw invalid_argument("The device does not run a block of " + std::to_string(shape_.threads) +
                             " threads of the plain kernel.");
    }
    const int percent = small_l1 ? 100
                                 : carve_out_for(blocks, shared, static_cast<int>(device.reservedSharedMemPerBlock),
                                                 device.sharedMemPerMultiprocessor);
    for (loaded_kernel& one : kernels_) {
      const void* const function = one.kernel.function;
      if (is_compared(one.kernel)) {
        check_cuda(cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, percent),
                   "cudaFuncSetAttribute");
      }
      const cudaFuncAttributes attributes = attributes_of(function);
      one.takes = {attributes.numRegs, static_cast<int>(attributes.sharedSizeBytes), resident(function),
                   attributes.preferredShmemCarveout};
    }
  }
  static bool is_compared(const cuda_paced_kernel& kernel) { return kernel.about.role != paced_role::rival; }

  /// Short kernels are timed many together, so that a run takes some 200 us.
  void choose_launches() {
    loaded_kernel& plain = kernels_.front();
    (void)checked_run(plain, [&] { start(plain); });
    const double once = checked_run(plain, [&] { start(plain); });
    constexpr double enough = 200e3;
    launches_ = static_cast<uint32_t>(std::clamp(enough / std::max(once, 1.0), 1.0, 64.0));
  }

  void start(const loaded_kernel& one) {
    const cuda_device_scope scope(where_.device().ordinal());
    if (one.takes.resident_blocks == 0) {
      throw invalid_argument("The device does not run a block of " + std::to_string(shape_.threads) +
                             " threads of this kernel.");
    }
    void* clocks = clocks_.address();
    void* arguments[] = {made_.text.get(), &clocks};  // the second only for an instrumented build
    check_cuda(
        cudaLaunchKernel(one.kernel.function, dim3(shape_.blocks), dim3(shape_.threads), arguments, 0, where_.stream()),
        "cudaLaunchKernel");
  }

  /// Nanoseconds of what `queue()` starts, from a fresh output, which is compared.
  template <class Queue>
  double checked_run(loaded_kernel& one, const Queue& queue) {
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemsetAsync(output().address(), 0xff, output().bytes(), where_.stream()), "cudaMemsetAsync");
    check_cuda(cudaStreamSynchronize(where_.stream()), "cudaStreamSynchronize");
    timer_.start(where_.stream());
    queue();
    const double elapsed = timer_.stop(where_.stream());
    const uint64_t words = sizes_.output_words();
    one.wrong += different_words(where_, output().address(), arrays_[sizes_.count].address(), words, counted_);
    one.checked += words;
    return elapsed;
  }

  const cuda_target& where_;
  const step_shape shape_;
  paced_arrays sizes_;
  std::vector<cuda_buffer> arrays_;  ///< the text's, the output last of them; then what it must be
  cuda_paced_text::made made_;
  std::vector<loaded_kernel> kernels_;
  const cuda_buffer counted_{where_.device(), sizeof(unsigned long long), where_.stream()};
  cuda_buffer clocks_;
  cuda_timer timer_;
  uint32_t launches_ = 1;
};

class cuda_paced_device : public paced_device {
 public:
  cuda_paced_device(const device_description& description, cuda_paced_text text)
      : where_(description.index), text_(std::move(text)) {}

  std::vector<paced_variant> variants() const override {
    std::vector<paced_variant> all;
    for (const cuda_paced_kernel& kernel : text_.kernels) {
      if (!kernel.instrumented) all.push_back(kernel.about);
    }
    return all;
  }
  std::unique_ptr<paced_program> program(const paced_problem& problem) override {
    (void)elements_of(problem.shape);
    const auto most = static_cast<uint32_t>(where_.device().properties().maxThreadsPerBlock);
    if (problem.shape.threads > most) {
      throw invalid_argument("The device takes blocks of at most " + std::to_string(most) + " threads.");
    }
    paced_problem own = problem;
    own.warp_size = 32;
    return std::make_unique<cuda_paced_program>(where_, own, text_);
  }
  int architecture() const override { return architecture_of(where_.device(), text_.kernels.front().function); }

 private:
  const cuda_target where_;
  const cuda_paced_text text_;
};

}  // namespace

std::unique_ptr<paced_device> open_paced_text(const device_description& device, cuda_paced_text text) {
  return std::make_unique<cuda_paced_device>(device, std::move(text));
}

}  // namespace gpusync::tool
