// Workload "oversubscription" for CUDA and host threads, and what the host knows of its results, whatever device
// computed them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "boundary/arrays.hpp"
#include "boundary/computation.hpp"
#include "boundary/device_side.hpp"
#include "boundary/step_text.h"

namespace gpusync::tool {

#include "workloads/oversubscription/relay_text.h"

/// What runs work on: relay_data::words and relay_data::wrong. Throws invalid_argument if there are no threads or too
/// many.
std::vector<array_content> relay_arrays(const step_shape& shape);

/// What the programs on one shape work on. Every run goes on where the one before left off.
class relay_result : public run_data {
 public:
  /// `memory`: of relay_arrays().
  relay_result(const step_shape& shape, std::shared_ptr<arrays> memory)
      : elements_(elements_of(shape)), memory_(std::move(memory)) {}

  /// The place in the cycle at which the next run begins.
  uint32_t next_phase() const { return static_cast<uint32_t>(phases_ % relay_period); }

  void reset() override { memory_->reset(); }
  check_result check(uint64_t phases) override;
  check_result check_last() override;
  std::string how() const override;

 private:
  const uint32_t elements_;
  const std::shared_ptr<arrays> memory_;
  uint64_t phases_ = 0;
};

/// The phases of runs on this data.
step_sequence relay_steps(std::shared_ptr<const relay_result> result);

/// Ways to run the phases that every kind of device has.
std::vector<step_method> relay_methods();

}  // namespace gpusync::tool
