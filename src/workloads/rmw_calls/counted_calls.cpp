#include "workloads/rmw_calls/counted_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpusync::tool {

void require_countable(uint32_t participants, const call_setup& setup) {
  if (participants == 0 || participants > setup.capacity) {
    throw invalid_argument(fmt::format("An object of capacity {} has 1 to {} participants, not {}.", setup.capacity,
                                       setup.capacity, participants));
  }
  if (uint64_t{participants} * setup.calls >= 1u << 24) {
    throw invalid_argument(fmt::format(
        "{} participants with {} calls each make more calls than the 16,777,215 that the check of their answers can "
        "tell apart: use at most {} calls.",
        participants, setup.calls, ((1u << 24) - 1) / participants));
  }
}

verification counted_calls::verify() {
  verification found;
  found.performed = runs_ > 0;
  found.checked = runs_ * all_calls();
  found.wrong = wrong_;
  found.how = fmt::format(
      "answers, of {} runs: what was answered is what must be, each number once and none missing, each participant's "
      "in order, and so is the last state",
      runs_);
  return found;
}

double counted_calls::judge(const std::vector<call_record>& records, uint32_t last_state) {
  call_tally sum;
  uint64_t begin = records[0].begin, end = 0, longest = 0;
  double slowest = 0, total = 0;
  for (const call_record& one : records) {
    sum.add(one.tally);
    begin = std::min(begin, one.begin);
    end = std::max(end, one.end);
    longest = std::max(longest, one.longest);
    const auto took = static_cast<double>(one.end - one.begin);
    slowest = std::max(slowest, took);
    total += took;
  }
  if (times_each_call()) longest_ = static_cast<double>(longest) * 1e-3;
  runs_ += 1;
  wrong_ += check_calls(setup_.kind, all_calls(), sum, last_state);
  slowest_ = total > 0 ? slowest * static_cast<double>(records.size()) / total : 0;
  return static_cast<double>(end - begin);
}

}  // namespace gpusync::tool
