// Workload "message floor": two multiprocessors send each other a message in turn, through flags in global memory,
// while all others are idle. No barrier can be faster than the slowest such message. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"

namespace gpusync::tool {

/// How messages are sent.
struct message_variant {
  bool ordered = true;   ///< flags are stored with release and, once seen, acquired; otherwise relaxed
  bool near = false;     ///< each flag lies on a line of its poller's partition of the L2 cache, otherwise anywhere
  bool payload = false;  ///< each message hands over a word besides, with plain accesses; needs `ordered`
};

/// What the pairs have seen.
struct message_times {
  std::vector<double> one_way_ns;  ///< for each pair, half a round trip on average
  uint64_t sent = 0;               ///< messages
  uint64_t wrong = 0;              ///< of which never came, or brought another word than was sent
};

/// The device side.
class message_floor_device {
 public:
  virtual ~message_floor_device() = default;
  /// Why `near` cannot be had, as a sentence; empty if it can.
  virtual std::string why_not_near() = 0;
  /// Every `stride`-th pair of multiprocessors, one after the other. `progress(fraction)` is called now and then and
  /// says whether to go on; without, what was measured so far is returned. Throws gpusync::error.
  virtual message_times measure(const message_variant& variant, uint32_t stride,
                                const std::function<bool(double)>& progress) = 0;
};

}  // namespace gpusync::tool
