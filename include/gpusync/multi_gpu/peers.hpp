// What each GPU of a barrier across GPUs knows of the others, and where a GPU's own part of the barrier lies.
#pragma once

#include <gpusync/core/arrival_log.hpp>
#include <gpusync/core/size.hpp>
#include <gpusync/grid/sm_partitions.hpp>

namespace gpusync::multi_gpu {

/// The most GPUs that one barrier joins: those of one host.
inline constexpr uint32_t most_gpus = 16;

/// Where one GPU's words lie, in addresses that are good on the GPU that has this entry; null if that cannot load and
/// store there. Written before kernels start.
struct peer {
  uint32_t* line[2];   ///< the lines that other GPUs write to: in each partition of its L2 cache one
  uint32_t* claimed;   ///< of its arrival log
  uint32_t* arrived;   ///< of its arrival log
  uint32_t* entered;   ///< of its arrival log
  int32_t number = 0;  ///< by which a communication library knows it, if one carries the messages

  /// Whether the GPU that has this entry can load and store there.
  GPUSYNC_HD bool reachable() const { return claimed != nullptr; }
};

/// How a grid uses its GPU's part. Changes the speed only.
struct exchange_plan {
  uint32_t leader_warps = 1;  ///< of the leading block: they look for the last arrival in turn, and each tells
  uint32_t second_fence = 0;  ///< 1: an arrival is followed by a fence for which nobody waits, for the next one's sake
  uint32_t poll_backoff = 0;  ///< cycles before the first look for the other GPUs
};

/// Where a GPU's part lies, and how its grid uses it. Travels with the barrier to the kernel.
struct exchange_places {
  const peer* peers = nullptr;     ///< of all GPUs, by rank
  uint32_t* counter = nullptr;     ///< of this GPU's arrivals
  uint32_t* line[2] = {};          ///< what its peers write to, by partition
  grid::sm_partitions partitions;  ///< which of the two a block polls
  uint32_t gpu = 0;                ///< this GPU's rank
  uint32_t gpus = 1;               ///< how many there are
  bool across_hosts = false;       ///< some peers are not reachable()
  exchange_plan plan;              ///< how it is used

  /// What a block on that partition polls. No index: it would put the barrier around it into memory.
  GPUSYNC_HD uint32_t* near(uint32_t partition) const { return partition != 0 ? line[1] : line[0]; }
};

/// Where things lie in a GPU's words, in words: a line for the counter, two that peers write to, the list of peers, and
/// a word by which other processes know the memory. `LineWords`: of a line that peers write to.
template <uint32_t MostGpus, size_t LineWords>
struct exchange_layout {
  static constexpr uint32_t most_gpus = MostGpus;        ///< that a barrier joins
  static constexpr size_t line_words = LineWords;        ///< of each of the two lines
  static constexpr size_t counter = 0;                   ///< of a line
  static constexpr size_t line = detail::line_words;     ///< and one more behind it
  static constexpr size_t peers = line + 2 * LineWords;  ///< of the list of peers
  /// Of the word by which other processes know the memory.
  static constexpr size_t seal = peers + MostGpus * sizeof(peer) / sizeof(uint32_t);
  /// How many words there are.
  static constexpr size_t words = seal + detail::line_words;
};

}  // namespace gpusync::multi_gpu
