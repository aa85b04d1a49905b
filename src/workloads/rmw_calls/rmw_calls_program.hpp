// Programs of workload "rmw calls" on CUDA devices, whatever the object that is called. Needs no nvcc.
#pragma once

#include <functional>
#include <vector>

#include "boundary/cuda_target.hpp"
#include "workloads/rmw_calls/counted_calls.hpp"

namespace gpusync::tool {

struct call_task {
  uint64_t* words;  ///< of the object, in global memory; of one in shared memory where to copy it in the end
  call_record* records;
  rmw::operation_kind kind;
  uint32_t participants;
  uint32_t calls;  ///< by each
  bool timed;      ///< each call by itself
};

/// Memory that all programs of a workload use in turn: places for an object, spread over the L2 cache, because the way
/// to it is longer from some multiprocessors than from others.
class call_places {
 public:
  static constexpr uint32_t count = 8;

  call_places(const cuda_target& where, size_t bytes, uint32_t participants)
      : stride_((bytes + 4095) / 4096 * 4096 + 128 * 37),
        words_(where.device(), count * stride_, where.stream()),
        records_(where.device(), participants * sizeof(call_record), where.stream()) {}

  uint64_t* words(uint32_t place) const {
    return reinterpret_cast<uint64_t*>(static_cast<char*>(words_.address()) + place % count * stride_);
  }
  call_record* records() const { return static_cast<call_record*>(records_.address()); }

 private:
  size_t stride_;
  cuda_buffer words_;
  cuda_buffer records_;
};

/// An object, as its words.
struct call_object {
  /// As they are before the first call, if `all` calls of that kind are to be made.
  std::vector<uint64_t> (*first_words)(rmw::operation_kind kind, uint32_t all);
  /// The state that they hold when all calls have ended, as a number.
  uint32_t (*state)(const uint64_t* words);
  /// Enqueues a run.
  std::function<void(call_task task)> start;
};

/// One policy for so many participants.
class call_program : public counted_calls {
 public:
  call_program(const cuda_target& where, const call_places& places, const call_setup& setup, uint32_t participants,
               call_object object)
      : counted_calls(setup, participants), where_(where), places_(places), object_(std::move(object)) {}

 private:
  double run_once() override;

  const cuda_target& where_;
  const call_places& places_;
  const call_object object_;
};

}  // namespace gpusync::tool
