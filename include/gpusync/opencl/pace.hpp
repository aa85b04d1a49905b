// Windows over the work-groups of a launch.
#pragma once

#include <array>
#include <chrono>
#include <string>

#include <gpusync/opencl/pace_layout.h>
#include <gpusync/opencl/launch.hpp>
#include <gpusync/opencl/pace_layout_source.hpp>
#include <gpusync/opencl/pace_source.hpp>
#include <gpusync/opencl/ticks.hpp>
#include <gpusync/pace/window_storage.hpp>

namespace gpusync::opencl {

/// The OpenCL C text of windows and GPUSYNC_PACE(), to be put before a kernel's own; see pace.cl. Together with a
/// barrier: put pace_text() behind barrier_source().
inline std::string pace_source() {
  std::string text;
  for (const char* part : {embedded::opencl_storage_layout, embedded::opencl_memory, embedded::opencl_wait,
                           embedded::opencl_pace_layout, embedded::opencl_pace}) {
    text += part;
    text += '\n';
  }
  return text + "#line 1\n";
}
/// What pace_source() adds to barrier_source().
inline std::string pace_text() {
  return std::string(embedded::opencl_pace_layout) + "\n" + embedded::opencl_pace + "\n#line 1\n";
}

/// Owns the counters of a window over work-groups, of any number. Set buffer() as the kernel's storage argument.
/// Reusable by one launch after another; launch() clears it before each.
class window_storage {
 public:
  /// A lead of 1 to 4,096 epochs. `limit`: how long a work-group waits in one epoch at most before it gives up pacing;
  /// longer than an epoch. Throws invalid_argument for another lead, opencl_failure if memory is short.
  explicit window_storage(const cl::CommandQueue& queue, uint64_t lead = 2,
                          std::chrono::nanoseconds limit = std::chrono::milliseconds(20))
      : lead_(gpusync::detail::require_lead(lead)) {
    const uint64_t ticks = ticks_for(queue, limit);
    head_[GPUSYNC_WINDOW_AT_LEAD] = lead_;
    head_[GPUSYNC_WINDOW_AT_SLOTS] = slots();
    head_[GPUSYNC_WINDOW_AT_LIMIT_LOW] = static_cast<cl_uint>(ticks);
    head_[GPUSYNC_WINDOW_AT_LIMIT_HIGH] = static_cast<cl_uint>(ticks >> 32);
    checked([&] {
      const auto context = queue.getInfo<CL_QUEUE_CONTEXT>();
      buffer_ = cl::Buffer(context, CL_MEM_READ_WRITE, bytes());
    });
  }

  /// What a kernel takes as its `__global uint* storage`.
  const cl::Buffer& buffer() const { return buffer_; }
  /// Epochs that a work-group may be ahead of the slowest.
  uint32_t lead() const { return lead_; }
  /// Bytes of device memory.
  size_t bytes() const { return sizeof(cl_uint) * (GPUSYNC_WINDOW_AT_COUNTERS + GPUSYNC_LINE_WORDS * size_t{slots()}); }

  /// Queues what a launch needs before it: counters of zero. For those who enqueue kernels themselves. The storage must
  /// stay where it is until the queue has done it.
  void enqueue_clear(const cl::CommandQueue& queue) const {
    checked([&] {
      queue.enqueueFillBuffer(buffer_, cl_uint{0}, 0, bytes());
      queue.enqueueWriteBuffer(buffer_, CL_FALSE, 0, sizeof(head_), head_.data());
    });
  }

  /// How many work-groups of the last launch have given up pacing. Precondition: it has ended, or `queue` executes in
  /// order and has it. Blocking.
  uint32_t given_up(const cl::CommandQueue& queue) const {
    return checked([&] {
      cl_uint count = 0;
      queue.enqueueReadBuffer(buffer_, CL_TRUE, GPUSYNC_WINDOW_AT_GIVEN_UP * sizeof(cl_uint), sizeof(count), &count);
      return count;
    });
  }

 private:
  uint32_t slots() const { return gpusync::detail::window_places::slots_for(lead_); }

  uint32_t lead_;
  std::array<cl_uint, GPUSYNC_WINDOW_HEAD> head_{};
  cl::Buffer buffer_;
};

/// Enqueues a kernel with a window, of any number of work-groups. All its arguments must be set, the storage's buffer
/// among them; the queue must execute in order. Returns the kernel's event. Throws invalid_argument if the shape is not
/// made of whole work-groups, opencl_failure if OpenCL refuses.
inline cl::Event launch(const cl::CommandQueue& queue, const cl::Kernel& kernel, const window_storage& storage,
                        const cl::NDRange& global, const cl::NDRange& local) {
  (void)detail::count_groups(global, local);
  storage.enqueue_clear(queue);
  return checked([&] {
    cl::Event event;
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, global, local, nullptr, &event);
    return event;
  });
}

}  // namespace gpusync::opencl
