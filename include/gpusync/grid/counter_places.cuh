// Puts the counters of a placed-counters barrier where the survey of the L2 cache says.
#pragma once

#include <vector>

#include <gpusync/grid/cuda_lines.cuh>
#include <gpusync/grid/placed_counters.hpp>
#include <gpusync/grid/tuning.hpp>

namespace gpusync::grid {

/// What a storage holds besides its words. Nothing, for most algorithms.
template <class Algorithm>
class counter_places {
 public:
  counter_places() = default;
  counter_places(const cuda_device&, const barrier_tuning&) {}
  void put(std::vector<uint32_t>&, const uint32_t*) const {}
};

/// Lines on both sides and the rules to use them by.
template <ordering Order>
class counter_places<placed_counters<Order>> {
 public:
  counter_places() = default;
  /// Throws invalid_argument if the table is not valid.
  counter_places(const cuda_device& device, const barrier_tuning& tuning)
      : sm_count_(static_cast<uint32_t>(device.sm_count())),
        rules_((tuning.check(), tuning.rules)),
        lease_(device, counter_table::most_lines) {}

  /// Completes `image`, fresh words that will stand at `words`, with places and rules, and puts the placed lines into
  /// the same phase. Precondition: no kernel uses them.
  void put(std::vector<uint32_t>& image, uint32_t* words) const {
    auto& table = *reinterpret_cast<counter_table*>(image.data());
    table.sm_count = sm_count_;
    table.rules = rules_;
    if (lease_.empty()) return;
    const uint32_t start = image.back();  // a counter's first value
    const std::vector<uint32_t> line(line_survey::line_words, start);
    for (uint32_t side = 0; side < 2; ++side) {
      for (uint32_t i = 0; i < counter_table::most_lines; ++i) {
        uint32_t* place = lease_.line(side, i);
        check_cuda(cudaMemcpy(place, line.data(), line.size() * sizeof(uint32_t), cudaMemcpyHostToDevice),
                   "cudaMemcpy");
        table.line[side][i] = place - words;
      }
    }
    // In words, as the lines: the map is aligned as every allocation is.
    table.sides = reinterpret_cast<const uint32_t*>(lease_.stock().sides()) - words;
    table.processors = cuda_lines::processors;
  }

  /// Whether two sides were found.
  bool placed() const { return !lease_.empty(); }
  const cuda_line_lease& lease() const { return lease_; }

 private:
  uint32_t sm_count_ = 1;
  counter_rules rules_;
  cuda_line_lease lease_;
};

}  // namespace gpusync::grid
