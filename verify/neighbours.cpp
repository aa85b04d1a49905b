// Neighbours: every schedule of a barrier between them and of halos in both forms, and mutants that must be found out.
#include <gpusync/neighbours/host.hpp>

#include "checks.hpp"
#include "mutants/memories.hpp"
#include "mutants/neighbours.hpp"

namespace gpusync::verify {

namespace {

constexpr uint32_t before_wrap = 0xfffffffe;

/// Who waits for whom.
neighbourhood ring(uint32_t blocks) {
  return neighbourhood::ring(blocks);
}
neighbourhood line(uint32_t blocks) {
  return neighbourhood::line(blocks);
}

shape of(const neighbourhood& who, uint32_t threads = 1, bool stale = true) {
  shape form;
  form.blocks = who.blocks();
  form.threads = threads;
  form.stale = stale;
  form.most_states = states_allowed(1'000'000);
  return form;
}

/// Whether a block waits for another, itself included.
bool is_near(const neighbourhood& who, uint32_t block, uint32_t other) {
  if (block == other) return true;
  for (uint32_t slot = 0; slot < who.slots(); ++slot) {
    if (who.neighbour(block, slot) == other) return true;
  }
  return false;
}

struct steps_of {
  uint32_t steps = 3;  ///< of each launch
  uint32_t first = 0;  ///< where the counters start
  uint32_t launches = 1;
  bool split = false;  ///< arrive() and wait()
};

// ---- The barrier ----

/// In each phase every thread writes its slot of one of so many buffers in turn, passes the barrier, and reads the
/// slots of its neighbours' threads. `lonely`: a block that reads nothing of others.
template <class Grid = model_grid<>, class Algorithm = gpusync::grid::neighbour_flags, uint32_t Buffers = 2>
exploration explore_barrier(const neighbourhood& who, const shape& form, const steps_of& what, uint32_t lonely = ~0u) {
  using barrier_type = basic_grid_barrier<Algorithm, Grid, gpusync::detail::neighbour_blocks>;
  basic_host_neighbour_storage<Grid> storage(who, what.first);
  explorer search(form, [&] {
    explorer& active = explorer::active();
    const uint32_t own = active.block();
    const auto near = [&](uint32_t block) { return own == lonely ? block == own : is_near(who, own, block); };
    for (uint32_t launched = 0; launched < what.launches; ++launched) {
      const auto given = storage.barrier();
      barrier_type barrier(
          {given.header(), given.given().places, given.capacity(), given.given().words, given.given().log},
          given.who());
      for (uint32_t i = 0; i < what.steps; ++i) {
        const uint32_t phase = launched * what.steps + i;
        // Parities begin anew with each launch, which orders what came before it.
        const uint32_t half = Buffers == 2 ? barrier.parity() : 0;
        active.write_slot(half);
        active.arriving(phase);
        if (what.split) {
          auto token = barrier.arrive();
          barrier.wait(std::move(token));
        } else {
          barrier.sync();
        }
        active.passing(phase, near);
        active.read_slots(half, near);
        active.checkpoint(phase, &barrier, sizeof(barrier));
      }
      if (what.launches > 1) active.end_launch();
    }
  });
  const auto layout =
      gpusync::detail::barrier_layout::of(gpusync::grid::neighbour_flags::words(who.blocks()), who.blocks());
  search.ignore_stores(storage.state() + layout.claimed, storage.state() + layout.roster);
  search.name_words(storage.state());
  return search.run();
}

// ---- Halos ----

/// What word 0 and 1 of a block are in a step, whatever has come before.
template <class T>
T word_of(uint32_t block, uint32_t step, uint32_t i) {
  return static_cast<T>(uint64_t{step + 1} << (8 * (sizeof(T) - 1)) | (block + 1) << 4 | (i + 1));
}

/// How the threads of a block share a step's words.
enum class put_by {
  first,  ///< the first thread puts, the last one gets
  each,   ///< thread i puts word i, and gets the words of the next thread
  asking  ///< each, with words that have been asked for before receive()
};

/// In each step a block puts its words and gets its neighbours'. By words, each must be of this step; by flags, what
/// is put and got is plain data.
template <class T, halo_form Form, class Grid = model_grid<>>
exploration explore_halo(const neighbourhood& who, shape form, const steps_of& what, put_by how = put_by::first) {
  host_halo_storage<T, Grid> storage(who, form.threads, {}, what.first);
  // A poll of a value of 8 bytes reads two words, as one for two words does.
  form.looking = (sizeof(T) == 8 || how == put_by::asking) && Form == halo_form::words;
  form.may_hang = form.looking && form.stale;
  explorer search(form, [&] {
    explorer& active = explorer::active();
    const uint32_t own = active.block(), thread = active.thread();
    const auto near = [&](uint32_t block) { return is_near(who, own, block); };
    for (uint32_t launched = 0; launched < what.launches; ++launched) {
      auto halo = storage.template halo<Form>();
      for (uint32_t i = 0; i < what.steps; ++i) {
        const uint32_t step = launched * what.steps + i;
        const bool all = how != put_by::first;
        const bool puts = all || thread == 0;
        const bool gets = all || thread + 1 == form.threads;
        const uint32_t mine = all ? thread : 0;
        const uint32_t theirs = all ? (thread + 1) % form.threads : 0;
        if constexpr (Form == halo_form::flags) {
          active.write_slot((what.first + 1 + step) % 2);
        } else if (puts) {
          if (how == put_by::asking) {
            halo.put(halo.own(mine), word_of<T>(own, step, mine));
          } else {
            halo.put(mine, word_of<T>(own, step, mine));
          }
        }
        active.arriving(step);
        halo.send();
        const halo_word from[2] = {halo.word(0, theirs), halo.word(1, theirs)};
        T found[2] = {};
        if (how == put_by::asking) {
          auto asked = halo.ask(from);
          halo.receive();
          halo.get(from, asked, found);
        } else {
          halo.receive();
        }
        if constexpr (Form == halo_form::flags) {
          active.passing(step, near);
          active.read_slots((what.first + 1 + step) % 2, near);
        } else if (gets) {
          for (uint32_t slot = 0; slot < who.slots(); ++slot) {
            const uint32_t other = who.neighbour(own, slot);
            if (other == neighbourhood::none) continue;
            const T got = how == put_by::asking ? found[slot] : halo.get(halo.word(slot, theirs));
            active.require(got == word_of<T>(other, step, theirs), failure::data_race,
                           "got " + hex(static_cast<uint64_t>(got)) + " of block " + std::to_string(other) +
                               " in step " + std::to_string(step));
          }
        }
        halo.next();
        active.checkpoint(step, &halo, sizeof(halo));
      }
      if (what.launches > 1) active.end_launch();
    }
  });
  search.name_words(storage.state());
  return search.run();
}

/// A block writes plain data before it puts a word, and its neighbour reads them once it has got that.
exploration explore_data_beside_words() {
  const neighbourhood who = line(2);
  host_halo_storage<uint32_t, model_grid<>> storage(who, 1);
  explorer search(of(who), [&] {
    explorer& active = explorer::active();
    auto halo = storage.template halo<halo_form::words>();
    active.write_slot(0);
    halo.put(0, 1);
    halo.send();
    halo.receive();
    for (uint32_t slot = 0; slot < 2; ++slot) (void)halo.get(halo.word(slot, 0));
    active.read_slots(0, [](uint32_t) { return true; });
    halo.next();
  });
  search.name_words(storage.state());
  return search.run();
}

void must_pass(const std::string& what, const exploration& result) {
  expect_nothing_found(what, result);
  EXPECT_TRUE(result.exhaustive) << what;
}

steps_of steps(uint32_t count, uint32_t first = 0, uint32_t launches = 1, bool split = false) {
  return {count, first, launches, split};
}

/// A mutant of the barrier, in its grid, its memory, its algorithm or its buffers.
template <class Grid, class Algorithm = gpusync::grid::neighbour_flags, uint32_t Buffers = 2>
void add_barrier_mutant(const std::string& name, failure expected, const neighbourhood& who, uint32_t threads,
                        const steps_of& what, uint32_t lonely = ~0u,
                        const test::memory_fault& fault = faulty_memory::none) {
  add_mutant_check("neighbours_mutant", name, expected, fault, [=] {
    const shape form = of(who, threads, expected != failure::deadlock);
    return explore_barrier<Grid, Algorithm, Buffers>(who, form, what, lonely);
  });
}
template <class Grid, class T = uint32_t, halo_form Form = halo_form::words>
void add_halo_mutant(const std::string& name, failure expected, const neighbourhood& who, uint32_t threads,
                     const steps_of& what, put_by how = put_by::first,
                     const test::memory_fault& fault = faulty_memory::none) {
  add_mutant_check("neighbours_mutant", name, expected, fault, [=] {
    return explore_halo<T, Form, Grid>(who, of(who, threads, expected != failure::deadlock), what, how);
  });
}

using shipped = gpusync::grid::neighbour_flags;

void add_mutants() {
  using plain = model_grid<>;
  using faulty = model_grid<faulty_memory>;
  add_barrier_mutant<plain, shipped, 1>("one_buffer", failure::data_race, ring(2), 1, steps(3));
  add_barrier_mutant<faulty>("wait_without_acquire", failure::data_race, ring(2), 1, steps(2), ~0u,
                             faults::waits_do_not_acquire);
  add_barrier_mutant<faulty>("relaxed_publish", failure::data_race, ring(2), 1, steps(2), ~0u, faults::no_release);
  add_barrier_mutant<plain, flags_for_equality>("flags_for_equality", failure::deadlock, line(3), 1, steps(4));
  add_barrier_mutant<plain, flags_compared_unsigned>("flags_compared_unsigned", failure::early_release, ring(2), 1,
                                                     steps(3, before_wrap));
  add_barrier_mutant<plain, one_neighbour_overlooked>("one_neighbour_overlooked", failure::early_release, ring(3), 1,
                                                      steps(2));
  add_barrier_mutant<meets_once<0>>("no_block_barrier_before_the_release", failure::data_race, ring(2), 2, steps(3));
  add_barrier_mutant<meets_once<1>>("no_block_barrier_behind_the_wait", failure::early_release, line(2), 2, steps(3));
  add_barrier_mutant<plain, block_0_waits_for_nobody>("not_mutual", failure::data_race, line(2), 1, steps(3), 0);
  add_halo_mutant<meets_never<>>("halo_without_block_barrier", failure::deadlock, ring(2), 2, steps(3));
  add_halo_mutant<model_grid<tag_not_looked_at>>("halo_takes_an_older_step", failure::data_race, ring(2), 1, steps(3));
  add_halo_mutant<model_grid<early_words_taken<2>>>("halo_early_word_taken", failure::data_race, ring(2), 1, steps(2),
                                                    put_by::asking);
  add_halo_mutant<model_grid<torn_words>>("halo_of_torn_words", failure::data_race, ring(2), 1, steps(2));
  add_halo_mutant<model_grid<first_half_proves_both>, uint64_t>("halo_half_not_proved", failure::data_race, ring(2), 1,
                                                                steps(2));
  add_halo_mutant<model_grid<epoch_not_kept>>("halo_step_begins_anew", failure::data_race, ring(2), 1, steps(1, 0, 2));
  add_halo_mutant<faulty, uint32_t, halo_form::flags>("halo_flags_relaxed_publish", failure::data_race, ring(2), 1,
                                                      steps(2), put_by::first, faults::no_release);
  add_halo_mutant<faulty, uint32_t, halo_form::flags>("halo_flags_without_acquire", failure::data_race, ring(2), 1,
                                                      steps(2), put_by::first, faults::waits_do_not_acquire);
  // Words carry themselves and nothing else.
  add_check("neighbours_mutant", "halo_words_order_other_data",
            [] { expect_found("halo_words_order_other_data", explore_data_beside_words(), failure::data_race); });
}

}  // namespace

void add_neighbour_checks() {
  add_check("neighbours", "barrier", [] {
    must_pass("ring of 1, 4 phases across the wrap", explore_barrier(ring(1), of(ring(1)), steps(4, before_wrap)));
    must_pass("ring of 2, 5 phases", explore_barrier(ring(2), of(ring(2)), steps(5)));
    must_pass("ring of 2, 5 phases across the wrap, split",
              explore_barrier(ring(2), of(ring(2)), steps(5, before_wrap, 1, true)));
    must_pass("ring of 2, 3 launches of 2 phases across the wrap",
              explore_barrier(ring(2), of(ring(2)), steps(2, before_wrap, 3)));
    must_pass("ring of 2 x 2 threads, 3 phases", explore_barrier(ring(2), of(ring(2), 2), steps(3)));
    must_pass("ring of 3, 4 phases across the wrap", explore_barrier(ring(3), of(ring(3)), steps(4, before_wrap)));
    must_pass("ring of 3, 2 launches of 2 phases", explore_barrier(ring(3), of(ring(3)), steps(2, 0, 2)));
    must_pass("ring of 3 x 2 threads, 2 phases", explore_barrier(ring(3), of(ring(3), 2), steps(2)));
    const neighbourhood star = neighbourhood::of({{1, 2, 3}, {0}, {0}, {0}});
    must_pass("star of 4 x 2 threads, 3 slots, 1 phase", explore_barrier(star, of(star, 2), steps(1)));
    must_pass("star of 4, 3 slots, 2 phases across the wrap", explore_barrier(star, of(star), steps(2, before_wrap)));
    must_pass("line of 3 x 2 threads, 3 phases", explore_barrier(line(3), of(line(3), 2), steps(3)));
    must_pass("line of 3, 4 phases across the wrap", explore_barrier(line(3), of(line(3)), steps(4, before_wrap)));
    must_pass("line of 4, 3 phases", explore_barrier(line(4), of(line(4)), steps(3)));
  });
  add_check("neighbours", "halo_words", [] {
    must_pass("ring of 1, 4 steps",
              explore_halo<uint32_t, halo_form::words>(ring(1), of(ring(1)), steps(4, before_wrap)));
    must_pass("ring of 2, 5 steps across the wrap",
              explore_halo<uint32_t, halo_form::words>(ring(2), of(ring(2)), steps(5, before_wrap)));
    must_pass("ring of 2, 3 launches of 2 steps",
              explore_halo<uint32_t, halo_form::words>(ring(2), of(ring(2)), steps(2, before_wrap, 3)));
    must_pass("ring of 2 x 2 threads, 3 steps",
              explore_halo<uint32_t, halo_form::words>(ring(2), of(ring(2), 2), steps(3)));
    must_pass("ring of 2 x 2 threads, each its word, 2 steps",
              explore_halo<uint32_t, halo_form::words>(ring(2), of(ring(2), 2), steps(2), put_by::each));
    must_pass("line of 3, 4 steps", explore_halo<uint32_t, halo_form::words>(line(3), of(line(3)), steps(4)));
    must_pass("ring of 3, 5 steps across the wrap",
              explore_halo<uint32_t, halo_form::words>(ring(3), of(ring(3)), steps(5, before_wrap)));
    must_pass("ring of 3, 2 launches of 2 steps",
              explore_halo<uint32_t, halo_form::words>(ring(3), of(ring(3)), steps(2, 0, 2)));
    must_pass("ring of 3 x 2 threads, 3 steps",
              explore_halo<uint32_t, halo_form::words>(ring(3), of(ring(3), 2), steps(3)));
    must_pass("ring of 2, 3 steps across the wrap, 8 bytes, latest values",
              explore_halo<uint64_t, halo_form::words>(ring(2), of(ring(2), 1, false), steps(3, before_wrap)));
    must_pass("ring of 2, 3 steps across the wrap, 8 bytes, safety",
              explore_halo<uint64_t, halo_form::words>(ring(2), of(ring(2)), steps(3, before_wrap)));
  });
  add_check("neighbours", "halo_words_asked_for", [] {
    const auto asking = put_by::asking;
    must_pass("ring of 1, 4 steps across the wrap",
              explore_halo<uint32_t, halo_form::words>(ring(1), of(ring(1)), steps(4, before_wrap), asking));
    must_pass("ring of 2, 4 steps across the wrap",
              explore_halo<uint32_t, halo_form::words>(ring(2), of(ring(2)), steps(4, before_wrap), asking));
    must_pass("ring of 2, 4 steps across the wrap, latest values",
              explore_halo<uint32_t, halo_form::words>(ring(2), of(ring(2), 1, false), steps(4, before_wrap), asking));
    must_pass("ring of 2, 3 launches of 2 steps",
              explore_halo<uint32_t, halo_form::words>(ring(2), of(ring(2)), steps(2, before_wrap, 3), asking));
    must_pass("ring of 2 x 2 threads, each its word, 2 steps",
              explore_halo<uint32_t, halo_form::words>(ring(2), of(ring(2), 2), steps(2), asking));
    must_pass("line of 3, 3 steps", explore_halo<uint32_t, halo_form::words>(line(3), of(line(3)), steps(3), asking));
    must_pass("ring of 3, 3 steps across the wrap",
              explore_halo<uint32_t, halo_form::words>(ring(3), of(ring(3)), steps(3, before_wrap), asking));
    must_pass("ring of 2, 3 steps across the wrap, 8 bytes, latest values",
              explore_halo<uint64_t, halo_form::words>(ring(2), of(ring(2), 1, false), steps(3, before_wrap), asking));
    must_pass("ring of 2, 3 steps across the wrap, 8 bytes, safety",
              explore_halo<uint64_t, halo_form::words>(ring(2), of(ring(2)), steps(3, before_wrap), asking));
  });
  add_check("neighbours", "halo_flags", [] {
    must_pass("ring of 2, 5 steps across the wrap",
              explore_halo<uint32_t, halo_form::flags>(ring(2), of(ring(2)), steps(5, before_wrap)));
    must_pass("ring of 2, 3 launches of 2 steps",
              explore_halo<uint32_t, halo_form::flags>(ring(2), of(ring(2)), steps(2, before_wrap, 3)));
    must_pass("ring of 2 x 2 threads, 2 steps",
              explore_halo<uint32_t, halo_form::flags>(ring(2), of(ring(2), 2), steps(2)));
    must_pass("line of 3, 4 steps", explore_halo<uint32_t, halo_form::flags>(line(3), of(line(3)), steps(4)));
    must_pass("ring of 3, 4 steps across the wrap",
              explore_halo<uint32_t, halo_form::flags>(ring(3), of(ring(3)), steps(4, before_wrap)));
    must_pass("ring of 3, 2 launches of 2 steps",
              explore_halo<uint32_t, halo_form::flags>(ring(3), of(ring(3)), steps(2, 0, 2)));
  });
  add_mutants();
}

}  // namespace gpusync::verify
