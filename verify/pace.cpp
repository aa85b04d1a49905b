// Windows: every schedule of members that lead each other by a bounded number of epochs, some of which leave early, and
// mutants that must be found out.
#include <gpusync/pace/window.hpp>

#include "checks.hpp"
#include "mutants/memories.hpp"

namespace gpusync::verify {

namespace {

using places = gpusync::detail::window_places;
using member_type = gpusync::detail::window_member<scope::device>;

struct window_program {
  uint32_t members = 2;
  uint32_t lead = 1;
  uint32_t epochs = 3;
  uint32_t leaver = ~0u;  ///< this member leaves
  uint32_t last = 0;      ///< after so many epochs
  uint64_t before = 0;    ///< epochs that all have ended before, for the wrap
  uint32_t slots = 0;     ///< instead of as many as there should be
};

/// A member that looks who has left does not acquire.
struct loads_relaxed : model_memory {
  template <memory_order, scope Scope, class T>
  static T load(const T* address) {
    return model_memory::load<memory_order::relaxed, Scope>(address);
  }
};

/// How a member leaves.
struct as_shipped {
  template <class Grid>
  static void leave(member_type& member, const places& at, uint32_t) {
    member.leave<Grid>(at);
  }
};
/// Says that it has left before it takes back what it has counted.
struct leaves_too_early {
  template <class Grid>
  static void leave(member_type&, const places& at, uint32_t ended) {
    using memory = typename Grid::memory;
    memory::template add<memory_order::release, scope::device>(at.left(), 1u);
    for (uint32_t slot = 0; slot < at.slots; ++slot) {
      memory::template add<memory_order::relaxed, scope::device>(
          at.slot(slot), 0u - (ended / at.slots + (slot < ended % at.slots ? 1 : 0)));
    }
  }
};
/// Takes back nothing.
struct leaves_its_counts {
  template <class Grid>
  static void leave(member_type&, const places& at, uint32_t) {
    Grid::memory::template add<memory_order::release, scope::device>(at.left(), 1u);
  }
};
/// Does not say that it has left.
struct leaves_unseen {
  template <class Grid>
  static void leave(member_type&, const places&, uint32_t) {}
};

/// A wait looks at who has left too, which only a program in which somebody leaves needs. Then it may hang if loads go
/// on to return what has been overwritten; it must be safe all the same.
template <bool Looking, class Memory = model_memory, class Leaving = as_shipped>
exploration explore_window(const window_program& what, bool stale) {
  using grid = model_grid<Memory, Looking>;
  shape form;
  form.blocks = what.members;
  form.stale = stale;
  form.looking = Looking;
  form.may_hang = Looking && stale;
  form.most_states = states_allowed(300'000);
  std::vector<uint32_t> words(places::words_for(what.lead, 1));
  const uint32_t slots = what.slots != 0 ? what.slots : places::slots_for(what.lead);
  const places at{words.data(), what.lead, slots, 1};
  for (uint32_t slot = 0; slot < slots; ++slot) {
    const uint64_t rounds = what.before / slots + (slot < what.before % slots ? 1 : 0);
    words[slot] = static_cast<uint32_t>(rounds * what.members);
  }
  explorer search(form, [&] {
    explorer& active = explorer::active();
    member_type member(what.before);
    const bool leaves = active.block() == what.leaver;
    for (uint32_t epoch = 0; epoch < what.epochs; ++epoch) {
      if (leaves && epoch == what.last) return Leaving::template leave<grid>(member, at, epoch);
      active.arriving(epoch);
      (void)member.end_epoch(grid{}, at, what.members, no_deadline{});
      if (epoch + 1 >= what.lead) {
        const uint32_t ended = epoch + 1 - what.lead;
        active.passing(ended, [&](uint32_t block) { return block != what.leaver || ended < what.last; });
      }
      active.checkpoint(epoch, &member, sizeof(member));
    }
  });
  search.name_words(words.data());
  return search.run();
}

void must_pass(const std::string& words, const window_program& what) {
  if (what.leaver >= what.members) return expect_nothing_found(words, explore_window<false>(what, true));
  expect_nothing_found(words + ", latest values", explore_window<true>(what, false));
  expect_nothing_found(words + ", safety", explore_window<true>(what, true));
}

/// `Leaving` and `Memory` must be found out.
template <class Memory = model_memory, class Leaving = as_shipped>
void add_mutant(const std::string& name, failure expected, const window_program& what,
                const test::memory_fault& fault = faulty_memory::none) {
  add_mutant_check("window_mutant", name, expected, fault, [=] {
    return what.leaver >= what.members ? explore_window<false, Memory, Leaving>(what, true)
                                       : explore_window<true, Memory, Leaving>(what, expected != failure::deadlock);
  });
}

window_program of(uint32_t members, uint32_t lead, uint32_t epochs) {
  window_program what;
  what.members = members;
  what.lead = lead;
  what.epochs = epochs;
  return what;
}
window_program leaving(window_program what, uint32_t leaver, uint32_t last) {
  what.leaver = leaver;
  what.last = last;
  return what;
}

}  // namespace

void add_pace_checks() {
  add_check("window", "keeps_its_members_together", [] {
    must_pass("2 members, a lead of 1, 4 epochs", of(2, 1, 4));
    must_pass("2 members, a lead of 2, 5 epochs", of(2, 2, 5));
    must_pass("2 members, a lead of 3, 6 epochs", of(2, 3, 6));
    must_pass("3 members, a lead of 1, 3 epochs", of(3, 1, 3));
    must_pass("3 members, a lead of 2, 4 epochs", of(3, 2, 4));
  });
  add_check("window", "lets_members_leave", [] {
    must_pass("2 members, one leaves before the first epoch", leaving(of(2, 1, 3), 0, 0));
    must_pass("2 members, one leaves after 1 of 3", leaving(of(2, 1, 3), 1, 1));
    must_pass("2 members, a lead of 2, one leaves after 2 of 5", leaving(of(2, 2, 5), 0, 2));
    must_pass("3 members, one leaves after 1 of 3", leaving(of(3, 1, 3), 2, 1));
    must_pass("3 members, a lead of 2, one leaves after 1 of 3", leaving(of(3, 2, 3), 2, 1));
  });
  add_check("window", "counts_on_across_its_words_ends", [] {
    for (const uint64_t before : {(uint64_t{1} << 32) - 1, (uint64_t{1} << 33) - 3, (uint64_t{1} << 40) + 5}) {
      window_program what = of(2, 2, 4);
      what.before = before;
      must_pass("2 members that have ended " + std::to_string(what.before) + " epochs", what);
    }
  });
  window_program short_of_counters = of(2, 4, 7);
  short_of_counters.slots = 2;
  add_mutant<>("fewer_counters_than_its_lead", failure::early_release, short_of_counters);
  add_mutant<faulty_memory>("leave_without_release", failure::early_release, leaving(of(3, 2, 3), 2, 1),
                            faults::no_release);
  add_mutant<loads_relaxed>("look_without_acquire", failure::early_release, leaving(of(3, 2, 3), 2, 1));
  add_mutant<model_memory, leaves_too_early>("leaves_before_it_takes_back", failure::early_release,
                                             leaving(of(3, 1, 3), 2, 1));
  add_mutant<model_memory, leaves_its_counts>("leaves_its_counts_behind", failure::early_release,
                                              leaving(of(3, 1, 3), 2, 1));
  add_mutant<model_memory, leaves_unseen>("leaves_unseen", failure::deadlock, leaving(of(2, 1, 3), 1, 1));
}

}  // namespace gpusync::verify
