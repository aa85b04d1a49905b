#include "workloads/rmw_calls/rmw_calls_program.hpp"

#include <chrono>
#include <thread>

#include "measure/host_timer.hpp"

namespace gpusync::tool {

double call_program::run_once() {
  const cuda_device_scope scope(where_.device().ordinal());
  std::vector<uint64_t> words = object_.first_words(setup().kind, all_calls());
  const size_t bytes = words.size() * sizeof(uint64_t);
  const call_task task{places_.words(static_cast<uint32_t>(runs())),
                       places_.records(),
                       setup().kind,
                       participants(),
                       setup().calls,
                       times_each_call()};
  check_cuda(cudaMemcpyAsync(task.words, words.data(), bytes, cudaMemcpyHostToDevice, where_.stream()),
             "cudaMemcpyAsync");
  object_.start(task);
  await();
  check_cuda(cudaMemcpy(words.data(), task.words, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<call_record> records(participants());
  check_cuda(cudaMemcpy(records.data(), task.records, participants() * sizeof(call_record), cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  return judge(records, object_.state(words.data()));
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
