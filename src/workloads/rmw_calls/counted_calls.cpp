#include "workloads/rmw_calls/counted_calls.hpp"

#include <algorithm>

namespace gpusync::tool {

verification counted_calls::verify() {
  verification found;
  found.performed = runs_ > 0;
  found.checked = runs_ * all_calls();
  found.wrong = wrong_;
  found.how = "answers, of " + std::to_string(runs_) + " runs: " + call_check_in_words;
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
