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
  uint32_t unused;              ///< 0
  grid::counter_places places;  ///< where the counters lie, and a plan that is not fitted
  uint32_t* words;              ///< as barrier_storage has them
  timeout_report* report;       ///< null if there is none; where the host can read it

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

/// The plan of barriers whose lines no survey has placed: of those tried, the fastest on an H100 at 132 x 256.
inline constexpr grid::counter_plan unplaced_plan{2, 1, 2, 0, 200};

/// Writes the first state of a barrier of up to `blocks` blocks, whose buffer will lie at `address`, to `buffer`.
/// `report`: the device's address of a timeout_report for as many blocks, or 0. Throws invalid_argument for blocks that
/// no barrier serves, and for a buffer that is too small.
inline void write_image(void* buffer, size_t bytes, uint64_t blocks, uint64_t address, uint64_t report,
                        const grid::counter_plan& plan = unplaced_plan) {
  const uint32_t capacity = detail::require_servable<barrier_image::algorithm>(blocks);
  if (bytes < barrier_image::bytes(capacity)) {
    throw invalid_argument("A barrier of " + std::to_string(blocks) + " blocks takes " +
                           std::to_string(barrier_image::bytes(capacity)) + " bytes; this buffer has " +
                           std::to_string(bytes) + ".");
  }
  std::memset(buffer, 0, barrier_image::bytes(capacity));
  const auto words = reinterpret_cast<uint32_t*>(address + barrier_image::bytes_of_head);
  barrier_image head{};
  head.tag = barrier_image::tag_of_images;
  head.capacity = capacity;
  head.places = barrier_image::algorithm::places_in(words);
  head.places.plan = grid::packed_plan::of(plan);
  head.words = words;
  head.report = reinterpret_cast<timeout_report*>(report);
  std::memcpy(buffer, &head, sizeof head);
  barrier_image::algorithm::start_at(
      reinterpret_cast<uint32_t*>(static_cast<char*>(buffer) + barrier_image::bytes_of_head), capacity, 0);
}

#endif

}  // namespace gpusync
