// Phased grids: every schedule in every order of its atomic operations, and mutants that must be found out.
#include "checks.hpp"
#include "mutants/memories.hpp"

namespace gpusync::verify {

namespace {

using algorithm = gpusync::grid::lock_based<ordering::acquire_release>;

/// What is explored: launches, one after the other on one storage, of so many virtual blocks.
struct phased_program {
  uint32_t resident = 2;
  std::vector<uint32_t> launches = {3};
  uint32_t phases = 2;  ///< of each launch
};

/// Each virtual block has a word in which it counts its phases. In each it looks at the word of the next one, which
/// must be at the end of the phase before or of this one, and adds to its own, which must be at the end of the phase
/// before: else one was left out, run twice, or not seen. Who finds that out waits for ever; that is a deadlock.
void run_block(uint32_t* counts, uint32_t blocks, uint32_t block, uint32_t phase) {
  const uint32_t next = model_memory::load<memory_order::relaxed, scope::device>(counts + (block + 1) % blocks);
  const uint32_t own = model_memory::fetch_add<memory_order::relaxed, scope::device>(counts + block, 1u);
  if ((next == phase || next == phase + 1 || blocks == 1) && own == phase) return;
  static uint32_t never = 0;
  while (true) {
    (void)model_memory::load<memory_order::relaxed, scope::device>(&never);
    explorer::active().pause();
  }
}

template <class Schedule, class Memory = model_memory>
exploration explore_phased(const phased_program& what, bool stale = true) {
  using grid = model_grid<Memory>;
  shape form;
  form.blocks = what.resident;
  form.stale = stale;
  uint32_t most = 0;
  for (const uint32_t blocks : what.launches) most = std::max(most, blocks);
  host_phased_storage<Schedule, algorithm, grid> storage(most, what.resident);
  std::vector<std::vector<uint32_t>> counts(what.launches.size(), std::vector<uint32_t>(most));
  explorer search(form, [&] {
    explorer& active = explorer::active();
    for (size_t i = 0; i < what.launches.size(); ++i) {
      const uint32_t blocks = what.launches[i];
      active.set_blocks(std::min(what.resident, blocks));
      if (active.block() < blocks) {
        auto phased = storage.grid(blocks);
        while (phased.phase() < what.phases) {
          phased.for_each_block([&](uint32_t block) { run_block(counts[i].data(), blocks, block, phased.phase()); });
          phased.end_phase();
          active.checkpoint(static_cast<uint32_t>(i) * what.phases + phased.phase(), &phased, sizeof(phased));
        }
      }
      if (what.launches.size() > 1) active.end_launch();
    }
  });
  search.name_words(storage.state());
  return search.run();
}

template <class Schedule>
void add_shipped() {
  add_check("phased", Schedule::name, [] {
    const auto must_pass = [](const char* words, const phased_program& what, bool stale) {
      const exploration result = explore_phased<Schedule>(what, stale);
      expect_nothing_found(words, result);
    };
    must_pass("3 virtual blocks on 2, 2 phases", {2, {3}, 2}, true);
    must_pass("4 virtual blocks on 2, 2 phases", {2, {4}, 2}, true);
    must_pass("2 virtual blocks on 2, 3 phases", {2, {2}, 3}, true);
    must_pass("4 virtual blocks on 3, 2 phases, latest values", {3, {4}, 2}, false);
    must_pass("launches of 3, 1, 4 and 2 on 2, latest values", {2, {3, 1, 4, 2}, 2}, false);
  });
}

template <class Schedule, class Memory = model_memory>
void add_mutant(const std::string& name, const phased_program& what,
                const test::memory_fault& fault = faulty_memory::none) {
  add_mutant_check("phased_mutant", name, failure::deadlock, fault,
                   [=] { return explore_phased<Schedule, Memory>(what); });
}

/// Claims as `claiming` does, with another idea of when the counter goes back to zero: once it is `LastOf(virtual,
/// resident)`.
template <uint32_t (*LastOf)(uint32_t, uint32_t)>
struct resetting_at : gpusync::phased::claiming {
  template <class Grid, class Sync, class Body>
  static bool for_each(const gpusync::phased::resident_block<Grid>& at, Sync&&, Body&& body) {
    using memory = typename Grid::memory;
    const uint32_t resident = at.grid.blocks();
    for (uint32_t block = at.grid.block(); block < at.virtual_blocks;) {
      body(block);
      const uint32_t ticket = memory::template fetch_add<memory_order::relaxed, scope::device>(at.words, 1u);
      if (ticket + 1 == LastOf(at.virtual_blocks, resident)) {
        memory::template store<memory_order::relaxed, scope::device>(at.words, 0u);
      }
      block = resident + ticket;
    }
    return true;
  }
};
uint32_t at_the_end(uint32_t blocks, uint32_t) {
  return blocks;
}
uint32_t with_the_last_block(uint32_t blocks, uint32_t resident) {
  return blocks - resident;
}
uint32_t never(uint32_t, uint32_t) {
  return 0;
}

/// Claims that are a load and a store; the barrier's additions are left as they are.
struct torn_claims : model_memory {
  template <memory_order Order, scope Scope, class T>
  static T fetch_add(T* address, T value) {
    if constexpr (Order != memory_order::relaxed) return model_memory::fetch_add<Order, Scope>(address, value);
    const T before = load<memory_order::relaxed, Scope>(address);
    store<memory_order::relaxed, Scope>(address, before + value);
    return before;
  }
};

/// The thesis's form without its first barrier.
struct flags_with_one_barrier : gpusync::phased::flag_claiming {
  template <class Grid, class Sync, class Body>
  static bool for_each(const gpusync::phased::resident_block<Grid>& at, Sync&&, Body&& body) {
    return flag_claiming::for_each(
        at, [] { return true; }, body);
  }
};

}  // namespace

void add_phased_checks() {
  add_shipped<gpusync::phased::striding>();
  add_shipped<gpusync::phased::claiming>();
  add_shipped<gpusync::phased::flag_claiming>();
  add_check("phased", "claiming_written_down_again", [] {  // what the mutants differ from
    EXPECT_EQ(explore_phased<resetting_at<at_the_end>>({2, {3}, 3}).found, failure::none);
  });
  add_mutant<resetting_at<with_the_last_block>>("resets_its_counter_too_early", {2, {3}, 2});
  add_mutant<resetting_at<never>>("never_resets_its_counter", {2, {3}, 3});
  add_mutant<flags_with_one_barrier>("flags_with_one_barrier", {2, {3}, 2});
  add_mutant<gpusync::phased::claiming, torn_claims>("torn_claims", {2, {4}, 2});
  add_mutant<gpusync::phased::flag_claiming, torn_claims>("torn_flags", {2, {4}, 2});
  add_mutant<gpusync::phased::striding, faulty_memory>("no_acquire", {2, {3}, 2}, faults::waits_do_not_acquire);
  add_mutant<gpusync::phased::striding, faulty_memory>("no_release", {2, {3}, 2}, faults::no_release);
}

}  // namespace gpusync::verify
