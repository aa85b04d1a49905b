// The sum of an array on the device, once in a stream and then as a node of a CUDA graph that is replayed, each
// checked.
#include <gpusync/reduce/reduce.cuh>

#include <cstdio>
#include <vector>

constexpr size_t count = 3'000'000;

// Whole numbers, so that the sum is exact in whatever order it is added.
std::vector<float> numbers(int seed) {
  std::vector<float> made(count);
  for (size_t i = 0; i < count; ++i) made[i] = static_cast<float>((static_cast<int>(i % 7) + seed) % 7);
  return made;
}

float sum_on_the_host(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return static_cast<float>(sum);
}

int main() try {
  const gpusync::cuda_device gpu;
  gpusync::reduction_storage storage(gpu);  // made once; needs no reset between sums
  const gpusync::cuda_buffer input(gpu, count * sizeof(float)), output(gpu, sizeof(float));
  auto* const in = static_cast<float*>(input.address());
  auto* const out = static_cast<float*>(output.address());
  cudaStream_t stream = nullptr;
  gpusync::check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");

  bool right = true;
  const auto write = [&](const std::vector<float>& values) {
    gpusync::check_cuda(cudaMemcpyAsync(in, values.data(), input.bytes(), cudaMemcpyHostToDevice, stream),
                        "cudaMemcpy");
  };
  const auto look = [&](const char* how, const std::vector<float>& values) {
    float found = 0;
    gpusync::check_cuda(cudaMemcpyAsync(&found, out, sizeof(float), cudaMemcpyDeviceToHost, stream), "cudaMemcpy");
    gpusync::check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    const bool same = found == sum_on_the_host(values);
    std::printf("%s: %.0f, %s as on the host.\n", how, static_cast<double>(found), same ? "the same" : "NOT the same");
    right = right && same;
  };

  const std::vector<float> first = numbers(1);
  write(first);
  gpusync::reduce(storage, stream, in, count, out);
  look("In a stream", first);

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  gpusync::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  gpusync::reduce(storage, stream, in, count, out);
  gpusync::check_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  gpusync::check_cuda(cudaGraphInstantiate(&replay, graph, 0), "cudaGraphInstantiate");
  for (const int seed : {2, 3}) {
    const std::vector<float> values = numbers(seed);
    write(values);  // a replay sums what is there then
    gpusync::check_cuda(cudaGraphLaunch(replay, stream), "cudaGraphLaunch");
    look("In a graph", values);
  }
  gpusync::check_cuda(cudaGraphExecDestroy(replay), "cudaGraphExecDestroy");
  gpusync::check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  gpusync::check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return right ? 0 : 1;
} catch (const gpusync::no_such_device& reason) {
  std::printf("skipped: %s\n", reason.what());
  return 77;
}
