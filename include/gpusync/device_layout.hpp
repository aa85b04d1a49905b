// What one address leads to: a grid barrier in a buffer of device memory, for kernels and hosts that hold nothing but
// that address (Python's front ends, kernels compiled at run time). Plain C++17, no CUDA.
#pragma once

#include <gpusync/core/arrival_log.hpp>
#include <gpusync/grid/layout.hpp>
#include <gpusync/grid/placed_counters.hpp>

#if !defined(__CUDACC_RTC__)
#include <cstring>
#include <string>

#include <gpusync/grid/capacity.hpp>
#endif

namespace gpusync {

/// The head of a barrier's buffer; the barrier's words follow it. Little-endian, all addresses are the device's.
struct barrier_image {
  static constexpr uint64_t tag_of_images = 0x0163'6e79'7375'7067u;  ///< "gpusync" and the layout's version, 1
  static constexpr uint32_t bytes_of_head = 128;                     ///< the words begin behind so many bytes
  static constexpr uint32_t alignment = 128;                         ///< of the buffer, in bytes

  uint64_t tag;                 ///< tag_of_images
  uint32_t capacity;            ///< the most blocks of a grid
  uint32_t sm_count;            ///< multiprocessors of the device
  grid::counter_places places;  ///< where the counters lie; without a plan
  uint32_t* words;              ///< as barrier_storage has them
  timeout_report* report;       ///< null if there is none; where the host can read it
  grid::packed_plan plans[4];   ///< for grids of up to 1, 2, 4 and more blocks per multiprocessor

  /// The places for a grid of `blocks` blocks of `threads` threads, with a plan that fits.
  GPUSYNC_HD grid::counter_places places_for(uint32_t blocks, uint32_t threads) const {
    grid::counter_places fitted = places;
    const uint32_t which = blocks <= sm_count ? 0 : blocks <= 2 * sm_count ? 1 : blocks <= 4 * sm_count ? 2 : 3;
    fitted.plan = grid::fit(plans[which], blocks, threads, 32);
    return fitted;
  }

  /// What one in a buffer is used by.
  using algorithm = grid::placed_counters<ordering::acquire_release>;

  /// The layout of the words of a barrier of `blocks` blocks.
  GPUSYNC_HD static constexpr detail::barrier_layout layout_of(uint32_t blocks) {
    return detail::barrier_layout::of(algorithm::words(blocks), blocks);
  }
  /// Bytes of the buffer of a barrier of `blocks` blocks.
  GPUSYNC_HD static constexpr size_t bytes(uint32_t blocks) {
    return bytes_of_head + sizeof(uint32_t) * layout_of(blocks).total;
  }
};
static_assert(sizeof(barrier_image) <= barrier_image::bytes_of_head, "the head has room");

#if !defined(__CUDACC_RTC__)

/// The plans of barriers whose lines no survey has placed. For a block on each multiprocessor: of those tried, the
/// fastest on an H100 at 132 x 256.
inline constexpr grid::counter_rules unplaced_rules{4,
                                                    {{4, grid::counter_rules::any, {2, 1, 2, 0, 200}},
                                                     {8, grid::counter_rules::any, {2, 1, 2, 0, 225}},
                                                     {16, grid::counter_rules::any, {2, 1, 2, 0, 225}},
                                                     {grid::counter_rules::any, 0, {4, 2, 2, 0, 325}}}};

namespace detail {

/// The head of a barrier's buffer that will lie at `address`.
inline barrier_image image_head(uint32_t blocks, uint32_t sm_count, uint64_t address, uint64_t report,
                                const grid::counter_rules& rules) {
  barrier_image head{};
  head.tag = barrier_image::tag_of_images;
  head.capacity = blocks;
  head.sm_count = sm_count;
  head.words = reinterpret_cast<uint32_t*>(address + barrier_image::bytes_of_head);
  head.places = barrier_image::algorithm::places_in(head.words);
  head.places.plan = {};
  head.report = reinterpret_cast<timeout_report*>(report);
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t most_per_sm = i == 3 ? 32 : 1u << i;
    head.plans[i] =
        grid::packed_plan::of(rules.choose(most_per_sm * sm_count, grid::counter_rules::usual_threads, sm_count));
  }
  return head;
}

/// `blocks`, or throws invalid_argument if no barrier serves that many, or a buffer of so many bytes that begins there
/// cannot be its.
inline uint32_t require_image(uint64_t blocks, size_t bytes, uint64_t address) {
  const uint32_t capacity = require_servable<barrier_image::algorithm>(blocks);
  if (address % barrier_image::alignment != 0) {
    throw invalid_argument("A barrier's memory begins at a multiple of " + std::to_string(barrier_image::alignment) +
                           " bytes; this buffer begins " + std::to_string(address % barrier_image::alignment) +
                           " behind one.");
  }
  if (bytes < barrier_image::bytes(capacity)) {
    throw invalid_argument("A barrier of " + std::to_string(blocks) + " blocks takes " +
                           std::to_string(barrier_image::bytes(capacity)) + " bytes; this buffer has " +
                           std::to_string(bytes) + ".");
  }
  return capacity;
}

}  // namespace detail

/// Writes the first state of a barrier of up to `blocks` blocks on a device of `sm_count` multiprocessors, whose buffer
/// will lie at `address`, to `buffer`. `report`: the device's address of a timeout_report for as many blocks, or 0.
/// Throws invalid_argument for blocks that no barrier serves, a buffer that is too small, and an address that is not a
/// multiple of barrier_image::alignment.
inline void write_image(void* buffer, size_t bytes, uint64_t blocks, uint32_t sm_count, uint64_t address,
                        uint64_t report, const grid::counter_rules& rules = unplaced_rules) {
  const uint32_t capacity = detail::require_image(blocks, bytes, address);
  std::memset(buffer, 0, barrier_image::bytes(capacity));
  const barrier_image head = detail::image_head(capacity, sm_count, address, report, rules);
  std::memcpy(buffer, &head, sizeof head);
  barrier_image::algorithm::start_at(
      reinterpret_cast<uint32_t*>(static_cast<char*>(buffer) + barrier_image::bytes_of_head), capacity, 0);
}

#endif

}  // namespace gpusync
