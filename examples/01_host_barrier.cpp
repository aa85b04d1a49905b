// A grid barrier on host threads: Jacobi relaxation of a rod whose ends are kept hot and cold. Each block
// computes some of the points; none may begin a step before all have ended the one before.
#include <gpusync/gpusync.hpp>

#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr int points = 1000;
constexpr int steps = 2000;

void relax(gpusync::host_grid_barrier barrier, float* from, float* to) {
  const auto grid = gpusync::host_grid::current();
  const int first = 1 + static_cast<int>(grid.block());
  const int stride = static_cast<int>(grid.blocks());
  for (int step = 0; step < steps; ++step) {
    for (int i = first; i < points - 1; i += stride) to[i] = 0.5f * (from[i - 1] + from[i + 1]);
    barrier.sync();  // every block sees every block's writes
    std::swap(from, to);
  }
}

std::vector<float> rod() {
  std::vector<float> temperatures(points, 0.0f);
  temperatures.front() = 100.0f;
  return temperatures;
}

std::vector<float> relax_alone() {
  std::vector<float> from = rod(), to = rod();
  for (int step = 0; step < steps; ++step) {
    for (int i = 1; i < points - 1; ++i) to[i] = 0.5f * (from[i - 1] + from[i + 1]);
    from.swap(to);
  }
  return from;
}

}  // namespace

int main() {
  const gpusync::host_device host;
  const gpusync::launch_shape shape{4, 1};  // 4 blocks of 1 thread
  gpusync::host_grid_barrier_storage storage(4);
  std::vector<float> a = rod(), b = rod();
  gpusync::launch(host, shape, relax, storage.barrier(), a.data(), b.data());

  const bool right = a == relax_alone();  // an even number of steps ends in `a`
  std::printf("%d steps of %d points by 4 blocks of the host: %s as computed alone.\n", steps, points,
              right ? "the same" : "NOT the same");
  return right ? 0 : 1;
}
