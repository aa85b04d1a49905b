// A ring of blocks in one kernel: heat flows along it, and in each step a block needs the two points beside its own,
// not a barrier of the whole grid. They are words of a halo, which a block publishes and its neighbours read. Checked
// on the host; a neighbour that does not come would be named.
#include <gpusync/gpusync.cuh>
#include <gpusync/neighbours/cuda.cuh>

#include <cstdio>
#include <vector>

constexpr unsigned blocks = 64, steps = 1000;

// Each block has a point.
__global__ void flow(gpusync::halo<float> halo, float* points) {
  halo.enter();
  float mine = points[blockIdx.x];
  const gpusync::halo_word beside[2] = {halo.word(0, 0), halo.word(1, 0)};  // word 0 of the block before and behind
  for (unsigned step = 0; step < steps; ++step) {
    if (threadIdx.x == 0) halo.put(0, mine);
    halo.send();
    halo.receive();
    float theirs[2];
    halo.get(beside, theirs);
    mine = 0.5f * mine + 0.25f * (theirs[0] + theirs[1]);
    halo.next();
  }
  if (threadIdx.x == 0) points[blockIdx.x] = mine;
}

int main() try {
  const gpusync::cuda_device gpu{0};
  gpusync::halo_storage<float> halo(gpu, gpusync::neighbourhood::ring(blocks), 1);

  std::vector<float> points(blocks, 0.0f);
  points[0] = 1.0f;
  const gpusync::cuda_buffer memory(gpu, blocks * sizeof(float));
  gpusync::check_cuda(cudaMemcpy(memory.address(), points.data(), blocks * sizeof(float), cudaMemcpyDefault),
                      "cudaMemcpy");
  gpusync::launch(gpu, nullptr, {blocks, 32}, flow, halo.halo(), static_cast<float*>(memory.address()));
  gpusync::synchronize(gpu);

  // The same, step by step.
  for (unsigned step = 0; step < steps; ++step) {
    const std::vector<float> from = points;
    for (unsigned b = 0; b < blocks; ++b) {
      points[b] = 0.5f * from[b] + 0.25f * (from[(b + blocks - 1) % blocks] + from[(b + 1) % blocks]);
    }
  }
  std::vector<float> found(blocks);
  gpusync::check_cuda(cudaMemcpy(found.data(), memory.address(), blocks * sizeof(float), cudaMemcpyDefault),
                      "cudaMemcpy");
  unsigned wrong = 0;
  for (unsigned b = 0; b < blocks; ++b) {
    const float difference = found[b] - points[b];
    wrong += difference * difference < 1e-10f ? 0 : 1;
  }
  std::printf("%u blocks, %u steps: %u points are wrong.\n", blocks, steps, wrong);
  return wrong == 0 ? 0 : 1;
} catch (const gpusync::no_such_device& none) {
  std::printf("%s\n", none.what());
  return 77;
} catch (const gpusync::error& failure) {
  std::printf("%s\n", failure.what());
  return 1;
}
