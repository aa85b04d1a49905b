// Sums over a whole device, faster than a kernel for the blocks' sums and one for theirs: one launch, at whose end the
// blocks' sums travel as messages. Example:
//
//   gpusync::cuda_device gpu{0};
//   gpusync::reduction_storage storage{gpu};
//   gpusync::reduce(storage, stream, values, count, result);   // *result = values[0] + … + values[count - 1]
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_stream.hpp>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/launch/cuda_admission.hpp>
#include <gpusync/reduce/kernel_table.cuh>
#include <gpusync/reduce/tuning.hpp>

namespace gpusync {

/// What a reduction may do.
struct reduction_options {
  /// Every call with the same input adds in the same order, so that floating-point results are equal to the last bit.
  /// Otherwise blocks of inputs of more than 1 GiB take the tiles that come, which is up to 1 % faster.
  bool same_order = false;
  /// No block waits for another, but within a cluster, whose blocks run at once: for devices on which blocks of one
  /// grid may have to wait for each other's end. Otherwise one block waits for all others; as the grid's last one it
  /// has started last, and should it ever start first, it takes one place of the device while they have the others. Up
  /// to 0.7 us slower (docs/reduce.md).
  bool independent_blocks = false;
};

namespace detail {

/// A rule with what launches it.
struct reduction_launch {
  uint64_t bytes;
  reduction_plan plan;
  const void* kernel;
};

/// What one type's sums take: the words that blocks share, and the plans.
template <class T>
class reduction_side {
 public:
  reduction_side(const cuda_device& device, const reduction_rules& rules, timeout_report* report) : report_(report) {
    for (const reduction_rule& rule : rules) {
      for (size_t options = 0; options < launches_.size(); ++options) {
        reduction_plan plan = rule.plan;
        const void* const asked = kernel_of(plan);
        if (plan.finish == reduction_finish::cluster && !takes_cluster(device, plan, asked)) {
          plan = without_clusters(plan);
        }
        if (options & 1) plan = without_claims(plan);
        if (options & 2) plan = without_messages(plan);
        launches_[options].push_back({rule.bytes, plan, kernel_of(plan)});
        require_capacity(rule.bytes, plan);
        const uint64_t blocks = plan.walk == reduction_walk::one_tile
                                    ? tiles_of(rule.bytes, plan)
                                    : uint64_t{plan.blocks_per_sm} * device.sm_count();
        capacity_ = std::max(capacity_, static_cast<uint32_t>(blocks));
      }
    }
    memory_ = std::make_unique<cuda_words<uint64_t>>(device, words_before_messages + 3 * size_t{capacity_});
  }

  /// The plan for so many bytes.
  const reduction_launch& launch_for(uint64_t bytes, const reduction_options& options) const {
    const auto& all = launches_[(options.same_order ? 1 : 0) + (options.independent_blocks ? 2 : 0)];
    size_t i = 0;
    while (all[i].bytes < bytes) ++i;
    return all[i];
  }

  static uint64_t tiles_of(uint64_t bytes, const reduction_plan& plan) {
    return bytes / plan.tile_bytes() + (bytes % plan.tile_bytes() != 0 ? 1 : 0);
  }

  reduction_words words() const {
    uint64_t* const first = memory_->data();
    const auto word = [&](size_t number) { return reinterpret_cast<uint32_t*>(first + number * line); };
    return {word(0),
            word(1),
            word(2),
            word(3),
            first + words_before_messages,
            first + words_before_messages + 2 * size_t{capacity_},
            capacity_,
            report_};
  }

  /// As if `call` were the next one. Blocks.
  void reset(uint32_t call) {
    std::vector<uint64_t> image(words_before_messages + 3 * size_t{capacity_});
    image[0] = call;
    for (uint32_t i = 0; i < capacity_; ++i) {
      const uint32_t before = call - 1;
      if (sizeof(T) == 4) image[words_before_messages + i] = uint64_t{before} << 32;
      if (sizeof(T) == 8) image[words_before_messages + 2 * size_t{i} + 1] = before;
    }
    memory_->clear();
    memory_->write(image);
  }

  size_t bytes() const { return memory_->bytes(); }

 private:
  static constexpr size_t line = 16;  ///< words of a line of the L2 cache
  static constexpr size_t words_before_messages = 4 * line;

  static const void* kernel_of(const reduction_plan& plan) {
    const void* const kernel = reduction_kernels<T>::find(plan);
    if (kernel == nullptr) {
      throw invalid_argument("A tuning table asks for a reduction by " + reduction_tuning::form_in_words(plan) +
                             " with " + std::to_string(plan.threads) + " threads and " + std::to_string(plan.vectors) +
                             " vectors, for which no kernel was compiled.");
    }
    cudaFuncAttributes loaded{};  // now, for a launch that is captured must find it loaded
    check_cuda(cudaFuncGetAttributes(&loaded, kernel), "cudaFuncGetAttributes");
    return kernel;
  }

