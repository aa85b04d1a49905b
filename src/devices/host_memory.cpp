#include "devices/host_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace gpusync::tool {

namespace {

constexpr uint64_t unknown = std::numeric_limits<uint64_t>::max();

/// The number behind `name` in a file such as /proc/meminfo, or its first one if there is no name.
uint64_t number_in(const char* path, const std::string& name = "") {
  std::ifstream file(path);
  std::string word;
  while (!name.empty() && file >> word && word != name) {
  }
  uint64_t number = 0;
  return file >> number ? number : unknown;  // a limit may be "max"
}

uint64_t less(uint64_t limit, uint64_t used) {
  return limit == unknown ? unknown : used == unknown || used > limit ? 0 : limit - used;
}

}  // namespace

uint64_t available_host_memory() {
  const uint64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
  uint64_t least = kilobytes == unknown ? unknown : kilobytes * 1024;
  least = std::min(least, less(number_in("/sys/fs/cgroup/memory.max"), number_in("/sys/fs/cgroup/memory.current")));
  struct rlimit space {};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const uint64_t pages = number_in("/proc/self/statm");
    const auto page = static_cast<uint64_t>(std::max(1l, sysconf(_SC_PAGESIZE)));
    least = std::min(least, less(space.rlim_cur, pages == unknown ? 0 : pages * page));
  }
  return least;
}

}  // namespace gpusync::tool
