// Barriers across the GPUs of one host, and the launch of one kernel on all of them.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/grid/l2_survey.cuh>
#include <gpusync/launch/cuda.cuh>
#include <gpusync/multi_gpu/cuda_group.hpp>
#include <gpusync/multi_gpu/registry.hpp>
#include <gpusync/multi_gpu/storage.hpp>

namespace gpusync {

namespace detail {

/// Puts the lines of a GPU's part where the survey of its L2 cache says: the counter on the partition of the leading
/// block, the line that peers write to on both.
template <class Algorithm>
class exchange_placement {
 public:
  /// Makes a survey if the device has none: see cuda_barrier_storage.
  explicit exchange_placement(const cuda_device& device) : exchange_placement(device, {device, lines}) {}
  /// With lines of this survey.
  exchange_placement(const cuda_device& device, const l2_survey& survey)
      : exchange_placement(device, {device, lines, survey}) {}

  /// As counter_placement::put().
  void put(const std::vector<uint32_t>& image, uint32_t* words, uint32_t) {
    places_ = Algorithm::places_in(words);
    if (lease_.empty()) return;
    places_.partitions = lease_.survey().partitions();
    places_.counter = lease_.line(leader_partition_, 0);
    fill(places_.counter, image, Algorithm::layout::counter);
    for (uint32_t i = 0; i < 2 && Algorithm::places_lines; ++i) {
      places_.line[i] = lease_.line(i, 1);
      fill(places_.line[i], image, Algorithm::layout::line);
    }
  }
  /// What the barriers of these words are given. Its members may be changed for tests.
  multi_gpu::exchange_places& places() { return places_; }
  /// Where the allocation begins that the lines lie in; null if they lie in the words.
  uint32_t* lines_base() const { return lease_.empty() ? nullptr : lease_.survey().line(0); }

  /// Chooses the plan for a launch. Measured on H200: docs/multi-gpu.md.
  void fit(multi_gpu::exchange_places& given, uint32_t members, uint32_t threads, bool) const {
    given.plan.leader_warps = std::max(1u, std::min(4u, threads / cuda_grid::warp_size));
    given.plan.second_fence = members > 1 && members <= sm_count_ ? 1 : 0;
    given.plan.poll_backoff = members > 1 ? 1500 : 0;
  }

 private:
  static constexpr uint32_t lines = 2;  ///< in each partition

  exchange_placement(const cuda_device& device, grid::cuda_line_lease&& lease)
      : sm_count_(static_cast<uint32_t>(device.sm_count())), lease_(std::move(lease)) {
    if (lease_.empty()) return;
    const l2_survey& survey = lease_.survey();
    leader_partition_ = survey.figures().partitions()[survey.sms_of(sm_count_).front()] & 1u;
  }

  void fill(uint32_t* line, const std::vector<uint32_t>& image, size_t first) const {
    const cuda_device_scope scope(lease_.survey().ordinal());
    check_cuda(cudaMemcpy(line, image.data() + first, line_words * sizeof(uint32_t), cudaMemcpyHostToDevice),
               "cudaMemcpy");
  }

