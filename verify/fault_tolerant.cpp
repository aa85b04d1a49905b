// The fault-tolerant barrier: every order of its accesses to memory, with deadlines that may be over at any poll.
#include <gpusync/rmw/fault_tolerant_barrier.hpp>

#include <cstring>

#include "checks.hpp"
#include "mutants/survivor_machines.hpp"

namespace gpusync::verify {

namespace {

/// In the log of calls: that a block has arrived in a phase before its epoch's word was ever closed.
template <uint32_t N>
uint64_t in_time_bit(uint32_t phase, uint32_t block) {
  return uint64_t{1} << (32 + N * phase + block);
}

/// Every block makes so many phases, or is removed. In each it writes its slot of one of two halves, and reads the
/// slots of the members. A block that dies is one that makes no step any more; what the others do from there is
/// explored at each of its steps, for nobody ever waits for its next one for good.
template <uint32_t N, class Machine, class Agreement>
exploration explore_survivors(uint32_t phases, bool stale) {
  using barrier_type = basic_fault_tolerant_barrier<N, model_grid<model_memory, true>, Machine, Agreement>;
  shape form;
  form.blocks = N;
  form.stale = stale;
  form.calls = true;
  form.most_states = states_allowed(1'000'000);
  std::vector<rmw::wide> memory(barrier_type::bytes(N) / sizeof(rmw::wide) + 1);
  uint64_t* const words = &memory[0].low;
  rmw_now = {};
  rmw_now.words = words + rmw::detail::survivor_layout<N>{N}.object();
  rmw_now.exploring = true;
  rmw_now.caller = put_barrier;
  explorer search(form, [&] {
    explorer& active = explorer::active();
    barrier_type barrier(words, N);
    barrier_places[active.fiber_index()] = {&barrier, sizeof(barrier)};
    const auto member = [&](uint32_t block) { return barrier.is_member(block); };
    // Whether the others have gone on without this block. Then it may read what they write over: the contract says so.
    const auto left_behind = [&](uint32_t phase) {
      const uint64_t next = active.calls().known_order >> 4 * (phase + 1) & 15;
      return next != 0 && (next >> active.block() & 1) == 0;
    };
    for (uint32_t phase = 0; phase < phases; ++phase) {
      active.write_slot(phase % 2, member);
      active.arriving(phase);
      active.begin_call(uint64_t{1} << (N * phase + active.block()));
      active.noted() = 0;
      barrier.arrive();
      if (arrived_in_time()) active.calls().begun |= in_time_bit<N>(phase, active.block());
      const phase_outcome outcome = barrier.wait(timeout(1));
      active.end_call();
      if (outcome == phase_outcome::removed) return;
      uint64_t mine = 8;
      for (uint32_t i = 0; i < N; ++i) mine |= uint64_t{member(i) ? 1u : 0u} << i;
      uint64_t& log = active.calls().known_order;
      const uint64_t others = log >> 4 * phase & 15;
      active.require(others == 0 || others == mine, failure::disagreement,
                     "two members of phase " + std::to_string(phase) + " do not agree who they are");
      active.require(member(active.block()), failure::disagreement, "passes and is no member");
      log |= mine << 4 * phase;
      for (uint32_t i = 0; i < N; ++i) {
        active.require(member(i) || (active.calls().begun & in_time_bit<N>(phase, i)) == 0, failure::wrongly_removed,
                       "block " + std::to_string(i) + " is lost, but had arrived before anybody gave up");
      }
      active.passing(phase, member);
      if (!left_behind(phase)) active.read_slots(phase % 2, member);
      active.checkpoint(phase, &barrier, sizeof(barrier));
    }
  });
  search.name_words(words);
  exploration result = search.run();
  rmw_now.exploring = false;
  if (!stale && result.found == failure::none && result.most_call_steps > barrier_type::max_steps(N)) {
    result.found = failure::not_wait_free;
    result.trace = std::to_string(result.most_call_steps) + " accesses in one phase; the bound is " +
                   std::to_string(barrier_type::max_steps(N)) + "\n";
  }
  return result;
}

template <uint32_t N, class Machine = survivor_machine<plain_machine>, class Agreement = agreement_at_once<N>>
void add(const std::string& name, uint32_t phases, bool stale) {
  add_check("fault_tolerant", name, [=] {
    const exploration result = explore_survivors<N, Machine, Agreement>(phases, stale);
    print(name + " (" + std::to_string(result.most_call_steps) + " accesses)", result);
    EXPECT_EQ(result.found, failure::none) << to_string(result.found) << "\n" << result.trace;
  });
}

template <uint32_t N, class Machine, class Agreement = agreement_at_once<N>>
void add_mutant(const std::string& name, failure expected, uint32_t phases, bool stale) {
  add_check("fault_tolerant_mutant", name,
            [=] { expect_found(name, explore_survivors<N, Machine, Agreement>(phases, stale), expected); });
}

/// The machine on which the wait-free object itself is explored.
template <uint32_t N>
using whole_machine =
    survivor_machine<model_machine<rmw::detail::lost_blocks_log<N>, N, rmw::cas<rmw::publication::ordered>,
                                   rmw::detail::phase_verdict<N>>>;

}  // namespace

void add_fault_tolerant_checks() {
  using shipped = survivor_machine<plain_machine>;
  add<2, whole_machine<2>, noted_agreement<rmw::detail::agreement<2, whole_machine<2>>, 2>>("of_2_with_its_object", 2,
                                                                                            false);
  add<2>("of_2", 4, false);
  add<2>("of_2_stale", 3, true);
  add<3>("of_3", 1, false);
  add<3>("of_3_stale", 1, true);
  add<3>("of_3_longer", 2, false);
  add<3>("of_3_longer_stale", 2, true);

  add_mutant<3, shipped, no_agreement<3>>("no_agreement", failure::disagreement, 1, false);
  add_mutant<2, closes_what_is_complete>("closes_what_is_complete", failure::data_race, 2, false);
  add_mutant<2, counts_late_arrivals>("counts_late_arrivals", failure::disagreement, 1, false);
  add_mutant<3, adds_before_flag>("adds_before_flag", failure::wrongly_removed, 1, false);
  add_mutant<2, arrives_relaxed>("arrives_relaxed", failure::data_race, 1, false);
  add_mutant<3, reads_flags_relaxed>("reads_flags_relaxed", failure::data_race, 1, false);
  add_mutant<3, shipped, unordered_agreement<3>>("unordered_agreement", failure::data_race, 1, false);
}

}  // namespace gpusync::verify
