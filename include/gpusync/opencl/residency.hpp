// How many work-groups of a kernel run at once on a device: discovered on the device, since no query of OpenCL tells.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include <gpusync/opencl/probe_source.hpp>
#include <gpusync/opencl/storage.hpp>
#include <gpusync/opencl/ticks.hpp>

namespace gpusync::opencl {

namespace detail {

/// Trials of one kernel at one work-group size.
class residency_trials {
 public:
  residency_trials(const cl::CommandQueue& queue, const cl::Kernel& kernel, barrier_storage& storage,
                   const cl::NDRange& local)
      : queue_(queue), kernel_(kernel), storage_(storage), local_(local) {
    linger_ = ticks_for(queue, std::chrono::milliseconds(5));
    const auto device = queue.getInfo<CL_QUEUE_DEVICE>();
    expected_ = std::max<uint32_t>(2, device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
  }

  /// Whether a trial sees so many at once. As find(), it throws where the kernel does not turn aside.
  bool sees(uint32_t groups) {
    require_trial_line();
    return run(groups, linger_).together == groups;
  }

  /// The largest number of work-groups of which a trial has seen all at once.
  uint32_t find() {
    require_trial_line();
    uint32_t together = 1;  // launched and all there at the same time
    uint32_t limit = phase_word::max_blocks;
    for (uint32_t groups = std::min(expected_, limit); groups > together;) {
      const uint32_t peak = most_live(groups);
      if (peak == groups) {
        together = groups;
        groups = std::min(limit, 2 * groups);
      } else {
        // A device may spread other numbers of work-groups differently, so a peak is believed when a launch of exactly
        // that many was there as a whole.
        limit = peak;
        groups = peak;
      }
    }
    return together;
  }

 private:
  /// The kernel must turn aside in trials; one work-group tells, for it cannot wait for others.
  void require_trial_line() {
    const auto found = run(1, linger_);
    if (found.together == 1) {
      if (found.algorithm == storage_.algorithm().number) return;
      throw invalid_argument("The kernel " + kernel_.getInfo<CL_KERNEL_FUNCTION_NAME>() +
                             " was built with the text of another barrier than " + storage_.algorithm().family +
                             ", which its storage was made for. Give barrier_source() and barrier_storage the same "
                             "algorithm.");
    }
    throw invalid_argument(
        "The kernel " + kernel_.getInfo<CL_KERNEL_FUNCTION_NAME>() +
        " took no notice of a trial of how many of its work-groups run at once, and has run with one "
        "work-group instead. Begin it with `if (GPUSYNC_TRIAL(storage)) return;` and set that argument "
        "to the buffer of the storage given to the launch.");
  }

  /// The most of `groups` work-groups that are there at the same time. All of them end a trial at once. With fewer, the
  /// trial repeats and waits four times as long until the number no longer grows; and it is suspicious if compute units
  /// stay without a work-group, which happens while the system has not yet given the driver's threads a processor.
  uint32_t most_live(uint32_t groups) {
    constexpr int most_trials = 4;
    uint64_t linger = linger_;
    uint32_t peak = 0;
    for (int trial = 0; trial < most_trials; ++trial, linger *= 4) {
      const uint32_t seen = run(groups, linger).together;
      if (seen >= groups) return groups;
      const bool grown = seen > peak;
      peak = std::max(peak, seen);
      if (trial > 0 && !grown && peak >= std::min(groups, expected_)) break;
    }
    return peak;
  }

  barrier_storage::trial_result run(uint32_t groups, uint64_t linger) {
    return storage_.run_trial(groups, linger, [&] {
      const size_t x = local_.get()[0] * groups;
      const cl::NDRange global = local_.dimensions() == 1   ? cl::NDRange(x)
                                 : local_.dimensions() == 2 ? cl::NDRange(x, local_.get()[1])
                                                            : cl::NDRange(x, local_.get()[1], local_.get()[2]);
      queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, global, local_);
      queue_.finish();
    });
  }

  const cl::CommandQueue& queue_;
  const cl::Kernel& kernel_;
  barrier_storage& storage_;
  const cl::NDRange& local_;
  uint64_t linger_;
  uint32_t expected_;
};

/// What was found on a CPU so far. There a work-group occupies a thread of the driver and nothing else, so that
/// kernels differ in what they compute and not in how many of their work-groups run at once.
class residency_of_cpus {
 public:
  static residency_of_cpus& all() {
    static residency_of_cpus only;
    return only;
  }
  /// 0 if nothing was, or if this is no CPU.
  uint32_t on(const cl::Device& device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = found_.find(device());
    return found == found_.end() ? 0 : found->second;
  }
  void note(const cl::Device& device, uint32_t groups) {
    if ((device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    found_[device()] = groups;
  }

 private:
  std::mutex mutex_;
  std::map<cl_device_id, uint32_t> found_;
};

}  // namespace detail

/// How many work-groups of `kernel`, of size `local`, run at once on the queue's device: a number that was really seen,
/// so never too large as long as nothing else takes the device's room, and at most 65,535. Never hangs.
///
/// Found by trial launches of the kernel itself (see discovery.cl), once per kernel, work-group size and local memory,
/// and remembered in `storage` (which must be the kernel's storage argument; its capacity does not matter). All
/// arguments of the kernel must be set; in trials it touches nothing but the storage. Blocking: waits for what is in
/// the queue, then takes some 50 ms, more on a busy processor; on a CPU a millisecond for all kernels but a process's
/// first, of which it is enough to see once that as many run. Throws invalid_argument if the kernel does not begin
/// with GPUSYNC_TRIAL or is of another algorithm than the storage, opencl_failure if OpenCL refuses.
inline uint32_t resident_groups(const cl::CommandQueue& queue, const cl::Kernel& kernel, barrier_storage& storage,
                                const cl::NDRange& local) {
  return checked([&] {
    const auto device = queue.getInfo<CL_QUEUE_DEVICE>();
    std::array<size_t, 3> shape{1, 1, 1};
    for (size_t i = 0; i < local.dimensions(); ++i) shape[i] = local.get()[i];
    const auto local_memory = kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device);
    for (const auto& known : storage.known_residencies()) {
      if (known.kernel() == kernel() && known.local == shape && known.local_memory == local_memory) return known.groups;
    }
    queue.finish();
    detail::residency_trials trials(queue, kernel, storage, local);
    auto& cpus = detail::residency_of_cpus::all();
    uint32_t groups = cpus.on(device);
    if (groups == 0 || !trials.sees(groups)) {
      groups = trials.find();
      cpus.note(device, groups);
    }
    storage.known_residencies().push_back({kernel, shape, local_memory, groups});
    return groups;
  });
}

/// How many work-groups of `local` work-items that each use `local_memory` bytes of local memory run at once on the
/// queue's device: as resident_groups(), for a kernel of that shape that uses few registers, so the most that any
/// kernel of that shape can expect. Throws opencl_failure if OpenCL refuses the shape.
inline uint32_t discover_groups(const cl::CommandQueue& queue, const cl::NDRange& local, size_t local_memory = 0) {
  return checked([&] {
    const cl::Program program = build(queue.getInfo<CL_QUEUE_CONTEXT>(), queue.getInfo<CL_QUEUE_DEVICE>(),
                                      barrier_source() + embedded::opencl_probe);
    cl::Kernel probe(program, "gpusync_probe");
    barrier_storage storage(queue, 1);
    probe.setArg(0, storage.buffer());
    probe.setArg(1, cl::Local(std::max(local_memory, 2 * sizeof(cl_uint))));
    return resident_groups(queue, probe, storage, local);
  });
}

}  // namespace gpusync::opencl
