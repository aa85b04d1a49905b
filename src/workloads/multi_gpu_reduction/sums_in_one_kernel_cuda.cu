// Sums over GPUs by one kernel on each: its part, and the exchange of the parts' sums. Every GPU has the result.
#include <gpusync/gpusync.cuh>
#include <gpusync/multi_gpu/cuda.cuh>
#include <gpusync/reduce/kernels.cuh>
#include <gpusync/reduce/tuning.hpp>

#include "boundary/cuda_survey.cuh"
#include "workloads/multi_gpu_reduction/sum_messages.hpp"
#include "workloads/multi_gpu_reduction/sums_across.cuh"

namespace gpusync::tool {

namespace {

/// The blocks of both kernels: those of the library's own sums of large inputs.
namespace part_form {
constexpr unsigned threads = 512, vectors = 8, blocks_per_sm = 2;
}

/// What a GPU's kernel gets where the barrier of all GPUs joins them.
template <class T>
struct part_behind_barrier {
  reduction::input<T> in;
  sums_of_blocks<T> sums;  ///< of all GPUs
  uint32_t gpu;
  uint32_t* claimed;  ///< tiles; 0 between calls
  T* out;
};

/// Each block leaves its sum; behind the barrier one block of each GPU reads those of all GPUs.
template <class T, reduction_walk Walk>
__global__ void __launch_bounds__(part_form::threads, full_blocks<part_form::threads, part_form::blocks_per_sm>)
    sum_with_barrier_of_gpus(multi_gpu_barrier barrier, part_behind_barrier<T> part) {
  const T sum = reduction::sum_of_block<part_form::threads>(
      reduction::sum_of_tiles<T, part_form::threads, part_form::vectors, Walk, true>(part.in, part.claimed, blockIdx.x,
                                                                                     gridDim.x));
  if (threadIdx.x == 0) part.sums.of[part.gpu][blockIdx.x] = sum;
  barrier.sync();
  if (blockIdx.x != 0) return;
  const T total = sum_of_gpus<part_form::threads>(part.sums);
  if (threadIdx.x != 0) return;
  *part.out = total;
  if constexpr (Walk == reduction_walk::claimed) *part.claimed = 0;
}

/// The sum of all GPUs' sums, by the first warp of one block of each, in all its lanes; `own` is this GPU's. Each lane
/// tells one GPU, and hears of it. False if one was not received of in time.
template <class T>
__device__ __forceinline__ bool exchange_sums(const sum_messages& messages, uint32_t call, T own, T& total) {
  constexpr uint64_t limit_ns = 5'000'000'000;
  T received = 0;
  bool in_time = true;
  if (threadIdx.x < messages.gpus) {
    messages.send<cuda_memory>(threadIdx.x, call, own);
    const cuda_grid grid;
    const uint64_t since = grid.now();
    for (uint32_t polls = 1; in_time && !messages.receive<cuda_memory>(threadIdx.x, call, received); ++polls) {
      if (polls % 1024 == 0) in_time = grid.now() - since < limit_ns;
    }
  }
  total = reduction::sum_of_warp(received);
  return __all_sync(0xffffffffu, in_time);
}

/// What a GPU's kernel gets where messages join them.
template <class T>
struct part_with_messages {
  reduction::input<T> in;
  detail::reduction_words words;
  sum_messages messages;
  T* out;
};

/// As gpusync::reduce(); the block that has the part's sum then exchanges it with those of the other GPUs. Who was not
/// received of leaves no result.
template <class T, reduction_walk Walk>
__global__ void __launch_bounds__(part_form::threads, full_blocks<part_form::threads, part_form::blocks_per_sm>)
    sum_with_messages_of_gpus(part_with_messages<T> part) {
  __shared__ T own;
  const uint32_t call =
      detail::sum_of_grid<T, part_form::threads, part_form::vectors, reduction_finish::messages, Walk, true>(
          part.in, &own, part.words);
  if (blockIdx.x != gridDim.x - 1) return;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  T total;
  if (exchange_sums<T>(part.messages, call, own, total) && threadIdx.x == 0) *part.out = total;
}

/// What the blocks of a GPU's part share, as the library's sums have it. The first call is number 1.
class words_of_part {
 public:
  words_of_part(const cuda_target& where, uint32_t blocks)
      : blocks_(blocks), memory_(where.device(), messages_at + blocks * sizeof(wide_word)), report_(where.device(), 0) {
    const uint32_t first_call = 1;
    where.upload(memory_, &first_call, sizeof(first_call));
  }
  detail::reduction_words words() {
    auto* const first = static_cast<unsigned char*>(memory_.address());
    const auto word = [&](size_t i) { return reinterpret_cast<uint32_t*>(first + i * line); };
    return {word(0), word(1), word(2), word(3), first + messages_at, nullptr, blocks_, report_.get()};
  }

