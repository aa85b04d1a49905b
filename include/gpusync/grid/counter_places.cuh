// Puts the counters of a placed-counters barrier where the survey of the L2 cache says.
#pragma once

#include <vector>

#include <gpusync/grid/barrier.hpp>
#include <gpusync/grid/cuda_lines.cuh>
#include <gpusync/grid/placed_counters.hpp>
#include <gpusync/grid/tuning.hpp>

namespace gpusync::grid {

/// What a storage holds besides its words. Nothing, for most algorithms.
template <class Algorithm>
class counter_placement {
 public:
  using places_type = typename gpusync::detail::places_of<Algorithm>::type;
  counter_placement(const cuda_device&, const barrier_tuning&) {}
  void put(std::vector<uint32_t>&) const {}
  places_type places(uint32_t* words) const { return gpusync::detail::places_of<Algorithm>::in(words); }
  void fit(places_type&, uint32_t, uint32_t) const {}
};

/// Lines on both sides and the rules to use them by.
template <ordering Order>
class counter_placement<placed_counters<Order>> {
 public:
  /// Throws invalid_argument if the table is not valid.
  counter_placement(const cuda_device& device, const barrier_tuning& tuning)
      : sm_count_(static_cast<uint32_t>(device.sm_count())),
        rules_((tuning.check(), tuning.rules)),
        lease_(device, counter_places::most_lines) {}

  /// Completes `image`, fresh words, with the rules, and puts the placed lines into the same phase. Precondition: no
  /// kernel uses them.
  void put(std::vector<uint32_t>& image) const {
    auto& table = *reinterpret_cast<counter_table*>(image.data());
    table.sm_count = sm_count_;
    table.rules = rules_;
    if (lease_.empty()) return;
    const uint32_t start = image.back();  // a counter's first value
    const std::vector<uint32_t> line(line_survey::line_words, start);
    for (uint32_t side = 0; side < 2; ++side) {
      for (uint32_t i = 0; i < counter_places::most_lines; ++i) {
        check_cuda(cudaMemcpy(lease_.stock().line(lease_.number(side, i)), line.data(), line.size() * sizeof(uint32_t),
                              cudaMemcpyHostToDevice),
                   "cudaMemcpy");
      }
    }
  }

  /// What barriers are given whose words these are.
  counter_places places(uint32_t* words) const {
    counter_places made = placed_counters<Order>::places_in(words);
    if (lease_.empty()) return made;
    made.lines = lease_.stock().line(0);
    for (uint32_t i = 0; i < counter_places::most_lines; ++i) {
      for (uint32_t side = 0; side < 2; ++side) made.put_line(side, i, lease_.number(side, i));
    }
    const std::vector<unsigned char>& sides = lease_.stock().survey().sides();
    for (uint32_t i = 0; i < counter_places::most_processors; ++i) {
      const uint32_t bit = i < sides.size() ? sides[i] & 1u : 0u;
      made.sides[i / 32] = (made.sides[i / 32] & ~(1u << i % 32)) | bit << i % 32;
    }
    return made;
  }

  /// Chooses the plans for a launch.
  void fit(counter_places& given, uint32_t members, uint32_t threads) const {
    const auto plan = [&](uint32_t acting) {
      return grid::fit(packed_plan::of(rules_.choose(members, acting, sm_count_)), members, acting,
                       cuda_grid::warp_size);
    };
    given.plan = plan(threads);
    if (threads >= cuda_grid::warp_size) given.plan_of_warps = plan(cuda_grid::warp_size);
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
