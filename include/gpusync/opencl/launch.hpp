// Checked launches on OpenCL devices.
#pragma once

#include <string>

#include <gpusync/opencl/residency.hpp>

namespace gpusync::opencl {

namespace detail {

inline std::string in_words(const cl::NDRange& range) {
  std::string text;
  for (size_t i = 0; i < range.dimensions(); ++i) text += (i == 0 ? "" : " x ") + std::to_string(range.get()[i]);
  return text.empty() ? "nothing" : text;
}

/// Work-groups of an NDRange; throws invalid_argument if it is not made of whole ones.
inline uint64_t count_groups(const cl::NDRange& global, const cl::NDRange& local) {
  uint64_t groups = global.dimensions() == local.dimensions() && global.dimensions() > 0 ? 1 : 0;
  for (size_t i = 0; i < global.dimensions() && groups != 0; ++i) {
    const size_t size = local.get()[i];
    groups = size == 0 || global.get()[i] % size != 0 ? 0 : groups * (global.get()[i] / size);
  }
  if (groups == 0) {
    throw invalid_argument("A global size of " + in_words(global) + " does not consist of whole work-groups of " +
                           in_words(local) + ". Make each dimension a positive multiple of the work-group's.");
  }
  return groups;
}

inline uint64_t items_of(const cl::NDRange& local) {
  uint64_t items = 1;
  for (size_t i = 0; i < local.dimensions(); ++i) items *= local.get()[i];
  return items;
}

}  // namespace detail

/// Throws not_co_resident, with the limit, if `groups` work-groups of `kernel` do not all run at once; see
/// resident_groups() for what it needs and costs.
inline void require_co_resident(const cl::CommandQueue& queue, const cl::Kernel& kernel, barrier_storage& storage,
                                uint64_t groups, const cl::NDRange& local) {
  const uint32_t limit = resident_groups(queue, kernel, storage, local);
  if (groups <= limit) return;
  throw not_co_resident(std::to_string(groups) + " work-groups of " + std::to_string(detail::items_of(local)) +
                            " work-items cannot all run at once on " + name_of(queue.getInfo<CL_QUEUE_DEVICE>()) +
                            ": at most " + std::to_string(limit) + " (found by trial). Use fewer work-groups.",
                        groups, limit);
}

/// Enqueues a kernel whose work-groups wait for each other, after making sure that they all run at once: a launch that
/// would wait for ever is refused. Returns the kernel's event.
///
/// The kernel must begin with `if (GPUSYNC_TRIAL(storage)) return;`, all its arguments must be set, the storage's
/// buffer among them; the queue must execute in order. The first launch of a kernel with a work-group size runs trials,
/// see resident_groups(); later ones return at once.
///
/// Throws invalid_argument if the shape is not made of whole work-groups or the storage is too small, not_co_resident
/// if there are too many work-groups, broken_barrier if a wait timed out in the launch before and that has ended,
/// opencl_failure if OpenCL refuses.
inline cl::Event launch(const cl::CommandQueue& queue, const cl::Kernel& kernel, barrier_storage& storage,
                        const cl::NDRange& global, const cl::NDRange& local) {
  const uint64_t groups = detail::count_groups(global, local);
  if (groups > storage.capacity()) {
    throw invalid_argument("The NDRange has " + std::to_string(groups) +
                           " work-groups, but the barrier's storage was made for " +
                           std::to_string(storage.capacity()) + ". Make a larger storage.");
  }
  storage.require_sound();
  require_co_resident(queue, kernel, storage, groups, local);
  return checked([&] {
    cl::Event event;
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, global, local, nullptr, &event);
    storage.note_launch(event);
    return event;
  });
}

/// Enqueues a kernel of any number of work-groups, in which those that run at once take part and the others leave: the
/// kernel begins with gpusync_discover() (see discovery.cl). A work-group that has not started when nobody else has
/// come for `discovery_time` is left out; that time is spent only if not all run at once. Returns the kernel's event;
/// afterwards storage.participants() says how many took part.
///
/// All of the kernel's arguments must be set, the storage's buffer among them; the queue must execute in order. Waits
/// for what is in the queue. Throws invalid_argument if the shape is not made of whole work-groups, broken_barrier as
/// launch(), opencl_failure if OpenCL refuses.
inline cl::Event launch_any(const cl::CommandQueue& queue, const cl::Kernel& kernel, barrier_storage& storage,
                            const cl::NDRange& global, const cl::NDRange& local,
                            std::chrono::nanoseconds discovery_time = std::chrono::milliseconds(1)) {
  const uint64_t groups = detail::count_groups(global, local);
  const uint64_t linger = ticks_for(queue, discovery_time);
  return checked([&] {
    queue.finish();
    storage.require_sound();
    storage.open_poll_for_launch(static_cast<uint32_t>(std::min<uint64_t>(groups, storage.capacity())), linger);
    cl::Event event;
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, global, local, nullptr, &event);
    storage.note_launch(event);
    return event;
  });
}

}  // namespace gpusync::opencl
