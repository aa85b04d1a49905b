// The memory behind a grid barrier on a CUDA device.
#pragma once

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/grid/barrier_storage.hpp>
#include <gpusync/grid/counter_places.cuh>

namespace gpusync {

/// Owns the state of one grid barrier for grids of up to `blocks` blocks of a CUDA device: its words in device memory,
/// its time-out report in mapped host memory, so that the host can read it while a kernel runs. Reusable by one launch
/// after another without a reset, unless a wait timed out.
///
/// For launches on one stream: gpusync::launch() refuses another one (storage_in_use) until hand_over(). A launch that
/// is captured into a graph counts for the stream that captures it; run the graph on that stream too, or where it is
/// ordered with the storage's other launches, for a replay is not seen here.
///
/// With placed counters a constructor that is given no l2_survey takes the one that other storages of the device have
/// made, if one of them is alive, and else makes one: some 20 ms, in which it blocks and should find the device idle;
/// no kernel may be running that waits for the calling thread. Other algorithms have no use for a survey, and none is
/// made.
template <class Algorithm>
class cuda_barrier_storage
    : public detail::barrier_storage<Algorithm, cuda_grid, detail::cuda_backend, detail::counter_placement<Algorithm>> {
 public:
  /// Throws invalid_argument if the algorithm cannot serve that many blocks, cuda_failure if memory is short.
  /// `first_phase` is where the phase counter starts (modulo its width); only tests of the wrap need another than 0.
  cuda_barrier_storage(const cuda_device& device, block_count blocks, uint32_t first_phase = 0)
      : cuda_barrier_storage(device, blocks, barrier_tuning::shipped_for(device.name()), first_phase) {}

  /// The same with a table of one's own, such as `gpusync tune` writes; throws invalid_argument if it is not valid.
  /// Algorithms without a choice ignore it.
  cuda_barrier_storage(const cuda_device& device, block_count blocks, const barrier_tuning& tuning,
                       uint32_t first_phase = 0)
      : cuda_barrier_storage::barrier_storage(device, blocks, first_phase,
                                              detail::counter_placement<Algorithm>(device, tuning)) {}

  /// The same with a survey that the caller has made and may share between storages, so that this constructor makes
  /// none. Throws invalid_argument if it is of another device. The storage takes 16 of its lines; if it has so many
  /// left no more, the counters lie anywhere, which is slower and as correct.
  cuda_barrier_storage(const cuda_device& device, block_count blocks, const l2_survey& survey, uint32_t first_phase = 0)
      : cuda_barrier_storage(device, blocks, survey, barrier_tuning::shipped_for(device.name()), first_phase) {}
  /// The same with both.
  cuda_barrier_storage(const cuda_device& device, block_count blocks, const l2_survey& survey,
                       const barrier_tuning& tuning, uint32_t first_phase = 0)
      : cuda_barrier_storage::barrier_storage(device, blocks, first_phase,
                                              detail::counter_placement<Algorithm>(device, tuning, survey)) {}

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->forget_order(); }

  /// The lines of placed counters; nothing for other algorithms.
  const detail::counter_placement<Algorithm>& counters() const { return this->placement(); }
};

}  // namespace gpusync
