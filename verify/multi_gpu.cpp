// The barriers across GPUs as they are shipped, and wrong ones, which the explorer must find out.
#include <gpusync/multi_gpu/registry.hpp>
#include <gpusync/multi_gpu/signalled.hpp>

#include "checks.hpp"
#include "gpus_program.hpp"
#include "mutants/exchanges.hpp"
#include "mutants/memories.hpp"

namespace gpusync::verify {

namespace {

using multi_gpu::all_to_all;
using multi_gpu::central;
using multi_gpu::disseminated;
using multi_gpu::replicated;
using multi_gpu::signalled;
using multi_gpu::two_level;

/// All that ship, and the one whose messages are a library's.
using algorithms = multi_gpu::algorithms::with_first<two_level<signalled<stored_signals>>>;

shape of(uint32_t gpus, uint32_t blocks_of_each, uint32_t threads = 1, bool stale = true) {
  shape form;
  form.gpus = gpus;
  form.blocks = gpus * blocks_of_each;
  form.threads = threads;
  form.stale = stale;
  form.most_states = states_allowed(100'000);
  return form;
}

gpus_program phases(uint32_t count, uint32_t first = 0, bool split = false) {
  gpus_program what;
  what.phases.phases = count;
  what.phases.first_phase = first;
  what.phases.split = split;
  return what;
}

gpus_program launches(std::vector<std::vector<uint32_t>> blocks, uint32_t count = 2, bool all_on_second = false) {
  gpus_program what = phases(count);
  what.launches = std::move(blocks);
  what.all_on_second = all_on_second;
  return what;
}

template <class Algorithm>
void check_algorithm() {
  constexpr uint32_t before_wrap = 0xfffffffe;
  expect_nothing_found("2 GPUs of 1 block, 4 phases across the wrap",
                       explore_gpus<Algorithm>(of(2, 1), phases(4, before_wrap)));
  expect_nothing_found("3 GPUs of 1 block, 1 phase", explore_gpus<Algorithm>(of(3, 1), phases(1)));
  expect_nothing_found("3 GPUs of 1 block, 2 phases", explore_gpus<Algorithm>(of(3, 1), phases(2)));
  expect_nothing_found("3 GPUs of 1 block, 3 phases, latest values",
                       explore_gpus<Algorithm>(of(3, 1, 1, false), phases(3)));
  expect_nothing_found("2 GPUs of 2 blocks, 2 phases", explore_gpus<Algorithm>(of(2, 2), phases(2)));
  expect_nothing_found("2 GPUs of 2 blocks, 3 phases, latest values",
                       explore_gpus<Algorithm>(of(2, 2, 1, false), phases(3, 0xfffe, true)));
  expect_nothing_found("2 GPUs of 1 block of 2 threads, 2 phases", explore_gpus<Algorithm>(of(2, 1, 2), phases(2)));
  expect_nothing_found("2 GPUs of 1 block, 3 launches",
                       explore_gpus<Algorithm>(of(2, 1), launches({{1, 1, 1}, {1, 1, 1}}, 1)));
  expect_nothing_found("2 GPUs of 1 block, 3 launches, on partition 1",
                       explore_gpus<Algorithm>(of(2, 1), launches({{1, 1, 1}, {1, 1, 1}}, 1, true)));
  expect_nothing_found("2 GPUs of 1 block of 3 threads, 2 launches, on partition 1, latest values",
                       explore_gpus<Algorithm>(of(2, 1, 3, false), launches({{1, 1}, {1, 1}}, 1, true)));
  expect_nothing_found("2 GPUs, launches of 2, 1, 2 and 1, 2, 1 blocks",
                       explore_gpus<Algorithm>(of(2, 2), launches({{2, 1, 2}, {1, 2, 1}}, 1)));
}

/// Explores a mutant and expects that it fails in this way.
template <class Algorithm, class Memory = model_memory>
void add_mutant(const std::string& name, failure expected, const shape& form, const gpus_program& what = phases(3),
                const test::memory_fault& fault = faulty_memory::none) {
  add_mutant_check("multi_gpu_mutant", name, expected, fault,
                   [=] { return explore_gpus<Algorithm, Memory>(form, what); });
}

/// The fault must break each exchange.
void add_for_all(const test::memory_fault& fault, failure expected) {
  algorithms::for_each([&](auto tag) {
    using algorithm = decltype(tag);
    add_mutant<algorithm, faulty_memory>(fault.name + ("_" + gpusync::grid::name_of<algorithm>()), expected, of(2, 2),
                                         phases(3), fault);
  });
}

void add_mutants() {
  add_for_all(faults::tells_before_it_has_gathered, failure::early_release);
  add_for_all(faults::gathers_relaxed, failure::data_race);
  add_for_all(faults::polls_relaxed, failure::data_race);
  add_for_all(faults::tells_relaxed, failure::data_race);
  add_for_all(faults::relaxed_in_the_gpu, failure::data_race);
  add_mutant<two_level<central>, torn_add_of_gpus>("central_torn_add", failure::deadlock, of(2, 1, 1, false));
  add_mutant<two_level<replicated>, torn_add_of_gpus>("replicated_torn_add", failure::deadlock, of(2, 1, 1, false));
  add_mutant<two_level<flags_for_equality>>("flags_for_equality", failure::deadlock, of(2, 1, 1, false));
  add_mutant<two_level<ignores_wraps<all_to_all>>>("all_to_all_ignores_wraps", failure::early_release, of(2, 1),
                                                   phases(3, 0xfffffffe));
  add_mutant<two_level<ignores_wraps<replicated>>>("replicated_ignores_wraps", failure::early_release, of(2, 1),
                                                   phases(3, 0xfffe));
  add_mutant<two_level<signalled<unreleased_signals>>>("signals_release_nothing", failure::data_race, of(2, 2));
  add_mutant<two_level<ignores_wraps<signalled<stored_signals>>>>("signals_ignore_wraps", failure::early_release,
                                                                  of(2, 1), phases(3, 0xfffffffe));
  add_mutant<two_level<overlooks_a_gpu>>("overlooks_a_gpu", failure::early_release, of(3, 1));
  add_mutant<two_level<forgets_the_copies>>("forgets_the_copies", failure::deadlock, of(2, 2, 1, false));
  add_mutant<two_level<phase_of_the_first_line>>("phase_of_the_first_line", failure::early_release, of(2, 1, 3, false),
                                                 launches({{1, 1}, {1, 1}}, 1, true));
  add_mutant<two_level<nobody_completes>>("nobody_completes", failure::deadlock, of(2, 1, 1, false));
  add_mutant<two_level<without_its_last_round>>("dissemination_without_its_last_round", failure::early_release,
                                                of(3, 1));
  add_mutant<two_level<one_word_for_all_rounds>>("dissemination_with_one_word", failure::early_release, of(3, 1));
  add_mutant<with_another_part<all_to_all, leader_adds>>("leader_adds", failure::early_release, of(2, 3));
  add_mutant<with_another_part<all_to_all, no_block_completes>>("no_block_completes", failure::deadlock,
                                                                of(2, 2, 1, false));
  add_mutant<with_another_part<all_to_all, out_of_step>>("lone_block_out_of_step", failure::deadlock,
                                                         of(2, 2, 1, false), launches({{1, 2}, {1, 2}}, 1));
  add_mutant<phase_after_the_arrival<all_to_all>>("phase_after_the_arrival", failure::deadlock, of(2, 2, 1, false));
}

}  // namespace

void add_multi_gpu_checks() {
  algorithms::for_each([](auto tag) {
    using algorithm = decltype(tag);
    add_check("multi_gpu", gpusync::grid::name_of<algorithm>(), check_algorithm<algorithm>);
  });
  add_mutants();
}

}  // namespace gpusync::verify
