// How many blocks of a kernel run at once on a GPU, and which resource sets the limit. Plain arithmetic: no device
// needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gpusync/core/error.hpp>
#include <gpusync/launch/shape.hpp>

namespace gpusync {

/// What one streaming multiprocessor has to give.
struct sm_resources {
  int threads;                             ///< at most
  int blocks;                              ///< at most
  int registers;                           ///< of 32 bits
  size_t shared_bytes;                     ///< of shared memory
  size_t reserved_shared_bytes_per_block;  ///< taken by the system for each block
};

/// What one block of a kernel takes.
struct block_needs {
  uint32_t threads;          ///< of the block
  int registers_per_thread;  ///< as compiled
  size_t shared_bytes;       ///< static and dynamic
};

/// How many blocks of a kernel can be resident, and why not more.
struct residency {
  int sm_count;                         ///< multiprocessors of the device
  int blocks_per_sm;                    ///< that fit on one
  std::vector<std::string> limited_by;  ///< "threads per SM", "registers", "shared memory", "blocks per SM"
  uint64_t in_clusters = UINT64_MAX;    ///< for a launch in clusters: blocks in the clusters that run at once

  /// The most blocks that run at once.
  uint64_t blocks() const {
    return std::min(in_clusters, static_cast<uint64_t>(sm_count) * static_cast<uint64_t>(blocks_per_sm));
  }

  /// The causes as words: "threads per SM and registers".
  std::string limits_in_words() const {
    std::string words;
    for (size_t i = 0; i < limited_by.size(); ++i) {
      if (i != 0) words += i + 1 == limited_by.size() ? " and " : ", ";
      words += limited_by[i];
    }
    return words.empty() ? "named barriers, or another resource that the runtime counts and does not name" : words;
  }
};

namespace detail {

constexpr uint32_t warp_size = 32;

template <class T>
constexpr T round_up(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

/// Blocks of `needs` that each single resource of `sm` would allow, in the order threads, registers, shared, blocks.
/// Register allocation as NVIDIA documents it for compute capability 7.0 and later: whole warps, in units of 256
/// registers, from four equal partitions of the register file.
inline std::vector<std::pair<const char*, uint64_t>> limits_by_resource(const sm_resources& sm,
                                                                        const block_needs& needs) {
  constexpr uint64_t partitions = 4;
  constexpr uint64_t register_unit = 256;
  constexpr size_t shared_unit = 128;
  const uint64_t warps = std::max<uint64_t>(1, round_up<uint64_t>(needs.threads, warp_size) / warp_size);
  const uint64_t registers_per_warp =
      round_up(static_cast<uint64_t>(std::max(needs.registers_per_thread, 1)) * warp_size, register_unit);
  const uint64_t warps_by_registers =
      static_cast<uint64_t>(sm.registers) / partitions / registers_per_warp * partitions;
  const size_t asked = needs.shared_bytes + sm.reserved_shared_bytes_per_block;
  const size_t shared =
      asked < needs.shared_bytes || asked > SIZE_MAX - shared_unit ? SIZE_MAX : round_up(asked, shared_unit);
  return {{"threads per SM", static_cast<uint64_t>(sm.threads) / (warps * warp_size)},
          {"registers", warps_by_registers / warps},
          {"shared memory", shared == 0 ? UINT64_MAX : sm.shared_bytes / shared},
          {"blocks per SM", static_cast<uint64_t>(sm.blocks)}};
}

}  // namespace detail

/// Explains an occupancy that the runtime has reported: names every resource that would allow no more blocks.
inline residency explain_residency(int sm_count, int blocks_per_sm, const sm_resources& sm, const block_needs& needs) {
  residency result{sm_count, blocks_per_sm, {}, UINT64_MAX};
  for (const auto& [name, limit] : detail::limits_by_resource(sm, needs)) {
    if (limit <= static_cast<uint64_t>(blocks_per_sm)) result.limited_by.push_back(name);
  }
  return result;
}

/// Throws not_co_resident, with the limit and its cause in words, if more blocks are asked for than run at once.
inline void require_co_resident(const residency& found, const std::string& device, const launch_shape& shape,
                                const block_needs& needs) {
  const uint64_t requested = shape.blocks.count();
  if (requested <= found.blocks()) return;
  const std::string block = std::to_string(shape.threads.count()) + " threads";
  if (found.blocks_per_sm == 0) {
    throw not_co_resident("Not one block of " + block + " of this kernel fits on an SM of " + device + ": it takes " +
                              std::to_string(needs.registers_per_thread) + " registers per thread and " +
                              std::to_string(needs.shared_bytes) + " bytes of shared memory (limited by " +
                              found.limits_in_words() + "). Use smaller blocks or less shared memory.",
                          requested, 0);
  }
  if (found.in_clusters == found.blocks()) {
    throw not_co_resident(std::to_string(requested) + " blocks of " + block + " in clusters of " +
                              std::to_string(shape.cluster) + " cannot all run at once on " + device + ": at most " +
                              std::to_string(found.blocks()) + " in " + std::to_string(found.blocks() / shape.cluster) +
                              " clusters (the blocks of a cluster share one group of SMs). Use fewer blocks or smaller "
                              "clusters.",
                          requested, found.blocks());
  }
  throw not_co_resident(std::to_string(requested) + " blocks of " + block + " cannot all run at once on " + device +
                            ": at most " + std::to_string(found.blocks()) + " (" + std::to_string(found.sm_count) +
                            " SMs x " + std::to_string(found.blocks_per_sm) +
                            (found.blocks_per_sm == 1 ? " block" : " blocks") + "; limited by " +
                            found.limits_in_words() + "). Use fewer blocks.",
                        requested, found.blocks());
}

}  // namespace gpusync
