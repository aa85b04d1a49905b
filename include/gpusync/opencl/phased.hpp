// Phased grids on OpenCL devices: their memory, and their launch.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gpusync/opencl/phased_layout.h>
#include <gpusync/opencl/launch.hpp>
#include <gpusync/opencl/phased_layout_source.hpp>
#include <gpusync/opencl/phased_source.hpp>
#include <gpusync/opencl/program.hpp>

namespace gpusync::opencl {

/// Who runs which virtual work-group: see the files of these names in gpusync/phased/.
enum class phased_schedule {
  striding,       ///< phased::striding: every P-th, the same in every phase
  claiming,       ///< phased::claiming: the next that nobody has begun, by a counter
  flag_claiming,  ///< phased::flag_claiming: the same by a flag each, and two barriers per phase
};
/// All of them.
inline constexpr phased_schedule phased_schedules[] = {phased_schedule::striding, phased_schedule::claiming,
                                                       phased_schedule::flag_claiming};

/// As in results: "flag-claiming".
inline const char* to_string(phased_schedule schedule) {
  switch (schedule) {
    case phased_schedule::striding: return "striding";
    case phased_schedule::claiming: return "claiming";
    case phased_schedule::flag_claiming: return "flag-claiming";
  }
  return "?";
}

/// The OpenCL C text of phased grids, to be put before a kernel's own: barrier_source() and phased.cl, which documents
/// what it defines. The storage must be made for the same algorithm. (For kernels that are compiled from files,
/// gpusync.cl has it if GPUSYNC_SCHEDULE is defined.)
inline std::string phased_source(phased_schedule schedule = phased_schedule::striding,
                                 const barrier_algorithm& algorithm = lock_based,
                                 ordering order = ordering::acquire_release) {
  std::string name = to_string(schedule);
  std::replace(name.begin(), name.end(), '-', '_');
  return barrier_source(algorithm, order) + "#define GPUSYNC_SCHEDULE " + name + "\n" + embedded::opencl_phased_layout +
         "\n" + embedded::opencl_phased + "\n#line 1\n";
}

namespace detail {
inline uint32_t at_least_one(uint32_t virtual_groups) {
  if (virtual_groups != 0) return virtual_groups;
  throw invalid_argument("A phased grid has at least one virtual work-group, not 0.");
}
}  // namespace detail

/// Owns the state of one phased grid of up to `virtual_groups` virtual work-groups on the queue's device, for any
/// schedule. Reusable by one launch after another without a reset, unless a wait timed out; one running kernel at a
/// time. Not for use by two host threads at once.
class phased_storage {
 public:
  /// For kernels with the text phased_source(…, algorithm). Throws invalid_argument for no virtual work-groups,
  /// opencl_failure if memory is short.
  phased_storage(const cl::CommandQueue& queue, uint32_t virtual_groups,
                 const barrier_algorithm& algorithm = lock_based)
      : capacity_(detail::at_least_one(virtual_groups)),
        barrier_(queue, std::min(virtual_groups, algorithm.max_groups), algorithm) {
    checked([&] { words_ = cl::Buffer(queue.getInfo<CL_QUEUE_CONTEXT>(), CL_MEM_READ_WRITE, words_bytes()); });
    clear(queue);
  }

  /// The most virtual work-groups.
  uint32_t capacity() const { return capacity_; }
  /// The barrier's storage, the kernel's first argument.
  barrier_storage& barrier() { return barrier_; }
  /// The same for readers.
  const barrier_storage& barrier() const { return barrier_; }
  /// The kernel's second argument.
  const cl::Buffer& words() const { return words_; }
  /// Bytes of device memory.
  size_t bytes() const { return barrier_.bytes() + words_bytes(); }

  /// How many resident work-groups ran the last launch. Precondition: it has ended. Blocking.
  uint32_t resident() const { return barrier_.participants(); }

  /// The resident work-groups that a timed-out wait missed, with the barrier's phase (flag_claiming has two barriers
  /// per phase of the grid); empty if none timed out. Precondition: the kernel has ended. Blocking.
  std::vector<missing_block> missing() const { return barrier_.missing(); }

  /// Back to the first state. Needed after a wait timed out. Precondition: no kernel uses the storage. Blocking.
  void reset(const cl::CommandQueue& queue) {
    barrier_.reset();
    clear(queue);
  }

 private:
  size_t words_bytes() const { return sizeof(cl_uint) * (GPUSYNC_AT_FLAGS + size_t{capacity_}); }
  void clear(const cl::CommandQueue& queue) {
    checked([&] {
      queue.enqueueFillBuffer(words_, cl_uint{0}, 0, words_bytes());
      queue.finish();
    });
  }

  uint32_t capacity_;
  barrier_storage barrier_;
  cl::Buffer words_;
};

/// Enqueues a kernel that begins with gpusync_phased_enter(): as many work-groups as run at once, at most `resident` if
/// that is not 0, which work on `virtual_groups` virtual ones. Sets the kernel's first two arguments; all others must
/// be set. Returns the kernel's event; afterwards storage.resident() says how many took part.
///
/// Never refuses a grid for its size, and needs no knowledge of how many run at once: trials find it out, once per
/// kernel and work-group size (see resident_groups()). Should fewer be there in a launch, because the device has other
/// work, these do it all once `discovery_time` has passed without a newcomer; it is spent only then.
/// The queue must execute in order; waits for what is in it. Throws invalid_argument for an empty grid or one beyond
/// the storage's capacity, broken_barrier if a wait timed out in an earlier launch, opencl_failure if OpenCL refuses.
inline cl::Event launch_phased(const cl::CommandQueue& queue, cl::Kernel& kernel, phased_storage& storage,
                               uint32_t virtual_groups, const cl::NDRange& local, uint32_t resident = 0,
                               std::chrono::nanoseconds discovery_time = std::chrono::milliseconds(20)) {
  if (virtual_groups == 0 || virtual_groups > storage.capacity()) {
    throw invalid_argument("A phased grid of " + std::to_string(virtual_groups) +
                           " virtual work-groups cannot be launched: this storage was made for 1 to " +
                           std::to_string(storage.capacity()) + ".");
  }
  checked([&] {
    kernel.setArg(0, storage.barrier().buffer());
    kernel.setArg(1, storage.words());
  });
  storage.barrier().require_sound();
  const uint32_t fitting = resident_groups(queue, kernel, storage.barrier(), local);
  const size_t groups = std::min({virtual_groups, fitting, resident == 0 ? fitting : resident});
  checked([&] {
    queue.enqueueFillBuffer(storage.words(), cl_uint{virtual_groups}, sizeof(cl_uint) * GPUSYNC_AT_VIRTUAL_GROUPS,
                            sizeof(cl_uint));
  });
  const size_t x = local.get()[0] * groups;
  const cl::NDRange global = local.dimensions() == 1   ? cl::NDRange(x)
                             : local.dimensions() == 2 ? cl::NDRange(x, local.get()[1])
                                                       : cl::NDRange(x, local.get()[1], local.get()[2]);
  return launch_any(queue, kernel, storage.barrier(), global, local, discovery_time);
}

}  // namespace gpusync::opencl
