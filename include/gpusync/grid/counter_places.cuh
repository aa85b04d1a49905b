// Puts the counters of a placed-counters barrier where the survey of the L2 cache says.
#pragma once

#include <vector>

#include <gpusync/grid/barrier_storage.hpp>
#include <gpusync/grid/l2_survey.cuh>
#include <gpusync/grid/placed_counters.hpp>
#include <gpusync/grid/tuning.hpp>

namespace gpusync::detail {

/// What a storage of a CUDA device holds besides its words: nothing, for most algorithms.
template <class Algorithm>
struct counter_placement : plain_placement<Algorithm> {
  counter_placement(const cuda_device&, const barrier_tuning&) {}
  counter_placement(const cuda_device&, const barrier_tuning&, const l2_survey&) {}
};

/// Lines on both partitions and the rules to use them by.
template <ordering Order>
class counter_placement<grid::placed_counters<Order>> {
 public:
  /// Throws invalid_argument if the table is not valid. Makes a survey if there is none: see cuda_barrier_storage.
  counter_placement(const cuda_device& device, const barrier_tuning& tuning)
      : counter_placement(device, tuning, grid::cuda_line_lease(device, grid::counter_places::most_lines)) {}
  /// With lines of this survey.
  counter_placement(const cuda_device& device, const barrier_tuning& tuning, const l2_survey& survey)
      : counter_placement(device, tuning, grid::cuda_line_lease(device, grid::counter_places::most_lines, survey)) {}

  /// Finds the places of a barrier with these words, and puts placed lines into the phase of `image`, the words when
  /// they are fresh. Precondition: no kernel uses them, and no launch that does is queued. Blocks.
  void put(const std::vector<uint32_t>& image, uint32_t* words, uint32_t capacity) {
    places_ = grid::placed_counters<Order>::places_in(words);
    if (!lease_.empty()) {
      const std::vector<uint32_t> line(image.begin(), image.begin() + grid::line_survey::line_words);
      const l2_survey& survey = lease_.survey();
      const cuda_device_scope scope(survey.ordinal());
      places_.lines = survey.line(0);
      for (uint32_t partition = 0; partition < 2; ++partition) {
        for (uint32_t i = 0; i < grid::counter_places::most_lines; ++i) {
          places_.put_line(partition, i, lease_.number(partition, i));
          check_cuda(cudaMemcpy(places_.line_at(partition, i), line.data(), line.size() * sizeof(uint32_t),
                                cudaMemcpyHostToDevice),
                     "cudaMemcpy");
        }
      }
      places_.partitions = survey.partitions();
    }
    // For launches that the storage does not see.
    places_.plan = grid::packed_plan::of(rules_.choose(capacity, grid::counter_rules::usual_threads, sm_count_));
  }

  /// What the barriers of these words are given. Its members may be changed for tests.
  grid::counter_places& places() { return places_; }

  /// Chooses the plan for a launch, `captured` into a graph or not; remembers the last choice, for most launches are
  /// like the one before.
  void fit(grid::counter_places& given, uint32_t members, uint32_t threads, bool captured) {
    if (members != members_ || threads != threads_ || captured != captured_) {
      const grid::counter_plan plan = rules_.choose(members, threads, sm_count_);
      plan_ =
          grid::fit(grid::packed_plan::of(captured ? plan.in_graph() : plan), members, threads, cuda_grid::warp_size);
      members_ = members;
      threads_ = threads;
      captured_ = captured;
    }
    given.plan = plan_;
  }

  /// Whether two partitions were found.
  bool placed() const { return !lease_.empty(); }
  const grid::cuda_line_lease& lease() const { return lease_; }
  /// The rules that plans are chosen by.
  const grid::counter_rules& rules() const { return rules_; }

 private:
  counter_placement(const cuda_device& device, const barrier_tuning& tuning, grid::cuda_line_lease&& lease)
      : sm_count_(static_cast<uint32_t>(device.sm_count())),
        rules_((tuning.check(), tuning.rules)),
        lease_(std::move(lease)) {}

  uint32_t sm_count_ = 1;
  grid::counter_rules rules_;
  grid::cuda_line_lease lease_;
  grid::counter_places places_;
  uint32_t members_ = 0, threads_ = 0;
  bool captured_ = false;
  grid::packed_plan plan_;
};

}  // namespace gpusync::detail