  /// What takes a plan's place must hold as much.
  static void require_capacity(uint64_t bytes, const reduction_plan& plan) {
    if (bytes <= plan.capacity(reduction_tuning::most_tiles)) return;
    throw invalid_argument("A tuning table sums " + std::to_string(bytes) + " bytes by a plan in whose place this " +
                           "device takes " + reduction_tuning::words_of(plan) + ", which holds " +
                           std::to_string(plan.capacity(reduction_tuning::most_tiles)) + ".");
  }

  /// Whether the device can run such a cluster, and the kernel was compiled with what it needs: on older ones, and in
  /// code for older ones, it does nothing.
  static bool takes_cluster(const cuda_device& device, const reduction_plan& plan, const void* kernel) {
    const cuda_device_scope scope(device.ordinal());
    cudaFuncAttributes compiled{};
    check_cuda(cudaFuncGetAttributes(&compiled, kernel), "cudaFuncGetAttributes");
    if (compiled.ptxVersion < 90) return false;
    if (plan.cluster > portable_cluster) {
      check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                 "cudaFuncSetAttribute(cudaFuncAttributeNonPortableClusterSizeAllowed)");
    }
    int clusters = 0;
    cluster_launch config(plan, nullptr);
    if (cudaOccupancyMaxActiveClusters(&clusters, kernel, config.get()) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    return clusters > 0;
  }

 public:
  /// A grid of one cluster.
  class cluster_launch {
   public:
    cluster_launch(const reduction_plan& plan, cudaStream_t stream) {
      attribute_.id = cudaLaunchAttributeClusterDimension;
      attribute_.val.clusterDim.x = plan.cluster;
      attribute_.val.clusterDim.y = attribute_.val.clusterDim.z = 1;
      config_.gridDim = dim3(plan.cluster);
      config_.blockDim = dim3(plan.threads);
      config_.stream = stream;
      config_.attrs = &attribute_;
      config_.numAttrs = 1;
    }
    cluster_launch(const cluster_launch&) = delete;
    cluster_launch& operator=(const cluster_launch&) = delete;
    const cudaLaunchConfig_t* get() const { return &config_; }

   private:
    cudaLaunchAttribute attribute_{};
    cudaLaunchConfig_t config_{};
  };

 private:
  timeout_report* const report_;
  uint32_t capacity_ = 1;
  std::array<std::vector<reduction_launch>, 4> launches_;  ///< by reduction_options
  std::unique_ptr<cuda_words<uint64_t>> memory_;
};

/// Has all that is behind a reduction_storage, for it must stay where it is when that is moved.
class reduction_control final : public storage_control {
 public:
  reduction_control(const cuda_device& on, const reduction_tuning& tuning, uint32_t first_call)
      : where(on), report_memory(on, 0), order(on), first_call_(first_call) {
    tuning.check();
    const cuda_device_scope scope(on.ordinal());
    floats = std::make_unique<reduction_side<float>>(on, tuning.float_rules, report_memory.get());
    doubles = std::make_unique<reduction_side<double>>(on, tuning.double_rules, report_memory.get());
    reset();
    enlist();
  }
  ~reduction_control() override { retire(); }

  void check(const handle_header&, const launch_request& launch) override {
    if (!is_clean(*report_memory.get())) throw broken_barrier(report());
    order.check(launch);
  }
  std::string report() const override { return report_in_words(*report_memory.get()); }
  int device() const override { return where.ordinal(); }

  void reset() {
    floats->reset(first_call_);
    doubles->reset(first_call_);
    // Last: where the context is lost, the report stays.
    std::memset(static_cast<void*>(report_memory.get()), 0, timeout_report::bytes(0));
    order.forget();
  }

  template <class T>
  const reduction_side<T>& side() const {
    if constexpr (std::is_same_v<T, float>) {
      return *floats;
    } else {
      return *doubles;
    }
  }

  const cuda_device where;
  mutable cuda_report report_memory;
  cuda_order order;
  std::unique_ptr<reduction_side<float>> floats;
  std::unique_ptr<reduction_side<double>> doubles;
  std::mutex mutex;

 private:
  const uint32_t first_call_;
};

}  // namespace detail

class reduction_storage;

template <class T>
void reduce(reduction_storage& storage, cudaStream_t stream, const T* in, size_t count, T* out,
            const reduction_options& options = {});

/// Owns what reductions on a CUDA device need besides their input: some 25 KB of device memory. Reusable by one call
/// after another without a reset, by calls of any size and type.
///
/// For calls on one stream: another one is refused (storage_in_use) until hand_over(), but for sums by one block or one
/// cluster (plan_for()), which share nothing. A call that is captured into a graph counts for the stream that captures
/// it; replay the graph where it is ordered with the storage's other calls. Replays beside other calls on the same
/// storage fail on the device (misuse::concurrent_calls), with a sentence in report().
class reduction_storage {
 public:
  /// Throws cuda_failure if memory is short. Blocks.
  explicit reduction_storage(const cuda_device& device)
      : reduction_storage(device, reduction_tuning::shipped_for(device.name())) {}

