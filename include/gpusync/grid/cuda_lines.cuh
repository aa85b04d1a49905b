// Lines of device memory whose partition of the L2 cache is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/grid/line_survey.hpp>

namespace gpusync {

namespace detail {

/// The average round trip of an atomic, in cycles, from each SM to each line: round_trips[sm * lines + line]. The lines
/// hold 0. One thread per block, one block per SM.
template <class = void>
__global__ void survey_lines(uint32_t* memory, float* round_trips, uint32_t lines) {
  constexpr int chain = 4;
  constexpr int repeats = 3;
  const cuda_grid grid;
  if (grid.thread() != 0) return;
  for (uint32_t i = 0; i < lines; ++i) {
    const uint32_t line = (i + grid.block() * 37) % lines;  // not all SMs at one line
    uint32_t* word = memory + size_t{line} * grid::line_survey::line_words;
    float best = 1e9f;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      uint32_t value = cuda_memory::fetch_add<memory_order::relaxed, scope::device>(word, 0u);
      const uint32_t begin = grid.cycles_after(value);
      for (int j = 0; j < chain; ++j) {  // each address hangs on the value before, which is 0
        value = cuda_memory::fetch_add<memory_order::relaxed, scope::device>(word + value, 0u);
      }
      best = fminf(best, static_cast<float>(grid.cycles_after(value) - begin) / chain);
    }
    round_trips[size_t{grid.sm_id()} * lines + line] = best;
  }
}

/// Adds to two words in turn, from one thread of every block.
template <class = void>
__global__ void add_in_turn(uint32_t* first, uint32_t* second, uint32_t pairs) {
  if (threadIdx.x != 0) return;
  for (uint32_t i = 0; i < pairs; ++i) {
    cuda_memory::add<memory_order::relaxed, scope::device>(first, 1u);
    cuda_memory::add<memory_order::relaxed, scope::device>(second, 1u);
  }
}

struct destroy_event {
  void operator()(cudaEvent_t event) const { (void)cudaEventDestroy(event); }
};
struct destroy_stream {
  void operator()(cudaStream_t stream) const { (void)cudaStreamDestroy(stream); }
};

}  // namespace detail

namespace grid {

/// A piece of device memory, cut into lines that were surveyed when it was made: by timing atomics from every SM, which
/// takes some 20 ms and should find the device idle. A wrong survey costs time later, never correctness.
class cuda_lines {
 public:
  static constexpr uint32_t count = 1024;

  /// Throws cuda_failure if memory is short or the survey cannot run.
  explicit cuda_lines(const cuda_device& device)
      : device_(device), memory_(device, count * line_bytes), free_(count, true) {
    const cuda_device_scope scope(device.ordinal());
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    stream_.reset(stream);
    survey_ = line_survey(measure_round_trips(), sms, count);
  }

  const line_survey& survey() const { return survey_; }
  /// Processor numbers that a survey knows.
  static constexpr uint32_t sms = 512;
  uint32_t* line(uint32_t index) const {
    return static_cast<uint32_t*>(memory_.address()) + size_t{index} * line_survey::line_words;
  }

