// A device to test on, and the kernel with which barriers are tested.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <gpusync/opencl/opencl.hpp>

namespace gpusync::opencl::test {

/// The first OpenCL device; without one the tests are skipped.
class device_test : public testing::Test {
 protected:
  void SetUp() override {
    const auto devices = all_devices();
    if (devices.empty()) GTEST_SKIP() << "there is no OpenCL device here";
    device = devices.front();
    // One for all cases of a process: PoCL reads its library for kernels, ten megabytes, again in each that compiles
    // one.
    static const cl::Context shared(device);
    context = shared;
    queue = cl::CommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE);
  }

  bool is_pocl() const {
    return cl::Platform(device.getInfo<CL_DEVICE_PLATFORM>()).getInfo<CL_PLATFORM_NAME>() ==
           "Portable Computing Language";
  }

  cl::Kernel kernel(const std::string& text, const char* name, const barrier_method& method = {&lock_based},
                    const std::string& options = "") {
    return cl::Kernel(build(context, device, barrier_source(*method.algorithm, method.order) + text, options), name);
  }

  template <class T>
  T read(const cl::Buffer& buffer, size_t index = 0) {
    T value;
    queue.enqueueReadBuffer(buffer, CL_TRUE, index * sizeof(T), sizeof(T), &value);
    return value;
  }

  cl::Buffer zeroed_words(size_t words) {
    cl::Buffer buffer(context, CL_MEM_READ_WRITE, words * sizeof(cl_uint));
    queue.enqueueFillBuffer(buffer, cl_uint{0}, 0, words * sizeof(cl_uint));
    queue.finish();
    return buffer;
  }

  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
};

/// A method's name as GoogleTest accepts it.
inline std::string test_name(const testing::TestParamInfo<barrier_method>& info) {
  std::string name = info.param.name();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Every algorithm, with the ordering that most kernels take.
inline std::vector<barrier_method> default_methods() {
  std::vector<barrier_method> methods;
  for (const barrier_algorithm* algorithm : barrier_algorithms) methods.push_back({algorithm});
  return methods;
}

/// Each phase every work-item writes a word and, behind the barrier, checks that of its counterpart in the
/// next work-group.
inline const std::string ring_text = R"(
#ifdef WITHOUT_BARRIER
#define SYNC(grid)
#else
#define SYNC(grid) gpusync_sync(grid)
#endif

__kernel void ring(__global uint* storage, __global uint* words, __global uint* wrong, uint phases) {
  if (GPUSYNC_TRIAL(storage)) return;
  gpusync_barrier grid = gpusync_barrier_of(storage);
  const uint items = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
  const uint item = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
  const uint groups = gpusync_groups();
  const uint own = gpusync_group() * items + item;
  const uint next = (gpusync_group() + 1) % groups * items + item;
  uint found_wrong = 0;
  for (uint phase = 1; phase <= phases; ++phase) {
    __global uint* half_of_words = words + phase % 2 * groups * items;
    half_of_words[own] = phase * 2654435761u + own;
    SYNC(&grid);
    if (half_of_words[next] != phase * 2654435761u + next) ++found_wrong;
  }
  if (found_wrong != 0) atomic_add((volatile __global uint*)wrong, found_wrong);
}
)";

}  // namespace gpusync::opencl::test
