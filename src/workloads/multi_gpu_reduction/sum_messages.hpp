// How GPUs tell each other their parts' sums without a barrier: written once for GPUs and for host threads.
#pragma once

#include <cstring>

#include <gpusync/core/config.hpp>
#include <gpusync/core/ordering.hpp>
#include <gpusync/multi_gpu/peers.hpp>

namespace gpusync::tool {

/// Where GPUs leave their sums for each other: on each a place for each, in two halves, which calls use in turn. Words
/// of a sum are 32 bits of it and the number of the call: who sees the number sees the rest, so nothing here is
/// ordered.
///
/// Precondition: a GPU begins a call when it has heard of all others in the call before. So one that is two calls ahead
/// of another has had that one's sum of the call between, and its own of two calls before was read: it may be
/// overwritten. All GPUs' calls have the same numbers, one after the other, from another than 0 on.
struct sum_messages {
  static constexpr uint32_t most_words = 2;  ///< of a sum
  /// Words on each GPU, zero at first.
  static constexpr size_t words = 2 * multi_gpu::most_gpus * most_words;

  uint64_t* on[multi_gpu::most_gpus];  ///< by rank
  uint32_t gpu, gpus;                  ///< this GPU's rank, and how many there are

  /// Leaves this GPU's sum of a call for another.
  GPUSYNC_API_TEMPLATE
  template <class Memory, class T>
  GPUSYNC_HD void send(uint32_t to, uint32_t call, T sum) const {
    uint32_t bits[words_of<T>];
    memcpy(bits, &sum, sizeof(T));
    for (uint32_t i = 0; i < words_of<T>; ++i) {
      Memory::template store<memory_order::relaxed, scope::system>(at(to, gpu, call) + i,
                                                                   uint64_t{call} << 32 | bits[i]);
    }
  }
  /// Looks for what another has left in a call; false if it is not there yet.
  GPUSYNC_API_TEMPLATE
  template <class Memory, class T>
  GPUSYNC_HD bool receive(uint32_t from, uint32_t call, T& sum) const {
    uint32_t bits[words_of<T>];
    bool all = true;
    for (uint32_t i = 0; i < words_of<T>; ++i) {
      const uint64_t word = Memory::template load<memory_order::relaxed, scope::system>(at(gpu, from, call) + i);
      bits[i] = static_cast<uint32_t>(word);
      all = all && static_cast<uint32_t>(word >> 32) == call;
    }
    if (all) memcpy(&sum, bits, sizeof(T));
    return all;
  }

 private:
  template <class T>
  static constexpr uint32_t words_of = sizeof(T) / sizeof(uint32_t);

  /// What GPU `from` leaves on GPU `to`.
  GPUSYNC_HD uint64_t* at(uint32_t to, uint32_t from, uint32_t call) const {
    return on[to] + (call % 2 * multi_gpu::most_gpus + from) * most_words;
  }
};

}  // namespace gpusync::tool
