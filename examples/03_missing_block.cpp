// A block that never comes to the barrier: the others give up after a while, and the host learns which one it
// was.
#include <gpusync/gpusync.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;

namespace {

void forgetful(gpusync::host_grid_barrier barrier) {
  barrier.sync();                                          // phase 0: everybody comes
  if (gpusync::host_grid::current().block() == 2) return;  // the mistake
  if (barrier.sync_for(50ms) == gpusync::wait_status::timed_out) return;
  barrier.sync();
}

}  // namespace

int main() {
  gpusync::host_grid_barrier_storage storage(4);
  gpusync::launch(gpusync::host_device{}, {4, 1}, forgetful, storage.barrier());

  const auto missing = storage.missing();
  for (const gpusync::missing_block& late : missing) {
    std::printf("Block %u did not come to barrier call %u.\n", late.block, late.phase);
  }

  // The barrier is broken now: it refuses the next launch until it is reset.
  try {
    gpusync::launch(gpusync::host_device{}, {4, 1}, forgetful, storage.barrier());
    return 1;
  } catch (const gpusync::broken_barrier& refusal) {
    std::printf("%s\n", refusal.what());
  }
  storage.reset();
  return missing.size() == 1 && missing[0] == gpusync::missing_block{2, 1} ? 0 : 1;
}
