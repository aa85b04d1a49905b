// The fault-tolerant barrier where its numbers wrap.
#include <gpusync/launch/host.hpp>
#include <gpusync/rmw/fault_tolerant_host.hpp>

#include <chrono>
#include <thread>

#include "check.hpp"

namespace gpusync::test {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t blocks = 3;
using storage = host_fault_tolerant_storage<blocks>;
using barrier = storage::barrier_type;

/// A barrier's phase, which begins at 0: to come to the wrap takes hours. An explicit instantiation may name what is
/// private.
template <uint32_t barrier::*Phase>
struct opened {
  friend uint32_t& phase_of(barrier& of) { return of.*Phase; }
};
uint32_t& phase_of(barrier& of);
template struct opened<&barrier::phase_>;

/// A phase is closed once after the other, and nobody was missing: the word of the arrivals and what the members have
/// agreed on must count the same.
void closings_wrap_together() {
  using rmw::detail::arrival_word;
  constexpr uint64_t arrivals = 12345;
  uint64_t word = arrivals;
  rmw::detail::lost_blocks_log<blocks> agreed;
  for (uint32_t phase = 0; phase < (1u << 15) + 3 && failures == 0; ++phase) {
    word = arrival_word::closed(word, phase);
    expect(arrival_word::count(word) == arrivals, "to close a phase leaves the count as it is");
    expect(arrival_word::parity(word) == phase % 2, "a closed word tells the phase's parity");
    const rmw::detail::phase_verdict<blocks> verdict{0, arrival_word::before(arrival_word::closings(word)), {0}};
    agreed = verdict(agreed);
    expect(agreed.epoch == 0 && agreed.lost[0] == 0, "nobody is lost");
    expect(agreed.closings == arrival_word::closings(word), "the word and the members agree on the closings");
  }
}

/// Block 2 stays away from the second phase of four, between which phases wrap.
void a_block_is_lost_across_the_wrap() {
  constexpr phase_outcome expected[] = {phase_outcome::passed, phase_outcome::members_lost, phase_outcome::passed,
                                        phase_outcome::passed};
  storage memory(blocks);
  std::atomic<uint32_t> arrived{0};
  launch(
      host_device{}, {blocks, 1},
      [&](barrier b) {
        phase_of(b) = 0xfffffffeu;
        const uint32_t self = host_grid::current().block();
        for (uint32_t step = 0; step < 4; ++step) {
          if (step == 1 && self == 2) return;
          b.arrive();
          // Of those that stay, nobody may be late.
          if (step == 1) {
            ++arrived;
            while (arrived != 2) std::this_thread::yield();
          }
          const phase_outcome outcome = b.wait(step == 1 ? timeout(20ms) : timeout(1h));
          expect(outcome == expected[step], "the members learn of the loss in the phase in which it occurs");
          expect(b.members().count == (step == 0 ? 3 : 2), "the barrier goes on as one of those that are left");
          expect(b.is_member(0) && b.is_member(1) && b.is_member(2) == (step == 0), "only the missing block is lost");
          if (outcome != expected[step]) return;
        }
        expect(b.phase() == 2, "phases go on from 0");
      },
      memory.barrier());
}

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  using namespace gpusync::test;
  const named_check checks[] = {
      GPUSYNC_CHECK(closings_wrap_together),
      GPUSYNC_CHECK(a_block_is_lost_across_the_wrap),
  };
  return run_checks(checks, words, word);
}
