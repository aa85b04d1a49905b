#include "measure/cuda_clock.cuh"

#include <gpusync/core/cuda_grid.cuh>

namespace gpusync::tool {

namespace {

struct reading {
  unsigned long long cycles;
  unsigned long long nanoseconds;
};

__global__ void spin(unsigned long long span, reading* result) {
  const cuda_grid grid;
  // Begin at a tick of the timer, for it may tick coarsely.
  const uint64_t before = grid.now();
  uint64_t begin = before;
  while (begin == before) begin = grid.now();
  const long long first = clock64();
  uint64_t end = begin;
  while (end - begin < span) end = grid.now();
  result->cycles = static_cast<unsigned long long>(clock64() - first);
  result->nanoseconds = end - begin;
}

}  // namespace

double measure_clock_mhz(const cuda_device& device, cudaStream_t stream, double microseconds) {
  const cuda_device_scope scope(device.ordinal());
  const cuda_buffer buffer(device, sizeof(reading), stream);
  const auto span = static_cast<unsigned long long>(microseconds * 1e3);
  reading result{};
  for (int run = 0; run < 2; ++run) {  // the first loads the module
    spin<<<1, 1, 0, stream>>>(span, static_cast<reading*>(buffer.address()));
    check_cuda(cudaGetLastError(), "launch of the clock kernel");
    check_cuda(cudaMemcpyAsync(&result, buffer.address(), sizeof(result), cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream), "the clock kernel");
  }
  return static_cast<double>(result.cycles) * 1e3 / static_cast<double>(result.nanoseconds);
}

}  // namespace gpusync::tool
