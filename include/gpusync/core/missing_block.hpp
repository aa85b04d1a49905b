// What the host is told about a wait that timed out.
#pragma once

#include <string>
#include <vector>

#include <gpusync/core/arrival_log.hpp>

namespace gpusync {

/// A block that had not arrived when the first wait timed out.
struct missing_block {
  uint32_t block;  ///< its rank in the grid
  uint32_t phase;  ///< the barrier call that was waited in, counted from 0 at the start of the launch
  /// Whether it has been seen in this launch: it has passed a phase, or has called enter(). A block that has not may be
  /// late, may have been waiting for a place on the device, or may never have been started. (One that called enter() in
  /// an earlier launch, in which no phase was passed since, is taken for seen too.)
  bool started = false;

  /// Whether both name the same block and phase.
  friend bool operator==(const missing_block& a, const missing_block& b) {
    return a.block == b.block && a.phase == b.phase;
  }
};

/// What a report is of.
struct reported_thing {
  const char* name = "barrier";  ///< in words
  const char* step = "phase";    ///< what its waits are counted in
  /// What else a time-out has left behind, as the end of the sentence that tells of it.
  const char* left_behind = ", so its count is in the middle of a phase";
  uint32_t calls = 1;  ///< of the barrier, in one phase of what it is a part of
};

/// The list in a report; empty if no wait has timed out. May be called while the kernel runs. `calls`: as a
/// reported_thing has them.
inline std::vector<missing_block> missing_blocks(const timeout_report& report, uint32_t calls = 1) {
  std::vector<missing_block> list;
  if (__atomic_load_n(&report.written, __ATOMIC_ACQUIRE) != timeout_report::timed_out) return list;
  list.reserve(report.missing_count);
  for (uint32_t i = 0; i < report.missing_count; ++i) {
    const uint32_t entry = report.missing()[i];
    list.push_back({entry & ~timeout_report::started, report.phase / calls, (entry & timeout_report::started) != 0});
  }
  return list;
}

namespace detail {

/// Whether nothing has happened that a report could tell.
inline bool is_clean(const timeout_report& report) {
  return __atomic_load_n(&report.written, __ATOMIC_ACQUIRE) == 0 &&
         __atomic_load_n(reinterpret_cast<const uint32_t*>(&report.reason), __ATOMIC_ACQUIRE) == 0;
}

/// Whether it only says what followed from another GPU's.
inline bool is_told(const timeout_report& report) {
  return __atomic_load_n(&report.written, __ATOMIC_ACQUIRE) == timeout_report::timed_out && report.told != 0;
}

/// The end of a sentence that names who was missing: the first few blocks; GPU by GPU if there are several.
inline std::string missing_in_words(const timeout_report& report, const char* before = ", missing block ") {
  const std::vector<missing_block> missing = missing_blocks(report);
  constexpr uint32_t named = 4;
  constexpr uint32_t in_gpu = (1u << timeout_report::block_bits) - 1;
  std::string words;
  for (uint32_t gpu = 0; gpu < (report.gpus == 0 ? 1 : report.gpus); ++gpu) {
    if (report.is_silent(gpu)) {
      words += ", missing GPU " + std::to_string(gpu) +
               ", of which no block was seen in that launch: it may not have been launched yet";
      continue;
    }
    uint32_t count = 0;
    std::string blocks;
    for (const missing_block& one : missing) {
      if (one.block >> timeout_report::block_bits != gpu) continue;
      if ((one.block & in_gpu) == timeout_report::unknown_block) {
        words += ", missing GPU " + std::to_string(gpu) + ", whose own report tells the blocks";
        continue;
      }
      if (++count > named) continue;
      blocks += (count == 1 ? "" : ", ") + std::to_string(one.block & in_gpu);
      if (!one.started) blocks += " (not seen in that launch)";
    }
    if (count == 0) continue;
    words += before + blocks;
    if (count > named) words += " and " + std::to_string(count - named) + " more";
    if (report.gpus > 1) words += " of GPU " + std::to_string(gpu);
  }
  return words;
}

}  // namespace detail

/// What a report says, in a sentence or two; empty if nothing happened. May be called while the kernel runs, and after
/// the CUDA context has been lost.
inline std::string report_in_words(const timeout_report& report, const reported_thing& of = {}) {
  const std::string name = of.name, step = of.step;
  const uint32_t written = __atomic_load_n(&report.written, __ATOMIC_ACQUIRE);
  std::string words;
  if (written == timeout_report::abandoned) {
    words = "A launch on this " + name + " ended in the middle of a " + step +
            ", because one of its blocks threw. Call reset() on its storage first.";
  } else if (written == timeout_report::timed_out && report.counter != 0) {
    words = "A wait for dependency counter " + std::to_string(report.counter - 1) + " timed out in epoch " +
            std::to_string(report.phase) + " of an earlier launch: " + std::to_string(report.published) + " of " +
            std::to_string(report.expected) + " publishes were there" +
            detail::missing_in_words(report, "; of those who publish to it, not gone on to a later epoch: block ") +
            ". Call reset() on its storage first.";
  } else if (written == timeout_report::timed_out) {
    words = "A wait on this " + name + " timed out in " + step + " " + std::to_string(report.phase / of.calls) +
            " of an earlier launch" + detail::missing_in_words(report) + of.left_behind +
            ". Call reset() on its storage first.";
  }
  const auto reason =
      static_cast<misuse>(__atomic_load_n(reinterpret_cast<const uint32_t*>(&report.reason), __ATOMIC_ACQUIRE));
  if (reason != misuse::none) {
    if (!words.empty()) words += " ";
    // A grid that is larger than the storage is more than the barrier joins.
    const bool too_many = reason == misuse::outsider && report.detail > report.capacity;
    words += misuse_in_words(reason, report.culprit, too_many ? report.capacity : report.detail);
  }
  return words;
}

}  // namespace gpusync
