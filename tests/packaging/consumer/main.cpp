#include <gpusync/gpusync.hpp>

#include <atomic>

int main() {
  gpusync::host_grid_barrier_storage storage(3);
  std::atomic<int> arrived{0}, early{0};
  const auto kernel = [&](gpusync::host_grid_barrier barrier) {
    ++arrived;
    barrier.sync();
    if (arrived != 3) ++early;
  };
  gpusync::launch(gpusync::host_device{}, {3, 1}, kernel, storage.barrier());
  return early;
}