 private:
  static constexpr size_t line = 128, messages_at = 4 * line;

  uint32_t blocks_;
  cuda_buffer memory_;
  detail::cuda_report report_;
};

/// One kernel on each GPU.
template <class T, class Part>
class in_one_kernel : public queued_sums {
 public:
  explicit in_one_kernel(const summing_gpus<T>& gpus) : queued_sums(gpus), gpus_(gpus), parts_(gpus.size()) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < gpus.size(); ++i) {
      const cuda_device& device = gpus.targets[i].device();
      const uint64_t bytes = gpus.pieces[i].elements * sizeof(T), tile = part_form::threads * part_form::vectors * 16;
      const uint64_t resident = uint64_t{part_form::blocks_per_sm} * device.sm_count();
      shapes_.emplace_back(std::clamp<uint64_t>((bytes + tile - 1) / tile, 1, resident), part_form::threads);
      streams_.push_back(gpus.targets[i].stream());
      most = std::max(most, bytes);
    }
    const reduction_tuning tuning = reduction_tuning::shipped_for(gpus.targets[0].device().name());
    const reduction_rules& rules = sizeof(T) == 4 ? tuning.float_rules : tuning.double_rules;
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const auto& one) { return most <= one.bytes; });
    claims_ = rule->plan.walk == reduction_walk::claimed;
  }

 protected:
  /// Sets what the parts get in a sum.
  virtual void set(uint32_t number) = 0;
  /// Starts the kernels, with the parts as they are set: on all GPUs; on one.
  virtual void start() = 0;
  virtual void start(uint32_t gpu) = 0;

  uint32_t blocks(uint32_t gpu) const { return static_cast<uint32_t>(shapes_[gpu].blocks.count()); }
  /// Whether blocks claim tiles, as in the library's own sums of so many bytes.
  bool claims() const { return claims_; }

  const summing_gpus<T> gpus_;
  std::vector<Part> parts_;  ///< by rank
  std::vector<launch_shape> shapes_;
  std::vector<cudaStream_t> streams_;

 private:
  void queue(uint32_t number) override {
    set(number);
    start();
  }
  std::vector<cuda_graph> capture(uint32_t first, uint32_t count) override {
    std::vector<cuda_graph> made;
    for (uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      const cuda_device_scope scope(gpus_.targets[gpu].device().ordinal());
      made.emplace_back(streams_[gpu], [&] {
        for (uint32_t i = 0; i < count; ++i) {
          set(first + i);
          start(gpu);
        }
      });
    }
    return made;
  }

  bool claims_ = false;
};

template <class T>
class by_barrier_of_gpus : public in_one_kernel<T, part_behind_barrier<T>> {
  using base = in_one_kernel<T, part_behind_barrier<T>>;
  using base::gpus_, base::parts_, base::shapes_, base::streams_;

 public:
  explicit by_barrier_of_gpus(const summing_gpus<T>& gpus)
      : base(gpus),
        halves_{{gpus.targets, all_blocks()}, {gpus.targets, all_blocks()}},
        storage_(gpus.group, *std::max_element(blocks_.begin(), blocks_.end()), surveys_for(gpus.targets)) {
    for (uint32_t i = 0; i < gpus.size(); ++i) {
      claimed_.emplace_back(gpus.targets[i].device(), sizeof(uint32_t));
      parts_[i].gpu = i;
      parts_[i].claimed = static_cast<uint32_t*>(claimed_[i].address());
      storage_.expect_blocks(i, blocks_[i]);
      require_co_resident(gpus.targets[i].device(), kernel(), shapes_[i]);
    }
  }

