// The memory behind a barrier of work-groups.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gpusync/opencl/storage_layout.h>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/opencl/error.hpp>
#include <gpusync/opencl/registry.hpp>

namespace gpusync::opencl {

/// Owns the state of one barrier for NDRanges of up to `groups` work-groups on the queue's device. Set buffer() as the
/// kernel's storage argument. Reusable by one launch after another without a reset, unless a wait timed out; one
/// running kernel at a time. Not for use by two host threads at once.
class barrier_storage {
 public:
  /// For kernels with the text barrier_source(algorithm). Throws invalid_argument if the barrier cannot serve that many
  /// work-groups, opencl_failure if memory is short. `first_phase` is where the phases start (modulo 2^32, or 2^16
  /// where they lie in a phase_word); only tests of the wrap need another than 0.
  barrier_storage(const cl::CommandQueue& queue, uint32_t groups, const barrier_algorithm& algorithm = lock_based,
                  uint32_t first_phase = 0)
      : algorithm_(&algorithm), capacity_(groups), first_phase_(first_phase) {
    if (groups == 0 || groups > algorithm.max_groups) {
      throw invalid_argument("A " + std::string(algorithm.family) + " barrier serves 1 to " +
                             std::to_string(algorithm.max_groups) + " work-groups, not " + std::to_string(groups) +
                             ".");
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
  /// The barrier that it serves.
  const barrier_algorithm& algorithm() const { return *algorithm_; }
  /// Bytes of device memory.
  size_t bytes() const { return sizeof(cl_uint) * own_at() + algorithm_bytes(); }
  /// Of which the algorithm needs so many, and what all have in common the rest.
  size_t algorithm_bytes() const { return sizeof(cl_uint) * algorithm_->words(capacity_); }

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
      std::vector<cl_uint> own(algorithm_->words(capacity_), 0);
      algorithm_->start(own, first_phase_);
      queue_.enqueueFillBuffer(buffer_, cl_uint{0}, 0, bytes());
      write(GPUSYNC_AT_CAPACITY, static_cast<cl_uint>(stride()));
      queue_.enqueueWriteBuffer(buffer_, CL_TRUE, sizeof(cl_uint) * own_at(), sizeof(cl_uint) * own.size(), own.data());
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

  /// What a trial has found.
  struct trial_result {
    uint32_t together;   ///< work-groups that were there at the same time; 0 if the kernel does not take part in trials
    uint32_t algorithm;  ///< the number of the kernel's
  };

  /// Runs `trial()`, which must launch `groups` work-groups and wait for them, in trial mode (see discovery.cl). Used
  /// by resident_groups().
  template <class Trial>
  trial_result run_trial(uint32_t groups, uint64_t linger_ticks, Trial&& trial) {
    open_poll(groups, 0, linger_ticks);
    try {
      trial();
    } catch (...) {
      open_poll(0, 0, 0);
      throw;
    }
    const header found = checked([&] { return read_header(); });
    open_poll(0, 0, 0);
    return {found[GPUSYNC_AT_POLL_COUNT] & ~closed, found[GPUSYNC_AT_TRIAL_ALGORITHM]};
  }

  /// Prepares a launch in which those work-groups take part that run at once, at most `most` and at most capacity().
  /// Used by launch_any(). Blocking; precondition: no kernel uses the storage.
  void open_poll_for_launch(uint32_t most, uint64_t linger_ticks) {
    open_poll(0, std::min(most, capacity_), linger_ticks);
  }

  /// How many work-groups took part in the last launch by launch_any(). Precondition: it has ended. Blocking.
  uint32_t participants() const {
    return checked([&] { return read_header()[GPUSYNC_AT_POLL_COUNT] & ~closed; });
  }

  /// Numbers of resident work-groups already found, by kernel and shape.
  struct known_residency {
    cl::Kernel kernel;            ///< retained, so that no other kernel takes on its identity
    std::array<size_t, 3> local;  ///< work-items of a work-group, 1 in dimensions that it does not have
    cl_ulong local_memory;        ///< bytes that a work-group uses
    uint32_t groups;              ///< work-groups that run at once
  };
  /// Those that resident_groups() has found with this storage, which adds to them.
  std::vector<known_residency>& known_residencies() { return known_; }

 private:
  using header = std::array<cl_uint, GPUSYNC_AT_ARRIVED>;
  static constexpr cl_uint closed = 0x80000000u;

  size_t stride() const { return gpusync::detail::whole_lines(capacity_); }
  /// Where the algorithm's words begin.
  size_t own_at() const { return GPUSYNC_AT_ARRIVED + 3 * stride(); }

  header read_header() const {
    header words;
    queue_.enqueueReadBuffer(buffer_, CL_TRUE, 0, sizeof(words), words.data());
    return words;
  }

  void write(size_t at, cl_uint value) {
    queue_.enqueueFillBuffer(buffer_, value, at * sizeof(cl_uint), sizeof(value));
  }

  void open_poll(uint32_t trial, uint32_t most, uint64_t linger_ticks) {
    const cl_uint words[] = {trial, most, static_cast<cl_uint>(linger_ticks), static_cast<cl_uint>(linger_ticks >> 32)};
    checked([&] {
      queue_.enqueueFillBuffer(buffer_, cl_uint{0}, GPUSYNC_AT_POLL_TICKET * sizeof(cl_uint),
                               (GPUSYNC_AT_ARRIVED - GPUSYNC_AT_POLL_TICKET) * sizeof(cl_uint));
      queue_.enqueueWriteBuffer(buffer_, CL_TRUE, GPUSYNC_AT_TRIAL * sizeof(cl_uint), sizeof(words), words);
    });
  }

  const barrier_algorithm* algorithm_;
  uint32_t capacity_;
  uint32_t first_phase_;
  cl::CommandQueue queue_;
  cl::Buffer buffer_;
  cl::Event unchecked_launch_;
  std::vector<known_residency> known_;
};

}  // namespace gpusync::opencl