  /// The same with a table of one's own, such as `gpusync tune` writes; throws invalid_argument if it is not valid, or
  /// asks for what was not compiled. `first_call` is where the number of calls starts; only tests of its wrap need
  /// another than 1.
  reduction_storage(const cuda_device& device, const reduction_tuning& tuning, uint32_t first_call = 1)
      : control_(std::make_unique<detail::reduction_control>(device, tuning, first_call)) {}

  /// Says that the next call may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() {
    const std::lock_guard<std::mutex> lock(control_->mutex);
    control_->order.forget();
  }
  /// What went wrong in a call on this storage, in a sentence; empty if nothing did. It also works after a launch has
  /// failed and taken the CUDA context with it.
  std::string report() const { return control_->report(); }
  /// Back to the first state. Precondition: no call is under way or queued. Blocking. Throws cuda_failure.
  void reset() {
    const std::lock_guard<std::mutex> lock(control_->mutex);
    control_->reset();
  }
  /// Bytes of device memory.
  size_t bytes() const { return control_->floats->bytes() + control_->doubles->bytes(); }
  /// The plan of a sum of so many elements of T; its loops run with plan.blocks_per_sm blocks on each multiprocessor.
  template <class T>
  reduction_plan plan_for(size_t count, const reduction_options& options = {}) const {
    return control_->side<T>().launch_for(count * sizeof(T), options).plan;
  }

 private:
  template <class T>
  friend void reduce(reduction_storage&, cudaStream_t, const T*, size_t, T*, const reduction_options&);

  std::unique_ptr<detail::reduction_control> control_;
};

/// Queues *out = in[0] + … + in[count - 1], 0 for no elements. T: float or double; sums are of T, added in an order
/// that hangs on the count, on the device and on reduction_options::same_order.
///
/// `in` and `out` are device memory of the storage's device, each aligned for T (no more: an input that does not begin
/// at 16 bytes costs nothing); `out` is not part of `in`. Asynchronous: returns when the one launch that it takes is
/// queued on `stream`. It can be captured into a CUDA graph, and be replayed. Safe to call from several threads.
///
/// Throws invalid_argument for a null pointer, one that is not aligned, and a count beyond the address space;
/// storage_in_use for a storage that another stream uses; broken_barrier for one that two streams used at once;
/// cuda_failure for the rest. Nothing was queued then.
template <class T>
void reduce(reduction_storage& storage, cudaStream_t stream, const T* in, size_t count, T* out,
            const reduction_options& options) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "gpusync::reduce sums float or double");
  if (out == nullptr || (in == nullptr && count != 0)) {
    throw invalid_argument("A reduction needs an input and a place for its result; one of the pointers is null.");
  }
  if (reinterpret_cast<uintptr_t>(in) % sizeof(T) != 0 || reinterpret_cast<uintptr_t>(out) % sizeof(T) != 0) {
    throw invalid_argument("A reduction's input and result must be aligned to " + std::to_string(sizeof(T)) +
                           " bytes, the size of an element.");
  }
  if (count > (size_t{1} << 46) / sizeof(T)) {
    throw invalid_argument("A reduction of " + std::to_string(count) + " elements is beyond the address space.");
  }
  detail::reduction_control& control = *storage.control_;
  const detail::reduction_side<T>& side = control.side<T>();
  detail::with_reports(control.where.ordinal(), [&] {
    const cuda_device_scope scope(control.where.ordinal());
    const detail::reduction_launch& launch = side.launch_for(count * sizeof(T), options);
    const reduction_plan& plan = launch.plan;
    reduction::input<T> input = reduction::cut(in, count);
    detail::reduction_words words = side.words();
    void* arguments[] = {&input, &out, &words};

    // One block or cluster uses nothing of the storage's, on whatever stream it is.
    std::unique_lock<std::mutex> lock(control.mutex, std::defer_lock);
    if (plan.shares_memory()) {
      const bool captured = detail::is_captured(stream);
      lock.lock();
      control.check({}, {1, 1, control.where.ordinal(), stream, captured});
    }
    cudaError_t code;
    if (plan.finish == reduction_finish::cluster) {
      const typename detail::reduction_side<T>::cluster_launch config(plan, stream);
      code = cudaLaunchKernelExC(config.get(), launch.kernel, arguments);
    } else {
      uint64_t blocks = 1;
      if (plan.finish != reduction_finish::one_block) {
        const uint64_t tiles = std::max<uint64_t>(1, detail::reduction_side<T>::tiles_of(input.vectors * 16, plan));
        blocks = plan.walk == reduction_walk::one_tile
                     ? tiles
                     : std::min(tiles, uint64_t{plan.blocks_per_sm} * control.where.sm_count());
      }
      code = cudaLaunchKernel(launch.kernel, dim3(static_cast<unsigned>(blocks)), dim3(plan.threads), arguments, 0,
                              stream);
    }
    check_cuda(code, "The launch of a reduction");
    if (lock) control.order.follow();
  });
}

}  // namespace gpusync
