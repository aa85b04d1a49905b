// Which multiprocessors are near which partition of the L2 cache, and lines of memory of each.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/grid/line_survey.hpp>
#include <gpusync/grid/sm_partitions.hpp>

namespace gpusync {

namespace grid {
class cuda_line_lease;
}  // namespace grid

namespace detail {

/// The average round trip of an atomic, in cycles, from each SM to each line: round_trips[sm * lines + line]. The lines
/// begin `stride` words apart, and keep what they hold. Fine: they hold 0, and the slices that they are in are to show
/// too. Else only the partitions. One thread per block, one block per SM.
template <bool Fine>
__global__ void survey_lines(uint32_t* memory, uint32_t stride, float* round_trips, uint32_t lines) {
  constexpr int chain = 4;
  constexpr int repeats = Fine ? 3 : 1;
  const cuda_grid grid;
  if (grid.thread() != 0) return;
  // What is not 0 is masked. Where slices are to show that must not be: a masked value takes its time.
  const uint32_t mask = Fine ? ~0u : grid.opaque(0u);
  for (uint32_t i = 0; i < lines; ++i) {
    const uint32_t line = (i + grid.block() * 37) % lines;  // not all SMs at one line
    uint32_t* word = memory + size_t{line} * stride;
    float best = 1e9f;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      uint32_t value = cuda_memory::fetch_add<memory_order::relaxed, scope::device>(word, 0u);
      const uint32_t begin = grid.cycles_after(value);
      for (int j = 0; j < chain; ++j) {  // each address hangs on the value before
        value = cuda_memory::fetch_add<memory_order::relaxed, scope::device>(word + (value & mask), 0u);
      }
      best = fminf(best, static_cast<float>(grid.cycles_after(value) - begin) / chain);
    }
    round_trips[size_t{grid.sm_id()} * lines + line] = best;
  }
}

/// The multiprocessor of each block.
template <class = void>
__global__ void note_sms(uint32_t* sm_of_block) {
  const cuda_grid grid;
  if (grid.thread() == 0) sm_of_block[grid.block()] = grid.sm_id();
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

/// A piece of device memory, cut into lines that were surveyed when it was made; who has taken which.
class surveyed_lines {
 public:
  static constexpr uint32_t count = 1024;

  /// On a stream of its own, or on `stream`, which must outlive it. Throws cuda_failure if memory is short or the
  /// survey cannot run.
  explicit surveyed_lines(const cuda_device& device, std::optional<cudaStream_t> stream = std::nullopt)
      : device_(device), memory_(device, count * line_bytes), stream_(stream.value_or(nullptr)), free_(count, true) {
    const cuda_device_scope scope(device.ordinal());
    if (!stream) {
      check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      own_stream_.reset(stream_);
    }
    survey_ = measure(survey_lines<true>, line(0), grid::line_survey::line_words, count);
  }

  /// The same of other memory of the device: of a line at each of `places` places, `stride` words apart. Thread-safe.
  grid::line_survey survey_of(uint32_t* memory, uint32_t stride, uint32_t places) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const cuda_device_scope scope(device_.ordinal());
    return measure(survey_lines<false>, memory, stride, places);
  }
  /// On which multiprocessor each block of a grid starts, on a device that is idle. Thread-safe.
  std::vector<uint32_t> sms_of(uint32_t blocks) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const cuda_device_scope scope(device_.ordinal());
    const cuda_buffer table(device_, size_t{blocks} * sizeof(uint32_t), stream_);
    start(note_sms<>, blocks, 32, 0, "launch of note_sms", static_cast<uint32_t*>(table.address()));
    check_cuda(cudaStreamSynchronize(stream_), "note_sms");
    std::vector<uint32_t> found(blocks);
    check_cuda(cudaMemcpy(found.data(), table.address(), table.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return found;
  }

  const grid::line_survey& figures() const { return survey_; }
  int ordinal() const { return device_.ordinal(); }
  /// Processor numbers that a survey knows.
  static constexpr uint32_t sms = 512;
  uint32_t* line(uint32_t index) const {
    return static_cast<uint32_t*>(memory_.address()) + size_t{index} * grid::line_survey::line_words;
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
  static constexpr size_t line_bytes = grid::line_survey::line_words * sizeof(uint32_t);

  /// Queues a kernel. What it reports is this launch's own: the runtime's last error, which
  /// `<<<>>>` leaves its error in, may be an earlier one of the caller's.
  template <class... Parameters>
  void start(void (*kernel)(Parameters...), uint32_t blocks, uint32_t threads, size_t shared, const char* what,
             Parameters... values) const {
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream_;
    void* pointers[] = {&values...};
    check_cuda(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers), what);
  }

  /// A block on every multiprocessor.
  uint32_t all_sms() const { return static_cast<uint32_t>(device_.sm_count()); }

  grid::line_survey measure(void (*kernel)(uint32_t*, uint32_t, float*, uint32_t), uint32_t* memory, uint32_t stride,
                            uint32_t lines) {
    const size_t entries = size_t{sms} * lines;
    const cuda_buffer table(device_, entries * sizeof(float), stream_);
    // So much shared memory that each SM takes one block.
    const int shared = static_cast<int>(device_.properties().sharedMemPerBlockOptin) - 1024;
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
               "cudaFuncSetAttribute");
    for (int round = 0; round < 2; ++round) {  // the first warms up
      start(kernel, all_sms(), 1, static_cast<size_t>(shared), "launch of survey_lines", memory, stride,
            static_cast<float*>(table.address()), lines);
    }
    check_cuda(cudaStreamSynchronize(stream_), "survey_lines");
    std::vector<float> round_trips(entries);
    check_cuda(cudaMemcpy(round_trips.data(), table.address(), table.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return grid::line_survey(std::move(round_trips), sms, lines);
  }

  /// Milliseconds for adds to two lines in turn from all SMs. The last word of a line is no barrier's.
  float pair_time(uint32_t a, uint32_t b) {
    const uint32_t spare = grid::line_survey::line_words - 1;
    std::unique_ptr<CUevent_st, destroy_event> begin, end;
    cudaEvent_t event = nullptr;
    check_cuda(cudaEventCreate(&event), "cudaEventCreate");
    begin.reset(event);
    check_cuda(cudaEventCreate(&event), "cudaEventCreate");
    end.reset(event);
    float best = 1e9f;
    for (int round = 0; round < 3; ++round) {
      check_cuda(cudaEventRecord(begin.get(), stream_), "cudaEventRecord");
      start(add_in_turn<>, all_sms(), 32, 0, "launch of add_in_turn", line(a) + spare, line(b) + spare, 256u);
      check_cuda(cudaEventRecord(end.get(), stream_), "cudaEventRecord");
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
  std::unique_ptr<CUstream_st, destroy_stream> own_stream_;
  cudaStream_t stream_;
  grid::line_survey survey_;
  std::mutex mutex_;
  std::vector<bool> free_;
  float one_line_ms_ = 0;
};

}  // namespace detail

/// A survey of a CUDA device's L2 cache, made by timing atomics from every multiprocessor: which of them are near which
/// of its two partitions (H100, H200), and 1,024 lines of memory of which the same is known, for barriers with placed
/// counters to take theirs from. A value: copies share one survey and its memory, 128 KB, which lives as long as one of
/// them does, or a storage that was made with it. Thread-safe. A wrong survey costs time later, never correctness.
///
/// Cost: some 20 ms to make, in which the calling thread waits for the device; it should find the device idle, and no
/// kernel may be running that waits for the calling thread. To take lines from it costs some ms more.
///
/// Where CUDA graphs matter and everything else runs on one stream, name that stream: once kernels ran on a second one,
/// idle nodes of all graphs of the process take 0.18 us longer on an H200 (docs/measuring.md).
class l2_survey {
 public:
  /// Makes one, on a stream of its own. Throws cuda_failure if memory is short or the survey cannot run.
  explicit l2_survey(const cuda_device& device) : lines_(std::make_shared<detail::surveyed_lines>(device)) {}
  /// The same on a stream of the caller's, 0 for the default one, which is not captured; storages that take lines from
  /// the survey use it too. It must exist for as long as these are made.
  l2_survey(const cuda_device& device, cudaStream_t stream)
      : lines_(std::make_shared<detail::surveyed_lines>(device, stream)) {}

  /// What was found.
  const grid::line_survey& figures() const { return lines_->figures(); }
  /// The number of the device.
  int ordinal() const { return lines_->ordinal(); }
  /// Throws invalid_argument if it is of another device.
  void require_device(const cuda_device& device) const {
    if (ordinal() == device.ordinal()) return;
    throw invalid_argument("The survey is of CUDA device " + std::to_string(ordinal()) +
                           ", and the storage for device " + std::to_string(device.ordinal()) + ".");
  }
  /// Which partition each multiprocessor is on, as kernels carry it.
  grid::sm_partitions partitions() const {
    grid::sm_partitions found;
    const std::vector<unsigned char>& partitions = figures().partitions();
    for (uint32_t i = 0; i < grid::sm_partitions::most_sms && i < partitions.size(); ++i) {
      found.put(i, partitions[i] & 1u);
    }
    return found;
  }
  /// The line of this number: 128 bytes.
  uint32_t* line(uint32_t number) const { return lines_->line(number); }

  /// What is found of other memory of the device: of `places` lines, `stride` words of 32 bits apart, which keep what
  /// they hold. Precondition: nothing else uses them. Costs some 7 us a line, in which the calling thread waits for the
  /// device. Throws cuda_failure.
  grid::line_survey survey_of(uint32_t* memory, uint32_t stride, uint32_t places) const {
    return lines_->survey_of(memory, stride, places);
  }
  /// The multiprocessor on which each block of a grid starts, if the device is idle and all blocks run at once. Blocks.
  /// Throws cuda_failure.
  std::vector<uint32_t> sms_of(uint32_t blocks) const { return lines_->sms_of(blocks); }

 private:
  friend class grid::cuda_line_lease;
  explicit l2_survey(std::shared_ptr<detail::surveyed_lines> lines) : lines_(std::move(lines)) {}
  std::shared_ptr<detail::surveyed_lines> lines_;
};

namespace grid {

/// Lines taken from a survey, given back with their owner.
class cuda_line_lease {
 public:
  cuda_line_lease() = default;

  /// `per_partition` lines of each partition, the cheapest first. Empty if the survey has found no partitions or has
  /// not so many left. Throws invalid_argument if it is of another device than `device`, cuda_failure.
  cuda_line_lease(const cuda_device& device, uint32_t per_partition, const l2_survey& survey) : survey_(survey) {
    survey.require_device(device);
    lines_ = survey.lines_->take(per_partition);
  }

  /// The same from the surveys that leases of this device have made: of one that is alive, or of a new one (see
  /// l2_survey for what that costs).
  cuda_line_lease(const cuda_device& device, uint32_t per_partition) {
    static std::mutex mutex;
    static std::unordered_map<int, std::vector<std::weak_ptr<detail::surveyed_lines>>> by_device;
    const std::lock_guard<std::mutex> lock(mutex);
    auto& known = by_device[device.ordinal()];
    known.erase(std::remove_if(known.begin(), known.end(), [](const auto& lines) { return lines.expired(); }),
                known.end());
    for (const auto& candidate : known) {
      if (auto lines = candidate.lock()) {
        *this = cuda_line_lease(device, per_partition, l2_survey(std::move(lines)));
        if (!empty() || !survey().figures().has_partitions()) return;
      }
    }
    const l2_survey made(device);
    known.push_back(made.lines_);
    *this = cuda_line_lease(device, per_partition, made);
  }
  ~cuda_line_lease() {
    if (!empty()) survey_->lines_->give_back(lines_);
  }
  cuda_line_lease(cuda_line_lease&& other) noexcept { swap(other); }
  cuda_line_lease& operator=(cuda_line_lease&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Whether it has no lines.
  bool empty() const { return lines_.empty(); }
  /// The i-th line of a partition.
  uint32_t* line(uint32_t partition, uint32_t i) const { return survey_->line(number(partition, i)); }
  /// Its number in the survey.
  uint32_t number(uint32_t partition, uint32_t i) const { return lines_[partition * (lines_.size() / 2) + i]; }
  /// Where they are from.
  const l2_survey& survey() const { return *survey_; }

 private:
  void swap(cuda_line_lease& other) noexcept {
    std::swap(survey_, other.survey_);
    std::swap(lines_, other.lines_);
  }

  std::optional<l2_survey> survey_;
  std::vector<uint32_t> lines_;
};

}  // namespace grid

}  // namespace gpusync
