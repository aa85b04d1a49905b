// What workload "panels" computes, whatever device it runs on.
#include "workloads/panels/panels.hpp"

#include <algorithm>
#include <bit>

#include <gpusync/core/error.hpp>

namespace gpusync::tool {

panel_work panel_problem::work() const {
  const uint64_t words = panel_bytes / sizeof(uint32_t);
  const uint64_t elements = uint64_t{blocks} * threads;
  if (!std::has_single_bit(words) || words < 2 || words > uint64_t{1} << 31) {
    throw invalid_argument("A panel has a power of two of bytes, from 8 on, not " + std::to_string(panel_bytes) + ".");
  }
  if (table_bytes < panel_bytes || table_bytes % panel_bytes != 0 || table_bytes / panel_bytes > UINT32_MAX) {
    throw invalid_argument("A table of " + std::to_string(table_bytes) + " bytes does not consist of panels of " +
                           std::to_string(panel_bytes) + ".");
  }
  if (elements == 0 || elements > UINT32_MAX / 2) throw invalid_argument("A grid has 1 to 2^31 threads.");
  if (multiply_adds > 1u << 20) {
    throw invalid_argument("Blocks make up to 1048576 multiply-adds of a word, not " + std::to_string(multiply_adds) +
                           ".");
  }
  if (multiply_adds != 0 && op == panel_op::scatter) {
    throw invalid_argument("Blocks that add to words read none that they could compute with: work is for the others.");
  }
  const uint64_t accesses = op == panel_op::stream
                                ? (words + threads - 1) / threads
                                : std::max<uint64_t>(1, (panel_touches * words + elements / 2) / elements);
  uint32_t factor = 1, summand = 0;
  for (uint32_t i = 0; i < multiply_adds; ++i) {
    factor *= panel_work::multiply_add_factor;
    summand = summand * panel_work::multiply_add_factor + panel_work::multiply_add_summand;
  }
  return {static_cast<uint32_t>(table_bytes / panel_bytes),
          static_cast<uint32_t>(std::countr_zero(words)),
          blocks,
          threads,
          static_cast<uint32_t>(accesses),
          imbalance,
          start,
          multiply_adds,
          factor,
          summand};
}

const std::vector<std::string>& panel_op_names() {
  static const std::vector<std::string> names{"gather", "scatter", "probe", "stream"};
  return names;
}

const std::vector<std::string>& panel_imbalance_names() {
  static const std::vector<std::string> names{"even", "blocks", "random"};
  return names;
}

const std::vector<std::string>& panel_start_names() {
  static const std::vector<std::string> names{"same", "spread"};
  return names;
}

uint32_t lead_of_window(const std::string& method, const std::string& prefix) {
  if (method.rfind(prefix, 0) != 0) return 0;
  return static_cast<uint32_t>(std::stoul(method.substr(prefix.size())));
}

step_method panel_method(const std::string& name, const std::string& title, method_kind kind, bool needs_co_residency) {
  step_method made;
  made.name = name;
  made.title = title;
  made.kind = kind;
  made.ordered = kind != method_kind::floor;
  made.needs_co_residency = needs_co_residency;
  return made;
}

std::vector<step_method> window_methods() {
  std::vector<step_method> all;
  for (const char* lead : {"1", "2", "4", "8"}) {
    all.push_back(panel_method(std::string("window-") + lead, std::string("a window with a lead of ") + lead));
  }
  all.push_back(panel_method("strict-window-2", "a strict window with a lead of 2", method_kind::floor, true));
  return all;
}

}  // namespace gpusync::tool
