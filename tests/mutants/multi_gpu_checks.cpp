// What the GPUs of one barrier tell each other when a phase is lost.
#include <gpusync/multi_gpu/host.hpp>

#include "support/host_cluster.hpp"
#include "ticking_grid.hpp"

namespace gpusync::test {
namespace {

using gpus_storage = host_multi_gpu_storage<multi_gpu::default_algorithm, ticking_grid>;
using gpus_barrier = gpus_storage::barrier_type;

/// A block on each of two GPUs runs `kernel(barrier, gpu)`; what the second one's launch throws, if it is an Error.
/// `ended`: set when the first one's has ended.
template <class Error, class Storage>
std::string run_on_two(Storage& memory, std::atomic<bool>& ended,
                       const kernel_of<typename Storage::barrier_type>& kernel) {
  using barrier = typename Storage::barrier_type;
  const auto start = [&](uint32_t gpu) {
    run_blocks<barrier>(1, memory.barrier(gpu), [&](barrier& b, uint32_t) { kernel(b, gpu); });
  };
  std::thread first([&] {
    (void)thrown_by<std::runtime_error>([&] { start(0); });
    ended = true;
  });
  const std::string words = thrown_by<Error>([&] { start(1); });
  first.join();
  return words;
}

/// The first of two GPUs gives a phase up, and the second learns of it long before its own deadline.
template <class Storage>
void expect_the_loss_is_told(Storage& memory) {
  std::atomic<bool> gave_up{false}, ended{false};
  (void)run_on_two<broken_barrier>(memory, ended, [&](typename Storage::barrier_type& b, uint32_t gpu) {
    b.sync();
    if (gpu == 0) {
      expect(b.sync_for(soon) == wait_status::timed_out, "a phase in which a GPU is missing times out");
      gave_up = true;
      return;
    }
    wait_for(gave_up);
    expect(b.sync_for(late) == wait_status::completed, "the phase that was given up is complete by count");
    looks = 0;
    expect(b.sync_for(late) == wait_status::timed_out, "no later phase is passed");
    expect(looks <= 2, "and that is clear long before the deadline");
  });
}

void a_loss_is_told_to_other_gpus() {
  gpus_storage memory(2, 1);
  expect_the_loss_is_told(memory);
  expect(memory.missing() == std::vector<missing_gpu_block>{{1, 0, 1, true}}, "the first report counts, not the last");
}

void a_launch_is_refused_after_a_loss_elsewhere() {
  gpus_storage memory(2, 1);
  run_blocks<gpus_barrier>(1, memory.barrier(0), [](gpus_barrier& b, uint32_t) {
    expect(b.sync_for(soon) == wait_status::timed_out, "a phase in which a GPU is missing times out");
  });
  const std::string words = thrown_by<broken_barrier>(
      [&] { run_blocks<gpus_barrier>(1, memory.barrier(1), [](gpus_barrier&, uint32_t) {}); });
  expect(words.find("missing GPU 1, of which no block was seen in that launch") != std::string::npos,
         "the GPU that comes too late is told why");
}

void a_throw_ends_waits_on_other_gpus() {
  gpus_storage memory(2, 1);
  std::atomic<bool> ended{false};
  const std::string words = run_on_two<broken_barrier>(memory, ended, [&](gpus_barrier& b, uint32_t gpu) {
    b.sync();
    if (gpu == 0) throw std::runtime_error("enough");
    wait_for(ended);
    most_pauses = pauses + 1000;
    b.sync();
  });
  expect_sentence(words, misuse::lost_phase, 0, "a wait for a GPU whose launch has thrown ends its own");
}

using cluster = basic_host_cluster<ticking_grid>;
using cluster_barrier = cluster::barrier_type;

void a_loss_is_told_to_other_hosts() {
  cluster memory({0, 1}, 1);
  expect_the_loss_is_told(memory);
}

void a_far_gpu_is_judged_by_its_word() {
  cluster memory({0, 1, 2}, 1);
  std::atomic<bool> ended{false};
  std::thread third(
      [&] { run_blocks<cluster_barrier>(1, memory.barrier(2), [&](cluster_barrier& b, uint32_t) { b.sync(); }); });
  // What GPU 1 tells GPU 0: that it has come to a phase.
  const auto* const told =
      reinterpret_cast<const uint64_t*>(memory.part(0).words() + signalled_algorithm::layout::line) + 1;
  (void)run_on_two<broken_barrier>(memory, ended, [&](cluster_barrier& b, uint32_t gpu) {
    b.sync();
    while (gpu == 0 && __atomic_load_n(told, __ATOMIC_ACQUIRE) < 2) std::this_thread::yield();
    expect(b.sync_for(gpu == 0 ? soon : late) == wait_status::timed_out, "a phase in which a GPU is missing times out");
  });
  third.join();
  const std::string words = memory.part(0).report();
  expect(words.find("missing GPU 2") != std::string::npos, "who has not come is named");
  expect(words.find("missing GPU 1") == std::string::npos, "who has come is not");
}

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  using namespace gpusync::test;
  const named_check checks[] = {
      GPUSYNC_CHECK(a_loss_is_told_to_other_gpus),     GPUSYNC_CHECK(a_loss_is_told_to_other_hosts),
      GPUSYNC_CHECK(a_far_gpu_is_judged_by_its_word),  GPUSYNC_CHECK(a_launch_is_refused_after_a_loss_elsewhere),
      GPUSYNC_CHECK(a_throw_ends_waits_on_other_gpus),
  };
  return run_checks(checks, words, word);
}
