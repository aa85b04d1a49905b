// What the host knows of the results of workload "oversubscription", whatever device computed them.
#pragma once

#include <string>
#include <vector>

#include <gpusync/core/error.hpp>

#include "workloads/oversubscription/oversubscription.hpp"
#include "workloads/step_program.hpp"

namespace gpusync::tool {

/// Keeps count of the phases that a program has run, and of the words that it has checked.
class relay_result {
 public:
  explicit relay_result(const step_shape& shape) : blocks_(shape.blocks), threads_(shape.threads) {
    const uint64_t all = uint64_t{blocks_} * threads_;
    if (all == 0 || all > UINT32_MAX / 2) {
      throw invalid_argument(std::to_string(blocks_) + " blocks of " + std::to_string(threads_) +
                             " threads cannot be computed: 1 to " + std::to_string(UINT32_MAX / 2) + " threads can.");
    }
  }

  uint32_t elements() const { return blocks_ * threads_; }

  /// What a first run starts from: two halves, the second as the phase before the first leaves it.
  std::vector<uint32_t> first_words() const {
    std::vector<uint32_t> words(2 * size_t{elements()});
    for (uint32_t i = 0; i < elements(); ++i) words[elements() + i] = relay_word(i, relay_period - 1);
    return words;
  }

  /// The place in the cycle at which the next run begins.
  uint32_t next_phase() const { return static_cast<uint32_t>(phases_ % relay_period); }

  /// Adds a run of `phases` phases in which the device found `wrong` words in all that were wrong.
  void add_run(uint64_t phases, uint64_t wrong) {
    phases_ += phases;
    wrong_ += wrong;
  }

  /// All runs together, and the words that the last one left.
  verification verify(const std::vector<uint32_t>& words) const {
    verification found;
    found.performed = phases_ != 0;
    found.checked = (phases_ + 1) * elements();
    found.wrong = wrong_;
    const auto last = static_cast<uint32_t>((phases_ + relay_period - 1) % relay_period);
    for (uint32_t i = 0; i < elements() && phases_ != 0; ++i) {
      found.wrong += words[last % 2 * size_t{elements()} + i] != relay_word(i, last) ? 1 : 0;
    }
    found.how =
        "every thread's word of every timed phase, read by another virtual block in the next one, and all of "
        "the last";
    return found;
  }

 private:
  uint32_t blocks_, threads_;
  uint64_t phases_ = 0;
  uint64_t wrong_ = 0;
};

/// Ways to run the phases that every kind of device has.
inline std::vector<step_method> relay_methods() {
  const std::vector<std::string> items{"S5"};
  return {{"relaunch", "a grid of all blocks for each phase, queued in order", items, method_kind::launch},
          {"phased-striding", "phased grid, each block its share of the virtual ones", items},
          {"phased-claiming", "phased grid, virtual blocks claimed from a counter, one barrier", items},
          {"phased-flag-claiming", "phased grid, virtual blocks claimed by flags, two barriers (Shen)", items}};
}

}  // namespace gpusync::tool
