// Barriers that are wrong: the explorer must find each of them out. A search that cannot fail proves nothing.
#include "checks.hpp"
#include "mutants/algorithms.hpp"
#include "mutants/memories.hpp"
#include "planned_counters.hpp"
#include "support/literal_2010.hpp"

namespace gpusync::verify {

namespace {

using gpusync::grid::lock_based;
using gpusync::grid::placed_counters;

shape of(uint32_t blocks, uint32_t threads = 1, bool stale = true) {
  shape form;
  form.blocks = blocks;
  form.threads = threads;
  form.stale = stale;
  return form;
}

/// Explores a mutant and expects that it fails in this way.
template <class Algorithm, class Memory = model_memory>
void add(const std::string& name, failure expected, const shape& form, uint32_t first_phase = 0,
         const test::memory_fault& fault = faulty_memory::none) {
  add_mutant_check("mutant", name, expected, fault, [=] {
    program what;
    what.phases = 3;
    what.first_phase = first_phase;
    return explore<Algorithm, Memory>(form, what);
  });
}

/// The fault must break each shipped barrier that orders its data by release and acquire.
void add_for_all(const std::string& mutation, const test::memory_fault& fault, const shape& form) {
  for_each_algorithm([&](auto tag) {
    using algorithm = decltype(tag);
    if constexpr (algorithm::order == ordering::acquire_release) {
      add<algorithm, faulty_memory>(mutation + "_" + gpusync::grid::name_of<algorithm>(), failure::data_race, form, 0,
                                    fault);
    }
  });
}

}  // namespace

void add_mutant_checks() {
  add_for_all("no_acquire", faults::waits_do_not_acquire, of(2));
  add_for_all("no_release", faults::no_release, of(2));
  add<lock_based<ordering::fence>, no_fence>("no_fence", failure::data_race, of(2));
  add<gpusync::grid::tree<2, ordering::acquire_release>, faulty_memory>("not_cumulative_tree_2", failure::data_race,
                                                                        of(4), 0, faults::hands_on_only_releases);
  add<gpusync::grid::tree<3, ordering::acquire_release>, faulty_memory>("not_cumulative_tree_3", failure::data_race,
                                                                        of(4), 0, faults::hands_on_only_releases);
  add<gpusync::grid::gathered_flags<ordering::acquire_release, 2>, acquires_the_counter_alone>(
      "gathers_without_acquire", failure::data_race, of(4));
  // The published texts of 2010, which are kept for measurement: what the library's own forms of them do better.
  add<gpusync::rivals::literal_lock_based<ordering::none>>("literal_lock_based_none", failure::deadlock,
                                                           of(2, 1, false));
  add<gpusync::rivals::literal_lock_based<ordering::fence>>("literal_lock_based_fence", failure::data_race, of(2));
  add<gpusync::rivals::literal_lock_free<ordering::fence>>("literal_lock_free_fence", failure::data_race, of(2, 2));
  add<planned_counters<ordering::acquire_release, 1, 1, true>, one_tells>("first_add_told_by_one", failure::deadlock,
                                                                          of(3, 2, false));
  add<correct, torn_add>("torn_add_deadlock", failure::deadlock, of(2, 1, false));
  add<tests_for_equality>("tests_for_equality", failure::deadlock, of(2, 1, false));
  add<tests_for_equality>("tests_for_equality_of_4", failure::deadlock, of(4, 1, false));
  add<ignores_the_wrap>("ignores_the_wrap", failure::early_release, of(2), 0xffff);
  add<released_too_early>("released_too_early", failure::early_release, of(3));
  add<arrives_alone>("arrives_alone", failure::data_race, of(2, 2));
  add<counts_down_again>("counts_down_again", failure::early_release, of(2, 1, false));
  add<joins_neighbours>("joins_neighbours", failure::early_release, of(4));
}

}  // namespace gpusync::verify
