// What the programs of workload "rmw calls" have in common, whatever device makes the calls. C++17: CUDA sources
// include it.
#pragma once

#include <vector>

#include "workloads/rmw_calls/call_script.hpp"
#include "workloads/rmw_calls/rmw_calls.hpp"

namespace gpusync::tool {

/// Throws invalid_argument if objects of that capacity do not serve so many participants, or if these make more calls
/// than the check of the answers can tell apart.
void require_countable(uint32_t participants, const call_setup& setup);

/// What a participant leaves behind: times on one clock, the same for all, in nanoseconds.
struct call_record {
  uint64_t begin, end;
  uint64_t longest;  ///< one call; only if calls were timed one by one
  call_tally tally;
};

/// Counts runs, what was wrong in them, and who was slow.
class counted_calls : public run_program {
 public:
  counted_calls(const call_setup& setup, uint32_t participants) : setup_(setup), participants_(participants) {}

  verification verify() override;
  findings found() const override { return {{"slowest_over_mean", slowest_}, {"longest_call", longest_}}; }

 protected:
  const call_setup& setup() const { return setup_; }
  uint32_t participants() const { return participants_; }
  /// Of one run.
  uint32_t all_calls() const { return participants_ * setup_.calls; }
  uint64_t runs() const { return runs_; }
  /// Whether the run to come is the one that warms up, in which calls are timed one by one.
  bool times_each_call() const { return runs_ == 0; }
  /// Ends a run, which left the object in state `last_state`; returns its nanoseconds.
  double judge(const std::vector<call_record>& records, uint32_t last_state);

 private:
  const call_setup setup_;
  const uint32_t participants_;
  uint64_t runs_ = 0, wrong_ = 0;
  double slowest_ = 0, longest_ = 0;
};

}  // namespace gpusync::tool
