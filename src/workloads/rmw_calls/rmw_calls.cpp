#include "workloads/rmw_calls/rmw_calls.hpp"

#include <fmt/format.h>

namespace gpusync::tool {

void require_countable(uint32_t participants, uint32_t capacity, uint32_t calls) {
  if (participants == 0 || participants > capacity) {
    throw invalid_argument(
        fmt::format("An object of capacity {} has 1 to {} participants, not {}.", capacity, capacity, participants));
  }
  if (uint64_t{participants} * calls >= 1u << 24) {
    throw invalid_argument(fmt::format(
        "{} participants with {} calls each make more calls than the 16,777,215 that the check of their answers can "
        "tell apart: use at most {} calls.",
        participants, calls, ((1u << 24) - 1) / participants));
  }
}

}  // namespace gpusync::tool
