// The program of program.hpp on several GPUs, which are groups of the explorer's blocks.
#pragma once

#include <vector>

#include <gpusync/multi_gpu/host.hpp>

#include "program.hpp"

namespace gpusync::verify {

/// model_grid for a block of one of several GPUs: each has the launch's blocks for itself. Blocks take turns in being
/// on partition 0 and 1.
template <class Memory = model_memory>
class gpu_grid : public model_grid<Memory> {
 public:
  static gpu_grid current() { return {}; }

  uint32_t block() const { return explorer::active().block() % explorer::active().blocks_of_gpu(); }
  uint32_t sm_id() const { return gpusync::grid::sm_partitions::neighbours * block(); }
};

static_assert(is_grid<gpu_grid<>>, "see core/concepts.hpp");

/// What is explored of a barrier across GPUs.
struct gpus_program {
  program phases;
  /// Blocks of each launch on each GPU, as many launches on each; if empty, one of all blocks.
  std::vector<std::vector<uint32_t>> launches = {};
  /// All blocks poll what lies on partition 1.
  bool all_on_second = false;
};

/// Explores `what`; the form says how many GPUs there are, and of all blocks and threads.
template <class Algorithm, class Memory = model_memory>
exploration explore_gpus(const shape& form, const gpus_program& what) {
  using grid = gpu_grid<Memory>;
  const uint32_t each = form.blocks / form.gpus;
  std::vector<std::vector<uint32_t>> launches = what.launches;
  if (launches.empty()) launches.assign(form.gpus, {each});
  host_multi_gpu_storage<Algorithm, grid> storage(form.gpus, each, what.phases.first_phase);
  for (uint32_t gpu = 0; gpu < form.gpus && what.all_on_second; ++gpu) {
    for (uint32_t& pairs : storage.places(gpu).partitions.bits) pairs = ~0u;
  }
  explorer search(form, [&] {
    explorer& active = explorer::active();
    const uint32_t gpu = active.gpu();
    for (uint32_t i = 0; i < launches[gpu].size(); ++i) {
      const auto launched = [&launches, each, i](uint32_t block) { return block % each < launches[block / each][i]; };
      active.set_blocks(launches[gpu][i]);
      if (launched(active.block())) {
        auto barrier = storage.barrier(gpu);
        run_phases<Algorithm>(barrier, what.phases, i * what.phases.phases, launched);
      }
      if (launches[gpu].size() > 1) active.end_launch();
    }
  });
  const auto layout = gpusync::detail::barrier_layout::of(Algorithm::words(each), each);
  for (uint32_t gpu = 0; gpu < form.gpus; ++gpu) {
    uint32_t* const words = storage.state(gpu);
    search.ignore_stores(words + layout.claimed, words + layout.total);
    search.name_words(words, "gpu" + std::to_string(gpu));
  }
  return search.run();
}

}  // namespace gpusync::verify
