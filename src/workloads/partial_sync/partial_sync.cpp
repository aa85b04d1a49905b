#include "workloads/partial_sync/partial_sync.hpp"

#include <algorithm>

namespace gpusync::tool {

calling_members members_of(const std::string& subset, uint32_t all) {
  if (subset == "half") return {0, 1, std::max(1u, all / 2)};
  if (subset == "one") return {0, 1, 1};
  if (subset == "odd") return {1, 2, all / 2};
  throw invalid_argument("There is no subset '" + subset + "': there are half, one and odd.");
}

const char* to_string(partial_finding finding) {
  switch (finding) {
    case partial_finding::ok: return "ok";
    case partial_finding::undefined: return "undefined";
    case partial_finding::deadlock: return "deadlock";
  }
  return "?";
}

partial_finding finding_of(const partial_outcome& outcome, bool defined) {
  if (!outcome.ended || outcome.passed + outcome.timed_out < outcome.called) return partial_finding::deadlock;
  return defined ? partial_finding::ok : partial_finding::undefined;
}

}  // namespace gpusync::tool
