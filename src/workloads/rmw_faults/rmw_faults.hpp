// Workload "rmw faults": participants of a wait-free object that stop for ever, or for long, at a chosen step of a
// call. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gpusync/rmw/machine.hpp>
#include <gpusync/rmw/operations.hpp>

#include "boundary/device_side.hpp"

namespace gpusync::tool {

enum class fault_kind {
  none,   ///< nobody is hindered
  crash,  ///< a victim ends in the middle of its call
  stall,  ///< a victim waits in the middle of its call until all others have made all of theirs, then goes on
};

/// An object that is called.
struct fault_object {
  std::string method;  ///< its policy
  rmw::space where = rmw::space::global;
  uint32_t participants = 5;
  /// What is proved of a call (basic_rmw_object::max_passes, max_steps).
  uint64_t passes_bound = 0, accesses_bound = 0;
};

/// One run.
struct fault_case {
  fault_object object;
  uint32_t victims = 0;  ///< the first so many of its participants
  fault_kind kind = fault_kind::none;
  uint32_t in_call = 0;  ///< from 0, the victims' call in which it happens
  uint32_t at_step = 1;  ///< from 1, the call's access to memory before which it happens; what a warp accesses with one
                         ///< instruction is one
  uint32_t calls = 6;    ///< by each
  uint32_t seed = 1;
};

/// One call, as it was seen. Begin and end are numbers from one counter that all participants draw from.
struct fault_call {
  rmw::named_operation<uint32_t> operation;
  uint32_t answer = 0;
  uint32_t begin = 0, end = 0;
  bool begun = false, ended = false;
  uint32_t passes = 0;    ///< how often it looked at a decided state after it had announced itself
  uint32_t accesses = 0;  ///< words accessed
};

struct fault_result {
  std::vector<std::vector<fault_call>> calls;  ///< by participant
  uint32_t first_state = 0, last_state = 0;
  uint32_t struck = 0;  ///< victims that came to that step
};

/// The operation that a participant makes in a call. With an odd seed all are additions, of another large amount for
/// each participant, so that a state tells who has been there how often; else any of the eight, with small numbers.
GPUSYNC_HD inline rmw::named_operation<uint32_t> fault_operation(uint32_t seed, uint32_t participant, uint32_t call) {
  const bool adds = seed % 2 != 0;
  uint32_t bits = (seed * 0x9e3779b1u) ^ ((participant + 1) * 0x85ebca77u) ^ (adds ? 0 : call * 0xc2b2ae3du);
  bits ^= bits >> 15;
  bits *= 0x2c1b3c6du;
  bits ^= bits >> 12;
  if (adds) return rmw::named_operation<uint32_t>::make(rmw::operation_kind::add, bits | 1);
  return rmw::named_operation<uint32_t>::make(static_cast<rmw::operation_kind>(bits % 8), bits >> 8 & 7,
                                              bits >> 16 & 7);
}

/// The device side.
class rmw_faults_device {
 public:
  virtual ~rmw_faults_device() = default;
  virtual std::vector<fault_object> objects() const = 0;
  /// One of these. Throws gpusync::error if the launch fails, stuck_launch if it has not ended in 20 s.
  virtual fault_result run(const fault_case& what) = 0;
};

}  // namespace gpusync::tool
