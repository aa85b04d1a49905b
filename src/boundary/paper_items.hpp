// Which item of the papers a barrier reproduces, by the name that it has in results.
#pragma once

#include <string>
#include <vector>

namespace gpusync::tool {

/// The paper items that the barrier of this name reproduces; most reproduce none. Names are those of
/// grid::name_of() and opencl::barrier_method::name().
inline std::vector<std::string> paper_items_of(const std::string& barrier) {
  struct entry {
    const char* barrier;
    const char* item;
  };
  constexpr entry table[] = {
      {"lock-based-none", "F2"},
      {"lock-based-fence", "F4"},
      {"lock-free-none", "F3"},
      {"lock-free-fence", "F5"},
      {"centralized-none", "S3"},
      {"centralized-fence", "S3"},
      {"centralized-acquire-release", "S3"},
      {"decentralized-none", "S4"},
      {"decentralized-fence", "S4"},
      {"decentralized-acquire-release", "S4"},
  };
  for (const entry& each : table) {
    if (barrier == each.barrier) return {each.item};
  }
  return {};
}

}  // namespace gpusync::tool