 private:
  const std::vector<uint32_t>& all_blocks() {
    blocks_.clear();
    for (uint32_t i = 0; i < gpus_.size(); ++i) blocks_.push_back(this->blocks(i));
    return blocks_;
  }
  void (*kernel() const)(multi_gpu_barrier, part_behind_barrier<T>) {
    return this->claims() ? sum_with_barrier_of_gpus<T, reduction_walk::claimed>
                          : sum_with_barrier_of_gpus<T, reduction_walk::dealt>;
  }
  // Halves in turn: a GPU that has gone on writes what nobody reads any more, for it has met all since.
  void set(uint32_t number) override {
    for (uint32_t i = 0; i < gpus_.size(); ++i) {
      parts_[i].in = gpus_.input(i, number);
      parts_[i].sums = halves_[number % 2].places();
      parts_[i].out = gpus_.pieces[i].result(number);
    }
  }
  void start() override {
    multi_gpu::launch(gpus_.group, streams_, shapes_, kernel(), storage_.barriers(), multi_gpu::for_each_gpu(parts_));
  }
  void start(uint32_t gpu) override {
    launch(gpus_.group[gpu], streams_[gpu], shapes_[gpu], kernel(), storage_.barrier(gpu), parts_[gpu]);
  }

  std::vector<uint32_t> blocks_;
  const memory_of_blocks<T> halves_[2];
  std::vector<cuda_buffer> claimed_;
  multi_gpu_barrier_storage storage_;
};

template <class T>
class by_messages_of_gpus : public in_one_kernel<T, part_with_messages<T>> {
  using base = in_one_kernel<T, part_with_messages<T>>;
  using base::gpus_, base::parts_, base::shapes_, base::streams_;

 public:
  explicit by_messages_of_gpus(const summing_gpus<T>& gpus) : base(gpus) {
    sum_messages messages{};
    messages.gpus = gpus.size();
    for (uint32_t i = 0; i < gpus.size(); ++i) {
      const cuda_device& device = gpus.targets[i].device();
      messages_.emplace_back(device, sum_messages::words * sizeof(uint64_t));
      messages.on[i] = static_cast<uint64_t*>(messages_[i].address());
      words_.emplace_back(gpus.targets[i], this->blocks(i));
      parts_[i].words = words_[i].words();
      require_co_resident(device, kernel(), shapes_[i]);
    }
    for (uint32_t i = 0; i < gpus.size(); ++i) {
      messages.gpu = i;
      parts_[i].messages = messages;
    }
  }

 private:
  void (*kernel() const)(part_with_messages<T>) {
    return this->claims() ? sum_with_messages_of_gpus<T, reduction_walk::claimed>
                          : sum_with_messages_of_gpus<T, reduction_walk::dealt>;
  }
  void set(uint32_t number) override {
    for (uint32_t i = 0; i < gpus_.size(); ++i) {
      parts_[i].in = gpus_.input(i, number);
      parts_[i].out = gpus_.pieces[i].result(number);
    }
  }
  void start() override {
    multi_gpu::launch(gpus_.group, streams_, shapes_, kernel(), multi_gpu::for_each_gpu(parts_));
  }
  void start(uint32_t gpu) override { launch(gpus_.group[gpu], streams_[gpu], shapes_[gpu], kernel(), parts_[gpu]); }

  std::vector<words_of_part> words_;
  std::vector<cuda_buffer> messages_;
};

}  // namespace

template <class T>
std::vector<across_sum_method<T>> sums_in_one_kernel() {
  return {{{"gpusync", "one kernel on each GPU, and the barrier of all blocks of all GPUs", {}, method_kind::barrier},
           true,
           [](const summing_gpus<T>& gpus) { return std::make_unique<by_barrier_of_gpus<T>>(gpus); }},
          {{"gpusync-messages",
            "one kernel on each GPU, and messages of the GPUs' sums through peer memory",
            {},
            method_kind::neighbours},
           true,
           [](const summing_gpus<T>& gpus) { return std::make_unique<by_messages_of_gpus<T>>(gpus); }}};
}

template std::vector<across_sum_method<float>> sums_in_one_kernel<float>();
template std::vector<across_sum_method<double>> sums_in_one_kernel<double>();

}  // namespace gpusync::tool
