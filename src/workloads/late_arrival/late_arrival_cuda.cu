// Workload "late arrival" on CUDA devices.
#include <algorithm>

#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/device_side/cuda_side.cuh"
#include "workloads/late_arrival/late_arrival.hpp"

namespace gpusync::tool {

namespace {

constexpr uint32_t late_warm_up = 8;
constexpr uint32_t steps = 72;
constexpr uint32_t checks_per_step = 3;

/// When a block came to a barrier and when it was let go: the low words of the global timer, in nanoseconds.
struct passage {
  uint32_t arrival;
  uint32_t release;
};

/// The low word of the global timer: one instruction, which nothing waits for until its value is used. The whole timer
/// is read in a loop.
__device__ __forceinline__ uint32_t low_time() {
  uint32_t nanoseconds;
  asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(nanoseconds)::"memory");
  return nanoseconds;
}

/// Lets 1 us pass, and up to 64 ns more: were the delay to end with a tick of the timer, all arrivals would be read too
/// exactly, and the difference to the releases, which are read half a tick early on average, would be biased.
__device__ __forceinline__ void come_late(const cuda_grid& grid, uint32_t step) {
  const uint32_t begin = low_time();
  while (low_time() - begin < 1000) {
  }
  grid.delay((step * 0x9e3779b9u) >> 25);  // 0 to 127 cycles
}

/// `first`: the number of the first step, which goes into the words. Passages are noted in shared memory, so that
/// noting them costs the fences nothing.
template <class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    arrive_late(exchange data, uint32_t first, passage* passages, Barrier barrier) {
  __shared__ passage noted[steps];
  const cuda_grid grid;
  const uint32_t block = grid.block(), blocks = grid.blocks();
  const auto from = [&](uint32_t offset) { return (block + offset) % blocks; };
  uint32_t wrong = 0;
  for (uint32_t s = 0; s < steps; ++s) {
    const uint32_t step = first + s;
    data.write(grid, step);
    if (grid.thread() == 0 && (step * 37 + 11) % blocks == block) come_late(grid, step);
    const uint32_t arrival = low_time();
    barrier.sync();
    const uint32_t release = low_time();
    if (grid.thread() == 0) noted[s] = {arrival, release};
    wrong += data.check(grid, step, from(1));
    wrong += data.check(grid, step, from(blocks / 2));
    wrong += data.check(grid, step, from(step * 29 % blocks));
  }
  data.report(wrong);
  __syncthreads();
  for (uint32_t s = grid.thread(); s < steps; s += grid.threads()) passages[size_t{s} * blocks + block] = noted[s];
}

class late_at_barrier : public late_arrival_program {
 public:
  late_at_barrier(const cuda_target& where, const std::string& barrier, const void* kernel, uint32_t blocks,
                  uint32_t threads)
      : where_(where),
        shape_{blocks, threads},
        kernel_(kernel),
        barrier_(make_cuda_barrier(barrier, where, blocks, std::nullopt)),
        memory_(std::make_unique<cuda_arrays>(
            where, exchange_arrays(blocks, threads, {array_content::filled(size_t{steps} * blocks, passage{})}))) {
    require_co_resident(where.device(), kernel, shape_);
  }

  late_arrival_times run() override {
    const cuda_device_scope scope(where_.device().ordinal());
    barrier_->place_anew();
    exchange data = exchange_in(*memory_);
    auto* passages = memory_->address<passage>(2);
    launch_with(where_, shape_, kernel_, {&data, &next_step_, &passages}, barrier_.get());
    check_cuda(cudaStreamSynchronize(where_.stream()), "a launch with a late block");
    next_step_ += steps;
    const size_t blocks = shape_.blocks.count();
    std::vector<passage> seen(steps * blocks);
    memory_->read(2, seen.data());
    late_arrival_times times;
    for (uint32_t s = late_warm_up; s < steps; ++s) add(times, seen.data() + s * blocks, blocks);
    launches_ += 1;
    return times;
  }

  uint64_t checked() const override {
    return launches_ * steps * checks_per_step * shape_.blocks.count() * shape_.threads.count();
  }
  uint64_t wrong() const override { return memory_->word<uint64_t>(1); }

 private:
  /// Adds the figures of one step. Differences are taken modulo 2^32, for the timer's low word wraps every 4 s.
  static void add(late_arrival_times& times, const passage* of, size_t blocks) {
    const uint32_t base = of[0].arrival;
    const auto since_base = [base](uint32_t time) { return static_cast<double>(static_cast<int32_t>(time - base)); };
    double last_arrival = 0, last_release = since_base(of[0].release), sum = 0;
    for (size_t i = 0; i < blocks; ++i) {
      last_arrival = std::max(last_arrival, since_base(of[i].arrival));
      last_release = std::max(last_release, since_base(of[i].release));
      sum += since_base(of[i].release);
    }
    times.mean_release.push_back(sum / static_cast<double>(blocks) - last_arrival);
    times.last_release.push_back(last_release - last_arrival);
  }

  const cuda_target& where_;
  const launch_shape shape_;
  const void* const kernel_;
  const std::unique_ptr<cuda_barrier> barrier_;
  const std::unique_ptr<cuda_arrays> memory_;  ///< of the exchange; where blocks note their passages
  uint32_t next_step_ = 1;
  uint64_t launches_ = 0;
};

class cuda_late_arrival : public late_arrival_device {
 public:
  explicit cuda_late_arrival(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override { return cuda_barrier_methods_in(kernels_); }

  std::unique_ptr<late_arrival_program> prepare(const std::string& method, uint32_t blocks, uint32_t threads) override {
    const void* const kernel = kernels_.find(method);
    if (kernel == nullptr) throw invalid_argument("There is no grid barrier " + method + " that orders data.");
    return std::make_unique<late_at_barrier>(where_, method, kernel, blocks, threads);
  }

 private:
  const cuda_target where_;
  const kernel_table kernels_ = kernels_with_barriers<grid::cuda_algorithms, barriers::that_order>(
      [](auto algorithm) { return &arrive_late<barrier_with<decltype(algorithm)>>; });
};

const register_side<late_arrival_device> late_arrival_registered(device_kind::cuda, make_side<cuda_late_arrival>);

}  // namespace

}  // namespace gpusync::tool
