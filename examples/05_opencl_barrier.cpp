// A barrier of all work-groups on an OpenCL device: Jacobi relaxation of a rod whose ends are kept hot and
// cold, all steps in one kernel.
#include <gpusync/opencl/opencl.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int points = 4000;
constexpr int steps = 1000;
constexpr size_t items = 64;  // in a work-group

const std::string relax_text = R"(
__kernel void relax(__global uint* storage, __global float* from, __global float* to, int points, int steps) {
  if (GPUSYNC_TRIAL(storage)) return;                // first line of every kernel with a barrier
  gpusync_barrier grid = gpusync_barrier_of(storage);
  const int first = (int)get_global_id(0) + 1, stride = (int)get_global_size(0);
  for (int step = 0; step < steps; ++step) {
    for (int i = first; i < points - 1; i += stride) to[i] = 0.5f * (from[i - 1] + from[i + 1]);
    gpusync_sync(&grid);                             // every work-group sees every work-group's writes
    __global float* old = from;
    from = to;
    to = old;
  }
}
)";

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

}  // namespace

int main() {
  namespace ocl = gpusync::opencl;
  const auto devices = ocl::all_devices();
  if (devices.empty()) {
    std::printf("skipped: there is no OpenCL device.\n");
    return 77;
  }
  const cl::Device& device = devices.front();
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  cl::Kernel relax(ocl::build(context, device, ocl::barrier_source() + relax_text), "relax");

  std::vector<float> result = rod();
  const size_t bytes = result.size() * sizeof(float);
  const cl::Buffer a(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, result.data());
  const cl::Buffer b(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, result.data());
  ocl::barrier_storage storage(queue, 64);
  relax.setArg(0, storage.buffer());
  relax.setArg(1, a);
  relax.setArg(2, b);
  relax.setArg(3, cl_int{points});
  relax.setArg(4, cl_int{steps});

  // As many work-groups as run at once, found by trial: OpenCL has no query for it.
  const size_t groups = std::min(ocl::resident_groups(queue, relax, storage, cl::NDRange(items)), storage.capacity());
  ocl::launch(queue, relax, storage, cl::NDRange(groups * items), cl::NDRange(items));

  // An even number of steps ends in `a`.
  queue.enqueueReadBuffer(a, CL_TRUE, 0, bytes, result.data());
  const bool right = result == relax_on_the_host();
  std::printf("%d steps of %d points by %zu work-groups of %s: %s as on the host.\n", steps, points, groups,
              ocl::name_of(device).c_str(), right ? "the same" : "NOT the same");
  return right ? 0 : 1;
}
