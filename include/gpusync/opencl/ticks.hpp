// Time as kernels know it.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>

#include <gpusync/opencl/calibrate_source.hpp>
#include <gpusync/opencl/program.hpp>

namespace gpusync::opencl {

namespace detail {

/// How many ticks a device's waits count in a nanosecond: 1 where the tick is a nanosecond, else found by timing the
/// very loop that waits. The fastest of several runs counts, so that limits are rather too long than too short.
inline double measure_ticks_per_nanosecond(const cl::Context& context, const cl::Device& device) {
  using clock = std::chrono::steady_clock;
  const cl::CommandQueue queue(context, device);
  const cl::Program program = build(context, device, barrier_source() + embedded::opencl_calibrate);
  cl::Kernel kernel(program, "gpusync_calibrate");
  cl_uint words[3] = {0, 0, 0};
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(words), words);
  kernel.setArg(0, buffer);
  const auto time = [&](cl_ulong ticks) {
    kernel.setArg(1, ticks);
    const auto start = clock::now();
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NDRange(1));
    queue.finish();
    return std::chrono::duration<double, std::nano>(clock::now() - start).count();
  };
  time(1);  // the first launch may compile
  queue.enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof(words), words);
  if (words[2] != 0) return 1.0;

  // Launching adds little to so long a wait, and what disturbs a run only makes it longer.
  constexpr double long_enough = 4e6;  // ns
  cl_ulong ticks = 1024;
  while (time(ticks) < long_enough) ticks *= 2;
  double shortest = time(ticks);
  for (int i = 0; i < 10; ++i) shortest = std::min(shortest, time(ticks));
  return static_cast<double>(ticks) / shortest;
}

}  // namespace detail

/// The limit to give to gpusync_wait_for() and gpusync_sync_for() on the queue's device: `span` in the device's ticks.
///
/// OpenCL C has no clock. On NVIDIA GPUs a tick is a nanosecond of the global timer. Elsewhere it is one poll, and the
/// first call for a device measures how long one takes when nothing disturbs it (some 50 ms): a limit then holds for at
/// least about `span`, longer when many work-groups poll or the processor is shared. Throws opencl_failure.
inline uint64_t ticks_for(const cl::CommandQueue& queue, std::chrono::nanoseconds span) {
  static std::mutex mutex;
  static std::map<cl_device_id, double> known;
  return checked([&] {
    const auto device = queue.getInfo<CL_QUEUE_DEVICE>();
    const std::lock_guard<std::mutex> lock(mutex);
    auto found = known.find(device());
    if (found == known.end()) {
      const double rate = detail::measure_ticks_per_nanosecond(queue.getInfo<CL_QUEUE_CONTEXT>(), device);
      found = known.emplace(device(), rate).first;
    }
    const double ticks = static_cast<double>(span.count()) * found->second;
    constexpr double most = static_cast<double>(std::numeric_limits<int64_t>::max() / 1024);
    return static_cast<uint64_t>(std::clamp(ticks, 1.0, most));
  });
}

}  // namespace gpusync::opencl