  uint32_t sm_count_;
  grid::cuda_line_lease lease_;
  uint32_t leader_partition_ = 0;  ///< where the leading block is, if it starts where first blocks do
  multi_gpu::exchange_places places_;
};

/// An argument of which each GPU gets an element of its own.
template <class Values>
struct one_for_each_gpu {
  Values* values;
};
template <class Storage>
struct barrier_for_each_gpu {
  Storage* storage;
};

/// What a GPU gets of an argument.
template <class Argument>
const Argument& for_gpu(const Argument& argument, uint32_t) {
  return argument;
}
template <class Values>
auto& for_gpu(const one_for_each_gpu<Values>& argument, uint32_t gpu) {
  if (gpu >= argument.values->size()) {
    throw invalid_argument("An argument for each GPU has " + std::to_string(argument.values->size()) +
                           " elements, but GPU " + std::to_string(gpu) + " is to be launched, too.");
  }
  return (*argument.values)[gpu];
}
template <class Storage>
typename Storage::barrier_type for_gpu(const barrier_for_each_gpu<Storage>& argument, uint32_t gpu) {
  return argument.storage->barrier(gpu);
}

/// The storages among the arguments.
template <class Argument, class Use>
void with_storage(const Argument&, Use&&) {}
template <class Storage, class Use>
void with_storage(const barrier_for_each_gpu<Storage>& argument, Use&& use) {
  use(*argument.storage);
}

}  // namespace detail

/// Owns the state of one barrier of all blocks of several GPUs: for grids of up to `blocks` blocks on each. Reusable by
/// one launch after another without a reset, unless a wait timed out, as long as all GPUs go through the same number
/// of phases in each. Several may be in use at the same time, over the same devices or others.
///
/// On each device as cuda_barrier_storage: for launches on one stream, words in its memory, a time-out report in mapped
/// host memory, and a survey of its L2 cache where that has two partitions.
template <class Algorithm = multi_gpu::default_algorithm>
class cuda_multi_gpu_storage : public detail::multi_gpu_storage<Algorithm, cuda_grid, detail::cuda_backend,
                                                                detail::exchange_placement<Algorithm>> {
  using placement = detail::exchange_placement<Algorithm>;

 public:
  /// Throws invalid_argument if the algorithm cannot serve that many blocks, cuda_failure if memory is short.
  /// `first_phase` is where the phase counter starts (modulo its width); only tests of the wrap need another than 0.
  cuda_multi_gpu_storage(const cuda_device_group& gpus, block_count blocks, uint32_t first_phase = 0)
      : cuda_multi_gpu_storage::multi_gpu_storage(gpus.devices(), blocks, first_phase, placements(gpus)) {}
  /// The same with surveys that the caller has made, one for each device, in the order of the group.
  cuda_multi_gpu_storage(const cuda_device_group& gpus, block_count blocks, const std::vector<l2_survey>& surveys,
                         uint32_t first_phase = 0)
      : cuda_multi_gpu_storage::multi_gpu_storage(gpus.devices(), blocks, first_phase, placements(gpus, surveys)) {}

  /// For multi_gpu::launch(): the barrier of each GPU.
  detail::barrier_for_each_gpu<cuda_multi_gpu_storage> barriers() { return {this}; }

  /// Says that the next launches may come on other streams: the caller has seen to it that they follow those before.
  void hand_over() { this->forget_order(); }

 private:
  static std::vector<placement> placements(const cuda_device_group& gpus) {
    std::vector<placement> made;
    for (const cuda_device& device : gpus.devices()) made.emplace_back(device);
    return made;
  }
  static std::vector<placement> placements(const cuda_device_group& gpus, const std::vector<l2_survey>& surveys) {
    if (surveys.size() != gpus.size()) {
      throw invalid_argument("A storage for " + std::to_string(gpus.size()) + " GPUs was given " +
                             std::to_string(surveys.size()) + " surveys.");
    }
    std::vector<placement> made;
    for (uint32_t i = 0; i < gpus.size(); ++i) made.emplace_back(gpus[i], surveys[i]);
    return made;
  }
};

/// The default barrier of all blocks of several GPUs: what kernels take.
using multi_gpu_barrier = basic_grid_barrier<multi_gpu::default_algorithm, cuda_grid, multi_gpu::across_gpus>;
/// The storage of a multi_gpu_barrier.
using multi_gpu_barrier_storage = cuda_multi_gpu_storage<>;

namespace multi_gpu {

/// An argument of launch() of which each GPU gets an element of its own, by rank. `values` must live until launch()
/// returns.
template <class Values>
detail::one_for_each_gpu<Values> for_each_gpu(Values& values) {
  return {&values};
}

/// Starts `kernel` on every GPU of a group, on a stream of each, with all blocks of all GPUs running at once:
///   multi_gpu::launch(gpus, streams, {blocks, threads}, kernel, storage.barriers(), multi_gpu::for_each_gpu(arrays),
///   n);
///
/// `shapes`: one for all, or one for each GPU. `streams`: one for each GPU, of its device; empty for the default
/// streams. `arguments`: what all get, for_each_gpu(…) or barriers().
///
/// Asynchronous, as gpusync::launch(). Everything is checked on every GPU before any kernel is started, for a kernel
/// whose peers do not come waits for ever. Should a start fail all the same, the barriers among the arguments are given
/// up, so that kernels that have been started end: waits with a deadline time out, others end their launch. Throws as
/// gpusync::launch().
///
/// From a thread for each GPU, gpusync::launch() with storage.barrier(gpu) does the same for one of them.
template <class... Parameters, class... Arguments>
void launch(const cuda_device_group& gpus, const std::vector<cudaStream_t>& streams,
            const std::vector<launch_shape>& shapes, void (*kernel)(Parameters...), const Arguments&... arguments) {
  const auto require_one_each = [&](size_t count, const char* what) {
    if (count == gpus.size()) return;
    throw invalid_argument("A launch on " + std::to_string(gpus.size()) + " GPUs was given " + std::to_string(count) +
                           " " + what + ".");
  };
  require_one_each(shapes.size(), "shapes");
  if (!streams.empty()) require_one_each(streams.size(), "streams");
  const auto on_storages = [&](auto&& use) { (detail::with_storage(arguments, use), ...); };
  on_storages([&](auto& storage) { require_one_each(storage.gpus(), "GPUs' barriers"); });
  const auto stream = [&](uint32_t gpu) { return streams.empty() ? nullptr : streams[gpu]; };
  for (uint32_t gpu = 0; gpu < gpus.size(); ++gpu) {
    detail::inspect_function(gpus[gpu], stream(gpu), shapes[gpu], kernel, detail::for_gpu(arguments, gpu)...);
  }
  on_storages([&](auto& storage) {
    for (uint32_t gpu = 0; gpu < gpus.size(); ++gpu) storage.expect_blocks(gpu, shapes[gpu].blocks.count());
  });
  try {
    for (uint32_t gpu = 0; gpu < gpus.size(); ++gpu) {
      gpusync::launch(gpus[gpu], stream(gpu), shapes[gpu], kernel, detail::for_gpu(arguments, gpu)...);
    }
  } catch (...) {
    on_storages([&](auto& storage) { storage.give_up(); });
    throw;
  }
}

/// The same with one shape for all.
template <class... Parameters, class... Arguments>
void launch(const cuda_device_group& gpus, const std::vector<cudaStream_t>& streams, const launch_shape& shape,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  multi_gpu::launch(gpus, streams, std::vector<launch_shape>(gpus.size(), shape), kernel, arguments...);
}

/// Waits for the streams of all GPUs of a group (the default streams if there are none). Throws cuda_failure as
/// gpusync::synchronize() does, for the first of them that has failed.
inline void synchronize(const cuda_device_group& gpus, const std::vector<cudaStream_t>& streams = {}) {
  for (uint32_t gpu = 0; gpu < gpus.size(); ++gpu) {
    gpusync::synchronize(gpus[gpu], streams.empty() ? nullptr : streams[gpu]);
  }
}

}  // namespace multi_gpu

}  // namespace gpusync
