// The memory behind a barrier of work-groups.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <gpusync/opencl/storage_layout.h>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/core/phase.hpp>
#include <gpusync/opencl/error.hpp>

namespace gpusync::opencl {

/// Owns the state of one barrier for NDRanges of up to `groups` work-groups on the queue's device. Set buffer() as the
/// kernel's storage argument. Reusable by one launch after another without a reset, unless a wait timed out; one
/// running kernel at a time. Not for use by two host threads at once.
class barrier_storage {
 public:
  /// Throws invalid_argument if a barrier cannot serve that many work-groups, opencl_failure if memory is short.
  /// `first_phase` is where the phase counter starts (modulo 2^16); only tests of the wrap need another than 0.
  barrier_storage(const cl::CommandQueue& queue, uint32_t groups, uint32_t first_phase = 0)
      : capacity_(groups), first_phase_(first_phase) {
    if (groups == 0 || groups > phase_word::max_blocks) {
      throw invalid_argument("A lock-based barrier serves 1 to " + std::to_string(phase_word::max_blocks) +
                             " work-groups, not " + std::to_string(groups) + ".");
    }
    checked([&] {
      const auto context = queue.getInfo<CL_QUEUE_CONTEXT>();
      // A queue of its own: what the host asks of the storage never waits for the user's kernels.
      queue_ = cl::CommandQueue(context, queue.getInfo<CL_QUEUE_DEVICE>());
      buffer_ = cl::Buffer(context, CL_MEM_READ_WRITE, bytes());
    });
    reset();
  }

  /// What a kernel takes as its `__global uint* storage`.
  const cl::Buffer& buffer() const { return buffer_; }
  /// The most work-groups that this storage serves.
  uint32_t capacity() const { return capacity_; }
  /// Bytes of device memory.
  size_t bytes() const { return sizeof(cl_uint) * (GPUSYNC_AT_ARRIVED + 3 * stride()); }

  /// The work-groups (`block`: their rank) that a timed-out wait missed, with the phase; empty if none timed out.
  /// Precondition: the kernel has ended (OpenCL lets the host read nothing before that). Blocking.
  std::vector<missing_block> missing() const {
    return checked([&] {
      const header found = read_header();
      std::vector<missing_block> list;
      if (found[GPUSYNC_AT_REPORT] == 0) return list;
      std::vector<cl_uint> groups(found[GPUSYNC_AT_REPORT_MISSING]);
      if (groups.empty()) return list;
      queue_.enqueueReadBuffer(buffer_, CL_TRUE, sizeof(cl_uint) * (GPUSYNC_AT_ARRIVED + 2 * stride()),
                               sizeof(cl_uint) * groups.size(), groups.data());
      for (const cl_uint group : groups) list.push_back({group, found[GPUSYNC_AT_REPORT_PHASE]});
      return list;
    });
  }

  /// Back to the first state. Needed after a wait timed out. Precondition: no kernel uses the storage. Blocking.
  void reset() {
    checked([&] {
      queue_.enqueueFillBuffer(buffer_, cl_uint{0}, 0, bytes());
      write(GPUSYNC_AT_COUNTER, phase_word::start_of(first_phase_));
      write(GPUSYNC_AT_CAPACITY, static_cast<cl_uint>(stride()));
      queue_.finish();
    });
    unchecked_launch_ = {};
  }

  /// Throws broken_barrier if a wait timed out in the last noted launch and that launch has ended; does not wait for
  /// it.
  void require_sound() {
    checked([&] {
      if (unchecked_launch_() == nullptr) return;
      if (unchecked_launch_.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() > CL_COMPLETE) return;
      const header found = read_header();
      if (found[GPUSYNC_AT_REPORT] != 0) {
        throw broken_barrier("A wait on this barrier timed out in phase " +
                             std::to_string(found[GPUSYNC_AT_REPORT_PHASE]) +
                             " of an earlier launch, so its count is in the middle of a phase. Call reset() on its "
                             "storage first.");
      }
      unchecked_launch_ = {};
    });
  }
  /// Remembers the last launch for require_sound().
  void note_launch(const cl::Event& launch) { unchecked_launch_ = launch; }

  /// Runs `trial()`, which must launch `groups` work-groups and wait for them, in trial mode (see trial.cl). Returns
  /// how many were there at the same time; 0 if the kernel does not take part in trials. Used by resident_groups().
  template <class Trial>
  uint32_t run_trial(uint32_t groups, uint64_t linger_ticks, Trial&& trial) {
    write_trial({groups, static_cast<cl_uint>(linger_ticks), static_cast<cl_uint>(linger_ticks >> 32)});
    try {
      trial();
    } catch (...) {
      write_trial({0, 0, 0});
      throw;
    }
    const header found = checked([&] { return read_header(); });
    write_trial({0, 0, 0});
    return found[GPUSYNC_AT_TRIAL_TOGETHER];
  }

  /// Numbers of resident work-groups already found, by kernel and shape.
  struct known_residency {
    cl::Kernel kernel;  // retained, so that no other kernel takes on its identity
    std::array<size_t, 3> local;
    cl_ulong local_memory;
    uint32_t groups;
  };
  std::vector<known_residency>& known_residencies() { return known_; }

 private:
  using header = std::array<cl_uint, GPUSYNC_AT_ARRIVED>;

  size_t stride() const {
    return (size_t{capacity_} + GPUSYNC_LINE_WORDS - 1) / GPUSYNC_LINE_WORDS * GPUSYNC_LINE_WORDS;
  }

  header read_header() const {
    header words;
    queue_.enqueueReadBuffer(buffer_, CL_TRUE, 0, sizeof(words), words.data());
    return words;
  }

  void write(size_t at, cl_uint value) {
    queue_.enqueueFillBuffer(buffer_, value, at * sizeof(cl_uint), sizeof(value));
  }

  void write_trial(const std::array<cl_uint, 3>& words) {
    checked([&] {
      queue_.enqueueFillBuffer(buffer_, cl_uint{0}, GPUSYNC_AT_TRIAL_STARTED * sizeof(cl_uint), 2 * sizeof(cl_uint));
      queue_.enqueueWriteBuffer(buffer_, CL_TRUE, GPUSYNC_AT_TRIAL * sizeof(cl_uint), sizeof(words), words.data());
    });
  }

  uint32_t capacity_;
  uint32_t first_phase_;
  cl::CommandQueue queue_;
  cl::Buffer buffer_;
  cl::Event unchecked_launch_;
  std::vector<known_residency> known_;
};

}  // namespace gpusync::opencl
