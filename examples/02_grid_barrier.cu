// A persistent CUDA kernel with a grid barrier: Jacobi relaxation of a rod whose ends are kept hot and cold,
// all steps in one launch.
#include <gpusync/gpusync.cuh>

#include <cstdio>
#include <vector>

constexpr int points = 1 << 16;
constexpr int steps = 1000;

__global__ void relax(gpusync::grid_barrier barrier, float* from, float* to) {
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + 1;
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  barrier.enter();  // not needed; before a loop it saves registers
  for (int step = 0; step < steps; ++step) {
    for (int i = first; i < points - 1; i += stride) to[i] = 0.5f * (from[i - 1] + from[i + 1]);
    barrier.sync();  // every block sees every block's writes
    float* const old = from;
    from = to;
    to = old;
  }
}

std::vector<float> rod() {
  std::vector<float> temperatures(points, 0.0f);
  temperatures.front() = 100.0f;
  return temperatures;
}

std::vector<float> relax_on_the_host() {
  std::vector<float> from = rod(), to = rod();
  for (int step = 0; step < steps; ++step) {
    for (int i = 1; i < points - 1; ++i) to[i] = 0.5f * (from[i - 1] + from[i + 1]);
    from.swap(to);
  }
  return from;
}

int main() try {
  const gpusync::cuda_device gpu;
  const auto blocks = static_cast<uint32_t>(gpu.sm_count());
  gpusync::grid_barrier_storage storage(gpu, blocks);

  std::vector<float> result = rod();
  const size_t bytes = result.size() * sizeof(float);
  const gpusync::cuda_buffer a(gpu, bytes), b(gpu, bytes);
  for (const auto* buffer : {&a, &b}) {
    gpusync::check_cuda(cudaMemcpy(buffer->address(), result.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }

  const cudaStream_t stream = nullptr;
  gpusync::launch(gpu, stream, {blocks, 256}, relax, storage.barrier(), static_cast<float*>(a.address()),
                  static_cast<float*>(b.address()));

  // An even number of steps ends in `a`.
  gpusync::check_cuda(cudaMemcpy(result.data(), a.address(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  const bool right = result == relax_on_the_host();
  std::printf("%d steps of %d points by %u blocks of %s: %s as on the host.\n", steps, points, blocks,
              gpu.name().c_str(), right ? "the same" : "NOT the same");
  return right ? 0 : 1;
} catch (const gpusync::no_such_device& reason) {
  std::printf("skipped: %s\n", reason.what());
  return 77;
}
