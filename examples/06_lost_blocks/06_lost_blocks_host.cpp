// Blocks that are lost in the middle of a computation, on host threads: the survivors share out their rows, redo what
// is missing of the step, and come to the right result.
#include <gpusync/gpusync.hpp>
#include <gpusync/rmw/fault_tolerant_host.hpp>

#include <chrono>
#include <thread>

#include "report.hpp"

using namespace std::chrono_literals;
using lost_blocks::fate;

namespace {

constexpr int width = 60;
constexpr int height = 62;
constexpr int steps = 100;
constexpr uint32_t blocks = 6;

}  // namespace

int main() {
  using barrier = gpusync::host_fault_tolerant_barrier<blocks>;
  gpusync::host_fault_tolerant_storage<blocks> storage;
  std::vector<float> one = lost_blocks::first_plate(width, height), other = one;
  std::vector<lost_blocks::plan> plans(blocks);
  plans[1] = {fate::dies_at_work, 20};
  plans[4] = {fate::dies_after_arrival, 50};
  plans[2] = {fate::sleeps, 70};
  std::vector<lost_blocks::note> notes(blocks * blocks);

  const auto begin = std::chrono::steady_clock::now();
  gpusync::launch(
      gpusync::host_device{}, {blocks, 1},
      [&](barrier of_all, lost_blocks::plate plate) {
        lost_blocks::relax_with_losses<gpusync::host_grid>(of_all, plate, steps, 400ms, plans.data(), notes.data(),
                                                           [] { std::this_thread::sleep_for(1200ms); });
      },
      storage.barrier(), lost_blocks::plate{{one.data(), other.data()}, width, height});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;

  const std::vector<float> expected = lost_blocks::relaxed_alone(width, height, steps);  // an even number of steps
  const bool right = one == expected;
  std::printf("%d steps of %d x %d cells by %u blocks of the host, %.0f ms:\n", steps, width, height, blocks,
              took.count());
  const bool as_planned = lost_blocks::say_who_was_lost(plans, notes);
  std::printf("the result is %s as computed alone.\n", right ? "the same" : "NOT the same");
  return right && as_planned ? 0 : 1;
}
