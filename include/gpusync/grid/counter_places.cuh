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
  void put(std::vector<uint32_t>&, uint32_t*) {}
  places_type& places() { return places_; }
  void fit(places_type&, uint32_t, uint32_t) {}

 private:
  places_type places_;
};

/// Lines on both sides and the rules to use them by.
template <ordering Order>
class counter_placement<placed_counters<Order>> {
 public:
  /// Throws invalid_argument if the table is not valid.
  counter_placement(const cuda_device& device, const barrier_tuning& tuning)
      : sm_count_(static_cast<uint32_t>(device.sm_count())),
        rules_((tuning.check(), tuning.rules)),
        lease_(device, counter_table::most_lines) {}

  /// Completes `image`, fresh words that will stand at `words`, with the rules and the places, and puts the placed
  /// lines into the same phase. Precondition: no kernel uses them.
  void put(std::vector<uint32_t>& image, uint32_t* words) {
    auto& table = *reinterpret_cast<counter_table*>(image.data());
    table.sm_count = sm_count_;
    table.rules = rules_;
    table.lines = placed_counters<Order>::own_lines(words);
    if (!lease_.empty()) {
      table.lines = lease_.stock().line(0);
      for (uint32_t i = 0; i < counter_table::most_lines; ++i) {
        for (uint32_t side = 0; side < 2; ++side) table.put_line(side, i, lease_.number(side, i));
      }
      const std::vector<unsigned char>& sides = lease_.stock().survey().sides();
      for (uint32_t i = 0; i < counter_table::most_processors; ++i) {
        const uint32_t bit = i < sides.size() ? sides[i] & 1u : 0u;
        table.sides[i / 32] = (table.sides[i / 32] & ~(1u << i % 32)) | bit << i % 32;
      }
      const uint32_t start = image.back();  // a counter's first value
      const std::vector<uint32_t> line(line_survey::line_words, start);
      for (uint32_t side = 0; side < 2; ++side) {
        for (uint32_t i = 0; i < counter_table::most_lines; ++i) {
          check_cuda(
              cudaMemcpy(table.line_at(side, i), line.data(), line.size() * sizeof(uint32_t), cudaMemcpyHostToDevice),
              "cudaMemcpy");
        }
      }
    }
    places_ = counter_places::of(reinterpret_cast<const counter_table*>(words), table);
  }

  /// What the barriers of these words are given. Its members may be changed for tests.
  counter_places& places() { return places_; }

  /// Chooses the plans for a launch; remembers the last choice, for most launches are like the one before.
  void fit(counter_places& given, uint32_t members, uint32_t threads) {
    if (members == members_ && threads == threads_) {
      given.plan = plan_;
      given.plan_of_warps = plan_of_warps_;
      return;
    }
    const auto plan = [&](uint32_t acting) {
      return grid::fit(packed_plan::of(rules_.choose(members, acting, sm_count_)), members, acting,
                       cuda_grid::warp_size);
    };
    given.plan = plan_ = plan(threads);
    if (threads >= cuda_grid::warp_size) plan_of_warps_ = plan(cuda_grid::warp_size);
    given.plan_of_warps = plan_of_warps_;
    members_ = members;
    threads_ = threads;
  }

  /// Whether two sides were found.
  bool placed() const { return !lease_.empty(); }
  const cuda_line_lease& lease() const { return lease_; }

 private:
  uint32_t sm_count_ = 1;
  counter_rules rules_;
  cuda_line_lease lease_;
  counter_places places_;
  uint32_t members_ = 0, threads_ = 0;
  packed_plan plan_, plan_of_warps_;
};

}  // namespace gpusync::grid
