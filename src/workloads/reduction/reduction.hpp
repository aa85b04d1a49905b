// Workload "reduction": sums over a whole device, one after the other, each checked exactly. C++17: CUDA sources
// include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// What is summed again and again.
struct reduction_problem {
  bool wide = false;      ///< double, else float
  uint64_t elements = 1;  ///< of one sum
  uint32_t offset = 0;    ///< elements between a boundary of 256 bytes and the first
  bool cached = false;    ///< the same input again and again; else every sum finds its input in no cache
  std::string passing;    ///< how one sum follows the other: method_names::host_wait, relaunch or graph
  uint64_t first = 0;     ///< the index of the memory's first element: inputs on several GPUs differ

  uint64_t bytes() const { return elements * (wide ? 8 : 4); }
};

/// An element of an input, from -8 to 8: sums are whole numbers that float and double hold exactly in any order, up to
/// some 10^12 elements (a random walk of that length stays far below 2^24).
#if defined(__CUDACC__)
__host__ __device__
#endif
    constexpr int
    reduction_element(uint64_t index) {
  uint64_t bits = index * 0x9e3779b97f4a7c15u;
  bits ^= bits >> 29;
  bits *= 0xbf58476d1ce4e5b9u;
  bits ^= bits >> 32;
  return static_cast<int>(bits % 17) - 8;
}

/// The sum of those of indices `first` to `first + count - 1`.
int64_t reduction_sum(uint64_t first, uint64_t count);

/// How inputs lie in memory, so that sums find them in no cache, or all in one.
struct reduction_layout {
  uint64_t stride;  ///< bytes from one input to the next
  uint32_t pieces;  ///< inputs
  uint32_t nodes;   ///< sums of a graph that is replayed
  uint32_t most;    ///< sums of a run

  uint64_t bytes() const { return stride * pieces; }
};

/// The layout for a problem where `memory` bytes may be taken. Inputs lie at least 16 KiB apart; there are so many that
/// a run which comes back to the first has read 1 GiB since, or so few sums in a run that none comes back, as far as
/// the memory goes.
reduction_layout layout_of(const reduction_problem& problem, uint64_t memory);

/// What the method is called that sums by one plan alone, from the plan's words in a tuning table: "messages.512.8".
std::string name_of_plan(const std::string& words);
/// These words; empty if the method is none of those.
std::string words_of_plan(const std::string& method);

/// The device side.
class reduction_device {
 public:
  virtual ~reduction_device() = default;
  /// Sums under each of its methods, which are not ways to wait but ways to sum; a step is one sum. It must not outlive
  /// this object. Throws invalid_argument if memory is short.
  virtual std::unique_ptr<workload> summing(const reduction_problem& problem) = 0;
  /// Bytes of the largest input that stays in a cache.
  virtual uint64_t most_cached_bytes() const = 0;
};

}  // namespace gpusync::tool
