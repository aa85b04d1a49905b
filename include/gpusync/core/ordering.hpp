// The words of the memory model: who must see an operation (scope), how it orders its neighbours (memory_order), and
// how a whole barrier orders the data around it (ordering).
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync {

/// The threads that an atomic operation or a fence is meant for. On host threads every scope means "all threads".
enum class scope {
  block,   ///< of the same block
  device,  ///< of the same device
  system   ///< all, the host's and other devices' too
};

/// C++'s memory orders, spelled for code that also compiles where `<atomic>` does not exist.
enum class memory_order {
  relaxed,  ///< orders nothing
  acquire,  ///< of a load: what the release that it reads from has published is seen after it
  release,  ///< of a store: publishes what stands before it
  acq_rel,  ///< of a read-modify-write: both
  seq_cst   ///< both, in one order of all such operations
};

/// What a memory's fetch_add_both() has found.
struct two_words {
  uint32_t first;   ///< what the first word held before the add
  uint32_t second;  ///< what the second one held
};

/// 128 bits that are read and exchanged as one.
struct alignas(16) wide_word {
  uint64_t low;   ///< the first 64 bits in memory
  uint64_t high;  ///< the other 64
};
/// All 128 bits.
GPUSYNC_HD constexpr bool operator==(const wide_word& one, const wide_word& other) {
  return one.low == other.low && one.high == other.high;
}
/// Any of them.
GPUSYNC_HD constexpr bool operator!=(const wide_word& one, const wide_word& other) {
  return !(one == other);
}

/// Two words of 64 bits that are read or stored by one access of memory. Each is performed by itself, in any order: it
/// is not one word of 128 bits.
struct alignas(16) word_pair {
  uint64_t first;   ///< the first word in memory
  uint64_t second;  ///< the other one
};

/// How a barrier orders the memory accesses of the blocks that it joins.
enum class ordering {
  /// As first published in 2010 (Xiao and Feng): the barrier's own words are atomic and relaxed, the data is not
  /// ordered at all. What is read after the barrier may be stale. For measurement only; its results prove nothing.
  none,
  /// Every thread executes a device-wide fence before it arrives, as Feng and Xiao did with __threadfence() in 2010.
  /// Unlike theirs, the waiting thread also fences after the wait: GPUs have cached global loads in L1 since.
  fence,
  /// One thread of a block arrives with release and leaves with acquire; the block barrier extends both to its
  /// block. The default.
  acquire_release,
};

/// The name of an ordering as it stands in results: "none", "fence", "acquire-release".
GPUSYNC_HD constexpr const char* to_string(ordering order) {
  switch (order) {
    case ordering::none: return "none";
    case ordering::fence: return "fence";
    case ordering::acquire_release: return "acquire-release";
  }
  return "?";
}

/// Whether a barrier of this ordering promises that data written before it is seen after it.
GPUSYNC_HD constexpr bool orders_data(ordering order) {
  return order != ordering::none;
}

}  // namespace gpusync
