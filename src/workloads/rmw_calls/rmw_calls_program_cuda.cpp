#include "workloads/rmw_calls/rmw_calls_program.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "measure/host_timer.hpp"

namespace gpusync::tool {

double call_program::run_once() {
  const cuda_device_scope scope(where_.device().ordinal());
  const uint32_t all = participants_ * setup_.calls;
  const bool timed = runs_ == 0;  // the one that warms up
  std::vector<uint64_t> words = object_.first_words(setup_.kind, all);
  const size_t bytes = words.size() * sizeof(uint64_t);
  const call_task task{
      places_.words(static_cast<uint32_t>(runs_)), places_.records(), setup_.kind, participants_, setup_.calls, timed};
  check_cuda(cudaMemcpyAsync(task.words, words.data(), bytes, cudaMemcpyHostToDevice, where_.stream()),
             "cudaMemcpyAsync");
  object_.start(task);
  await();
  check_cuda(cudaMemcpy(words.data(), task.words, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<call_record> records(participants_);
  check_cuda(cudaMemcpy(records.data(), task.records, participants_ * sizeof(call_record), cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  return judge(records, all, object_.state(words.data()), timed);
}

verification call_program::verify() {
  verification found;
  found.performed = runs_ > 0;
  found.checked = runs_ * participants_ * uint64_t{setup_.calls};
  found.wrong = wrong_;
  found.how = "answers, of " + std::to_string(runs_) + " runs: " + call_check_in_words;
  return found;
}

double call_program::judge(const std::vector<call_record>& records, uint32_t all, uint32_t last_state, bool timed) {
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
  runs_ += 1;
  wrong_ += check_calls(setup_.kind, all, sum, last_state);
  if (timed) {
    longest_ = static_cast<double>(longest) * 1e-3;
  }
  slowest_ = total > 0 ? slowest * static_cast<double>(records.size()) / total : 0;
  return static_cast<double>(end - begin);
}

/// Wait-free calls end, and loops do in practice; but a fault in a kernel must not hang the tool.
void call_program::await() const {
  constexpr double limit_ns = 60e9;
  const host_timer clock;
  while (cudaStreamQuery(where_.stream()) == cudaErrorNotReady) {
    (void)cudaGetLastError();
    if (clock.nanoseconds() > limit_ns) {
      throw error("A launch has not ended in " + std::to_string(static_cast<int>(limit_ns * 1e-9)) + " s.");
    }
    if (clock.nanoseconds() > 1e6) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  check_cuda(cudaStreamSynchronize(where_.stream()), "a launch of calls");
}

}  // namespace gpusync::tool