  /// Takes `per_partition` free lines of each partition, the cheapest first, no two of which share a bottleneck if that
  /// can be had. Empty if there are not so many. Thread-safe.
  std::vector<uint32_t> take(uint32_t per_partition) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const cuda_device_scope scope(device_.ordinal());
    const std::vector<uint32_t> taken =
        survey_.pick(per_partition, free_, [this](uint32_t a, uint32_t b) { return share_a_bottleneck(a, b); });
    for (const uint32_t line : taken) free_[line] = false;
    return taken;
  }
  void give_back(const std::vector<uint32_t>& lines) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const uint32_t line : lines) free_[line] = true;
  }

 private:
  static constexpr size_t line_bytes = line_survey::line_words * sizeof(uint32_t);

  /// Queues a kernel on every multiprocessor. What it reports is this launch's own: the runtime's last error, which
  /// `<<<>>>` leaves its error in, may be an earlier one of the caller's.
  template <class... Parameters>
  void start(void (*kernel)(Parameters...), uint32_t threads, size_t shared, const char* what,
             Parameters... values) const {
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(device_.sm_count());
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream_.get();
    void* pointers[] = {&values...};
    check_cuda(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers), what);
  }

  std::vector<float> measure_round_trips() const {
    const size_t entries = size_t{sms} * count;
    const cuda_buffer table(device_, entries * sizeof(float));
    // So much shared memory that each SM takes one block.
    const auto kernel = detail::survey_lines<>;
    const int shared = static_cast<int>(device_.properties().sharedMemPerBlockOptin) - 1024;
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
               "cudaFuncSetAttribute");
    for (int round = 0; round < 2; ++round) {  // the first warms up
      start(kernel, 1, static_cast<size_t>(shared), "launch of survey_lines", line(0),
            static_cast<float*>(table.address()), uint32_t{count});
    }
    check_cuda(cudaStreamSynchronize(stream_.get()), "survey_lines");
    std::vector<float> round_trips(entries);
    check_cuda(cudaMemcpy(round_trips.data(), table.address(), table.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return round_trips;
  }

  /// Milliseconds for adds to two lines in turn from all SMs. The last word of a line is no barrier's.
  float pair_time(uint32_t a, uint32_t b) {
    const uint32_t spare = line_survey::line_words - 1;
    std::unique_ptr<CUevent_st, detail::destroy_event> begin, end;
    cudaEvent_t event = nullptr;
    check_cuda(cudaEventCreate(&event), "cudaEventCreate");
    begin.reset(event);
    check_cuda(cudaEventCreate(&event), "cudaEventCreate");
    end.reset(event);
    float best = 1e9f;
    for (int round = 0; round < 3; ++round) {
      check_cuda(cudaEventRecord(begin.get(), stream_.get()), "cudaEventRecord");
      start(detail::add_in_turn<>, 32, 0, "launch of add_in_turn", line(a) + spare, line(b) + spare, 256u);
      check_cuda(cudaEventRecord(end.get(), stream_.get()), "cudaEventRecord");
      check_cuda(cudaEventSynchronize(end.get()), "add_in_turn");
      float milliseconds = 0;
      check_cuda(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
      best = std::min(best, milliseconds);
    }
    return best;
  }

  /// Some lines of the two partitions lie in slices that are each other's mirror image: adds to both go at one line's
  /// pace, or nearly. On an H200 independent lines take 0.54 of that time, others 0.68 or more, and a barrier with one
  /// pair of those takes 80 ns longer.
  bool share_a_bottleneck(uint32_t a, uint32_t b) {
    if (one_line_ms_ == 0) one_line_ms_ = pair_time(a, a);
    return pair_time(a, b) > 0.61f * one_line_ms_;
  }

  cuda_device device_;
  cuda_buffer memory_;
  std::unique_ptr<CUstream_st, detail::destroy_stream> stream_;
  line_survey survey_;
  std::mutex mutex_;
  std::vector<bool> free_;
  float one_line_ms_ = 0;
};

/// Lines taken from a device's stock, given back with their owner. The stock lives as long as any lease of it.
class cuda_line_lease {
 public:
  cuda_line_lease() = default;
  /// `per_partition` lines of each partition of `device`. Empty (and then the barrier does without places) if the
  /// survey found fewer. Throws cuda_failure.
  cuda_line_lease(const cuda_device& device, uint32_t per_partition) {
    static std::mutex mutex;
    static std::vector<std::weak_ptr<cuda_lines>> stocks[most_devices];
    const std::lock_guard<std::mutex> lock(mutex);
    auto& known = stocks[static_cast<uint32_t>(device.ordinal()) % most_devices];
    known.erase(std::remove_if(known.begin(), known.end(), [](const auto& stock) { return stock.expired(); }),
                known.end());
    for (const auto& candidate : known) {
      stock_ = candidate.lock();
      if (stock_ == nullptr) continue;
      lines_ = stock_->take(per_partition);
      if (!lines_.empty()) return;
      if (!stock_->survey().has_partitions()) return;
    }
    stock_ = std::make_shared<cuda_lines>(device);
    lines_ = stock_->take(per_partition);
    known.push_back(stock_);
  }
  ~cuda_line_lease() {
    if (stock_) stock_->give_back(lines_);
  }
  cuda_line_lease(cuda_line_lease&& other) noexcept { swap(other); }
  cuda_line_lease& operator=(cuda_line_lease&& other) noexcept {
    swap(other);
    return *this;
  }

  bool empty() const { return lines_.empty(); }
  /// The i-th line of a partition.
  uint32_t* line(uint32_t partition, uint32_t i) const { return stock_->line(number(partition, i)); }
  /// Its number in the stock.
  uint32_t number(uint32_t partition, uint32_t i) const { return lines_[partition * (lines_.size() / 2) + i]; }
  const cuda_lines& stock() const { return *stock_; }

 private:
  static constexpr uint32_t most_devices = 64;

  void swap(cuda_line_lease& other) noexcept {
    std::swap(stock_, other.stock_);
    std::swap(lines_, other.lines_);
  }

  std::shared_ptr<cuda_lines> stock_;
  std::vector<uint32_t> lines_;
};

}  // namespace grid

}  // namespace gpusync
