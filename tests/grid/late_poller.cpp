// The child process of late_poller_test.cpp: `late_poller 2010|repaired` passes the phases of late_poller.hpp with the
// lock-based barrier of that text, two blocks of a thread each, and says "passed"; or hangs.
#include <cstdio>
#include <cstring>

#include <gpusync/gpusync.hpp>
#include "grid/late_poller.hpp"

namespace {

template <class Algorithm>
void pass() {
  gpusync::host_barrier_storage<Algorithm> storage(2);
  std::puts("ready");
  std::fflush(stdout);
  gpusync::launch(
      gpusync::host_device{}, {2, 1},
      [](gpusync::basic_grid_barrier<Algorithm, gpusync::host_grid> barrier) {
        gpusync::test::look_late(gpusync::host_grid::current(), barrier, 50'000'000);
      },
      storage.barrier());
  std::puts("passed");
}

}  // namespace

int main(int count, char** words) {
  using namespace gpusync;
  if (count != 2) return 2;
  if (std::strcmp(words[1], "2010") == 0) {
    pass<rivals::literal_lock_based<ordering::fence>>();
  } else {
    pass<grid::lock_based<ordering::fence>>();
  }
  return 0;
}
