// What the host is told about a wait that timed out.
#pragma once

#include <vector>

#include <gpusync/core/roll_call.hpp>

namespace gpusync {

/// A block that had not arrived when the first wait timed out.
struct missing_block {
  uint32_t block;  ///< its rank in the grid
  uint32_t phase;  ///< the barrier call that was waited in, counted from 0 at the start of the launch

  friend bool operator==(const missing_block& a, const missing_block& b) {
    return a.block == b.block && a.phase == b.phase;
  }
};

/// The list in a report; empty if no wait has timed out. May be called while the kernel runs.
inline std::vector<missing_block> missing_blocks(const timeout_report& report) {
  std::vector<missing_block> list;
  if (__atomic_load_n(&report.written, __ATOMIC_ACQUIRE) != timeout_report::timed_out) return list;
  list.reserve(report.missing_count);
  for (uint32_t i = 0; i < report.missing_count; ++i) list.push_back({report.missing()[i], report.phase});
  return list;
}

}  // namespace gpusync
