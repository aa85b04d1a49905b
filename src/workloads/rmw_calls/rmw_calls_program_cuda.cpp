#include "workloads/rmw_calls/rmw_calls_program.hpp"

#include <chrono>

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
  where_.await(60);
  check_cuda(cudaMemcpy(words.data(), task.words, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<call_record> records(participants());
  check_cuda(cudaMemcpy(records.data(), task.records, participants() * sizeof(call_record), cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  return judge(records, object_.state(words.data()));
}

}  // namespace gpusync::tool
