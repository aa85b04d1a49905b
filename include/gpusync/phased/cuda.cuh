// Phased grids on a CUDA device: their memory, and their launch.
#pragma once

#include <algorithm>

#include <gpusync/grid/cuda_storage.cuh>
#include <gpusync/launch/cuda.cuh>
#include <gpusync/phased/phased_storage.hpp>
#include <gpusync/phased/shape.hpp>
#include <gpusync/phased/state.hpp>

namespace gpusync {

/// Owns the state of one phased grid of up to `virtual_blocks` virtual blocks on a CUDA device: its barrier, for as
/// many blocks as the device can hold, and what its schedule needs. Reusable by one launch after another without a
/// reset, unless a wait timed out.
template <class Schedule, class Algorithm = grid::placed_counters<ordering::acquire_release>>
class cuda_phased_storage : public detail::phased_storage<Schedule, Algorithm, cuda_grid, detail::cuda_backend,
                                                          cuda_barrier_storage<Algorithm>> {
 public:
  /// Throws invalid_argument for no virtual blocks, cuda_failure if memory is short. See cuda_barrier_storage for what
  /// its barrier surveys.
  cuda_phased_storage(const cuda_device& device, block_count virtual_blocks)
      : cuda_phased_storage::phased_storage(device, virtual_blocks, most_resident(device), [&](uint32_t resident) {
          return cuda_barrier_storage<Algorithm>(device, resident);
        }) {}
  /// The same with a survey that the caller has made: see cuda_barrier_storage.
  cuda_phased_storage(const cuda_device& device, block_count virtual_blocks, const l2_survey& survey)
      : cuda_phased_storage::phased_storage(device, virtual_blocks, most_resident(device), [&](uint32_t resident) {
          return cuda_barrier_storage<Algorithm>(device, resident, survey);
        }) {}

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->barrier_storage().hand_over(); }

  /// The lines of placed counters; nothing for other algorithms.
  const detail::counter_placement<Algorithm>& counters() const { return this->barrier_storage().counters(); }

 private:
  /// As many as the device holds of the smallest blocks.
  static uint32_t most_resident(const cuda_device& device) {
    const auto most = static_cast<uint32_t>(device.sm_count()) *
                      static_cast<uint32_t>(std::max(1, device.properties().maxBlocksPerMultiProcessor));
    return std::min(most, Algorithm::max_blocks);
  }
};

/// The memory behind a phased_state on a CUDA device; zero at first. T: trivially copyable.
template <class T>
class cuda_phased_state {
 public:
  /// `per_block` values for each virtual block. Throws cuda_failure if memory is short.
  cuda_phased_state(const cuda_device& device, uint32_t virtual_blocks, uint32_t per_block)
      : per_block_(per_block), values_(device, size_t{virtual_blocks} * per_block * sizeof(T)) {}
  /// What a kernel takes as an argument.
  phased_state<T> view() const { return {static_cast<T*>(values_.address()), per_block_}; }
  /// Bytes of memory.
  size_t bytes() const { return values_.bytes(); }

 private:
  uint32_t per_block_;
  cuda_buffer values_;
};

/// How many resident blocks launch_phased() would start: as many of `kernel` in this shape as run at once on `device`,
/// never more than virtual blocks, nor than shape.resident if that is given.
template <class... Parameters>
uint32_t resident_blocks(const cuda_device& device, void (*kernel)(Parameters...), const phased_shape& shape) {
  uint64_t most = max_co_resident(device, kernel, {1, shape.threads, shape.shared_bytes}).blocks();
  if (shape.resident != 0) most = std::min<uint64_t>(most, shape.resident);
  // One at least, for a kernel that cannot run at all: launch() says why.
  return static_cast<uint32_t>(std::clamp<uint64_t>(shape.virtual_blocks, 1, std::max<uint64_t>(most, 1)));
}

/// Starts `kernel(grid, arguments...)` on `stream`: as many blocks as run at once, which work on `shape.virtual_blocks`
/// virtual ones. Returns the number of resident blocks.
///
/// Never refuses a grid for its size. Asynchronous; can be captured into a CUDA graph. Throws invalid_argument for an
/// empty grid, one beyond the storage's capacity or a shape that no block can have, broken_barrier for a storage that
/// must be reset, cuda_failure for the rest. Nothing was started then.
template <class Schedule, class Algorithm, class... Parameters, class... Arguments>
uint32_t launch_phased(const cuda_device& device, cudaStream_t stream, const phased_shape& shape,
                       void (*kernel)(basic_phased_grid<Schedule, Algorithm, cuda_grid>, Parameters...),
                       cuda_phased_storage<Schedule, Algorithm>& storage, Arguments&&... arguments) {
  check_shape(device, {1, shape.threads, shape.shared_bytes});
  uint32_t resident = 0;
  detail::with_reports(device.ordinal(), [&] {
    resident = std::min(resident_blocks(device, kernel, shape), storage.resident_capacity());
  });
  launch(device, stream, {resident, shape.threads, shape.shared_bytes}, kernel, storage.grid(shape.virtual_blocks),
         std::forward<Arguments>(arguments)...);
  return resident;
}

}  // namespace gpusync
