// The wait-free objects: the shipped text in every order of its accesses to memory, with participants that stop for
// ever, and mutants that must be found out.
#include <gpusync/rmw/cas.hpp>
#include <gpusync/rmw/cas128.hpp>
#include <gpusync/rmw/coalesced_store.hpp>

#include "checks.hpp"
#include "mutants/rmw_machines.hpp"
#include "rmw_machine.hpp"

namespace gpusync::verify {

namespace {

/// The state of the explored object: all operations so far in their order, four bits each, in all of its words. So an
/// answer says which operations came before, two answers that disagree are found out at once, and so is a torn one.
template <uint32_t Words>
struct appended {
  uint32_t digits[Words] = {};
};

/// Appends a digit, 1 to 15.
template <uint32_t Words>
struct append {
  uint32_t digit[Words];
  appended<Words> operator()(appended<Words> old) const {
    for (uint32_t i = 0; i < Words; ++i) old.digits[i] = old.digits[i] << 4 | digit[i];
    return old;
  }
};

/// What is explored: participants that make so many calls each.
struct rmw_program {
  std::vector<uint32_t> calls = {3, 3};
  bool stale = false;         ///< loads may return what has been overwritten, and fences are modelled
  bool reduced = true;        ///< see model_machine
  bool bounded = true;        ///< too many passes are a failure; not with stale values
  bool joins_inside = false;  ///< joining is part of the search, and not done before it
  bool has_data = false;      ///< the participants have plain data, which the calls are to hand on
  uint32_t crash_at = 0;      ///< participant 0 stops for ever at this access of its call `crash_in`; 0: it does not
  uint32_t crash_in = 0;
  bool returns = false;              ///< then a new participant takes over its number
  uint64_t most_states = 5'000'000;  ///< beyond them the search is cut short and says so
};

/// The digit of a participant's first call; those of its other calls follow. There are 15 for all.
uint32_t first_digit(uint32_t participant) {
  return participant * (15 / explorer::active().form().blocks) + 1;
}
uint64_t bit_of(uint32_t digit) {
  return uint64_t{1} << digit;
}

/// Says what is wrong with the answer to the call that appended `digit`, if anything is.
template <uint32_t Words>
const char* wrong_in(const appended<Words>& answer, uint32_t digit, const call_state& call, call_log& log) {
  for (const uint32_t copy : answer.digits) {
    if (copy != answer.digits[0]) return "the answer is torn";
  }
  uint64_t before = 0;
  for (uint32_t rest = answer.digits[0]; rest != 0; rest >>= 4) {
    const uint64_t bit = bit_of(rest & 15);
    if ((before & bit) != 0) return "an operation has taken place twice";
    before |= bit;
  }
  if ((before & bit_of(digit)) != 0) return "an operation came before itself";
  if ((before & ~log.begun) != 0) return "an operation has taken place before it began";
  if ((call.completed_before & ~before) != 0) return "an operation came after one that began when it had ended";
  const uint64_t order = uint64_t{answer.digits[0]} << 4 | digit;
  uint64_t longer = std::max(order, log.known_order);
  uint64_t shorter = std::min(order, log.known_order);
  log.known_order = longer;
  while (longer > shorter) longer >>= 4;
  return longer == shorter ? nullptr : "two answers disagree on the order";
}

template <uint32_t Words, class Participant>
void call(Participant& participant, uint32_t digit, bool has_data) {
  explorer& active = explorer::active();
  active.begin_call(bit_of(digit));
  append<Words> operation;
  for (uint32_t& copy : operation.digit) copy = digit;
  const appended<Words> answer = participant.apply(operation);
  const char* wrong = wrong_in(answer, digit, active.call(), active.calls());
  if (wrong != nullptr) active.require(false, failure::not_linearizable, wrong);
  active.end_call();
  if (!has_data) return;
  // Whoever's first call came before this one has written its slot before it.
  uint64_t before = 0;
  for (uint32_t rest = answer.digits[0]; rest != 0; rest >>= 4) before |= bit_of(rest & 15);
  active.read_slots(0, [&](uint32_t other) { return (before & bit_of(first_digit(other))) != 0; });
}

template <uint32_t N, uint32_t Words, class Consensus,
          template <class, uint32_t, class, class> class Machine = model_machine>
exploration explore_rmw(const rmw_program& what) {
  using state = appended<Words>;
  using operation = append<Words>;
  using machine = Machine<state, N, Consensus, operation>;
  using object_type = basic_rmw_object<state, N, Consensus, operation, machine>;
  shape form;
  form.blocks = N;
  form.stale = what.stale;
  form.fences = what.stale;
  form.calls = true;
  form.most_states = states_allowed(what.most_states);
  std::vector<rmw::wide> memory(object_type::words / 2 + 1);
  rmw_now = {};
  rmw_now.words = &memory[0].low;
  rmw_now.bounded = what.bounded && !what.stale;
  rmw_now.reduces = what.reduced;
  if (what.crash_at != 0) {
    rmw_now.crash_in = bit_of(what.crash_in + 1);
    rmw_now.crash_at = what.crash_at;
  }
  object_type::start(rmw_now.words, state{});
  const object_type object(rmw_now.words);
  // Participants are not copied; here one that has joined begins again in every execution, so its bytes are.
  using participant = typename object_type::participant;
  struct place {
    alignas(participant) unsigned char bytes[sizeof(participant)];
  };
  place joined[N];
  for (uint32_t i = 0; i < N; ++i) new (joined[i].bytes) participant(object.join(i));
  rmw_now.exploring = true;
  explorer search(form, [&] {
    const uint32_t self = explorer::active().fiber_index();
    if (what.has_data) explorer::active().write_slot(0);
    place mine = joined[self];
    if (what.joins_inside) new (mine.bytes) participant(object.join(self));
    auto& me = *reinterpret_cast<participant*>(mine.bytes);
    for (uint32_t i = 0; i < what.calls[self]; ++i) {
      bool stopped = false;
      try {
        call<Words>(me, first_digit(self) + i, what.has_data);
      } catch (const crashed&) {
        stopped = true;
      }
      if (stopped) explorer::active().abandon_call();
      if (stopped && !what.returns) return;
      if (stopped) new (mine.bytes) participant(object.join(self));
    }
  });
  search.name_words(rmw_now.words);
  exploration result = search.run();
  rmw_now.exploring = false;
  if (!what.stale && result.found == failure::none && result.most_call_steps > object_type::max_steps) {
    result.found = failure::not_wait_free;
    result.trace = std::to_string(result.most_call_steps) + " accesses in one call; the bound is " +
                   std::to_string(object_type::max_steps) + "\n";
  }
  return result;
}

/// A policy alone: participants that propose for so many rounds, one after the other, and then look for the last one.
/// All who learn of a round's winner must learn of the same.
template <uint32_t N, class Consensus, template <class, uint32_t, class, class> class Machine = model_machine>
exploration explore_consensus(const std::vector<uint32_t>& rounds) {
  using machine = Machine<appended<1>, N, Consensus, append<1>>;
  using head = typename Consensus::head;
  shape form;
  form.blocks = N;
  form.stale = true;
  form.fences = true;
  form.calls = true;
  form.most_states = states_allowed(5'000'000);
  std::vector<rmw::wide> memory(Consensus::words(N) / 2 + 1);
  rmw_now = {};
  rmw_now.words = &memory[0].low;
  rmw_now.exploring = true;
  explorer search(form, [&] {
    explorer& active = explorer::active();
    const uint32_t self = active.fiber_index();
    const machine on;
    head known{0, 0, true};
    const auto check = [&] {
      if (!known.decided() || known.round == 0) return;
      const uint32_t shift = 4 * (static_cast<uint32_t>(known.round) - 1);
      uint64_t& winners = active.calls().known_order;
      const uint64_t before = winners >> shift & 15;
      if (before != 0 && before != known.winner() + 1) {
        active.require(false, failure::not_linearizable, "a round has two winners");
      }
      winners |= uint64_t{known.winner() + 1} << shift;
    };
    for (uint32_t i = 0; i < rounds[self]; ++i) {
      const head wanted = Consensus::next(known, self, i % 2, 0, nullptr);
      (void)Consensus::template propose<N>(on, rmw_now.words, self, known, wanted);
      check();
      if (!known.decided()) return;
    }
    known = Consensus::template latest<N>(on, rmw_now.words);
    check();
  });
  search.name_words(rmw_now.words);
  exploration result = search.run();
  rmw_now.exploring = false;
  return result;
}

void must_pass(const std::string& what, const exploration& result) {
  print(what + " (" + std::to_string(rmw_now.most_passes) + " passes, " + std::to_string(result.most_call_steps) +
            " accesses)",
        result);
  EXPECT_EQ(result.found, failure::none) << what << ": " << to_string(result.found) << "\n" << result.trace;
}

rmw_program calls(std::vector<uint32_t> each) {
  rmw_program what;
  what.calls = std::move(each);
  return what;
}
rmw_program stale(std::vector<uint32_t> each) {
  rmw_program what = calls(std::move(each));
  what.stale = true;
  return what;
}

/// Participant 0 stops for ever at each access of each of its calls in turn; `returns`: and another one takes over its
/// number.
template <uint32_t N, class Consensus>
void crash_everywhere(const std::string& what, const std::vector<uint32_t>& each, bool returns) {
  exploration all;
  all.exhaustive = true;
  uint32_t most_passes = 0;
  for (uint32_t crash_in = 0; crash_in < each[0]; ++crash_in) {
    bool reached = true;
    for (uint32_t at = 1; reached; ++at) {
      rmw_program program = calls(each);
      program.crash_in = crash_in;
      program.crash_at = at;
      program.returns = returns;
      const exploration result = explore_rmw<N, 1, Consensus>(program);
      all.states += result.states;
      all.steps += result.steps;
      all.executions += result.executions;
      all.seconds += result.seconds;
      all.exhaustive = all.exhaustive && result.exhaustive;
      all.most_call_steps = std::max(all.most_call_steps, result.most_call_steps);
      EXPECT_EQ(result.found, failure::none) << what << ", access " << at << ": " << to_string(result.found) << "\n"
                                             << result.trace;
      most_passes = std::max(most_passes, rmw_now.most_passes);
      reached = rmw_now.crashes != 0;
    }
  }
  rmw_now.most_passes = most_passes;
  must_pass(what + (returns ? ", which returns" : ""), all);
}

template <class Consensus>
void add_shipped(const std::string& name) {
  add_check("rmw", name + "_of_2", [] {
    must_pass("2 participants, 3 calls each", explore_rmw<2, 1, Consensus>(calls({3, 3})));
    must_pass("2 participants, 3 calls each, 8 bytes", explore_rmw<2, 2, Consensus>(calls({3, 3})));
    rmw_program inside = calls({3, 3});
    inside.joins_inside = true;
    must_pass("2 participants that join, 3 calls each", explore_rmw<2, 1, Consensus>(inside));
    rmw_program every = calls({3, 3});
    every.reduced = false;
    must_pass("2 participants, 3 calls each, every access a step", explore_rmw<2, 1, Consensus>(every));
  });
  // Only with many calls does a winner come back to a record that another participant is still reading.
  add_check("rmw", name + "_with_many_calls", [] {
    must_pass("2 participants, 7 calls and 1", explore_rmw<2, 1, Consensus>(calls({7, 1})));
    if (Consensus::uses_cells) return;
    must_pass("2 participants, 5 calls and 3", explore_rmw<2, 1, Consensus>(calls({5, 3})));
    crash_everywhere<2, Consensus>("2 participants, 4 calls and 1, one of which stops", {4, 1}, true);
  });
  add_check("rmw", name + "_of_3", [] {
    must_pass("3 participants, 1 call each", explore_rmw<3, 1, Consensus>(calls({1, 1, 1})));
  });
  add_check("rmw", name + "_with_crashes", [] {
    crash_everywhere<2, Consensus>("2 participants, one of which stops", {2, 2}, false);
    crash_everywhere<2, Consensus>("2 participants, one of which stops", {2, 1}, true);
  });
  add_check("rmw", name + "_stale", [] {
    must_pass("2 participants, 2 calls and 1, stale values", explore_rmw<2, 1, Consensus>(stale({2, 1})));
    if (Consensus::uses_cells) return;
    must_pass("2 participants, 2 calls each, stale values", explore_rmw<2, 1, Consensus>(stale({2, 2})));
    rmw_program of_3 = stale({1, 1, 1});
    of_3.most_states = 200'000;
    must_pass("3 participants, 1 call each, stale values", explore_rmw<3, 1, Consensus>(of_3));
  });
}

template <class Consensus>
void add_ordered(const std::string& name) {
  add_check("rmw", name + "_hands_on_data", [] {
    rmw_program what = stale({3, 3});
    what.has_data = true;
    must_pass("2 participants, 3 calls each, plain data, stale values", explore_rmw<2, 1, Consensus>(what));
    what.calls = {1, 1, 1};
    must_pass("3 participants, 1 call each, plain data, stale values", explore_rmw<3, 1, Consensus>(what));
  });
}

template <uint32_t N, class Consensus, template <class, uint32_t, class, class> class Machine>
void add_consensus_mutant(const std::string& name, const std::vector<uint32_t>& rounds) {
  add_check("rmw_mutant", name,
            [=] { expect_found(name, explore_consensus<N, Consensus, Machine>(rounds), failure::not_linearizable); });
}

template <uint32_t N, class Consensus, template <class, uint32_t, class, class> class Machine, uint32_t Words = 1>
void add_mutant(const std::string& name, failure expected, const rmw_program& what) {
  add_check("rmw_mutant", name, [=] { expect_found(name, explore_rmw<N, Words, Consensus, Machine>(what), expected); });
}

}  // namespace

void add_rmw_checks() {
  using rmw::publication;
  using patient = rmw::cas<publication::tagged, 1>;
  using ordered = rmw::cas<publication::ordered>;
  using store = rmw::coalesced_store<rmw::litmus::imitated>;
  using narrow_store = rmw::coalesced_store<rmw::litmus::imitated, rmw::space::shared, uint32_t>;
  add_shipped<rmw::cas<>>("cas");
  add_shipped<rmw::cas128<>>("cas128");
  add_shipped<store>("coalesced_store");
  add_check("rmw", "cas_with_patience", [] {
    must_pass("2 participants, 3 calls each", explore_rmw<2, 1, patient>(calls({3, 3})));
    must_pass("2 participants, 2 calls and 1, stale values", explore_rmw<2, 1, patient>(stale({2, 1})));
    must_pass("3 participants, 1 call each", explore_rmw<3, 1, patient>(calls({1, 1, 1})));
  });
  add_check("rmw", "cas_of_3_with_more_calls", [] {
    must_pass("3 participants, 2 calls, 1 and 1", explore_rmw<3, 1, rmw::cas<>>(calls({2, 1, 1})));
    must_pass("3 participants, 2 calls, 1 and 1, 128 bits", explore_rmw<3, 1, rmw::cas128<>>(calls({2, 1, 1})));
    crash_everywhere<3, rmw::cas<>>("3 participants, one of which stops", {1, 1, 1}, false);
  });
  // A change without a record keeps the one before it, which its writer, who has lost to that change, must not write.
  add_check("rmw", "cas128_keeps_a_record_whole", [] {
    must_pass("3 participants, 1 call, 2 and 1", explore_rmw<3, 1, rmw::cas128<>>(calls({1, 2, 1})));
    crash_everywhere<3, rmw::cas128<>>("3 participants, one of which stops", {1, 1, 1}, true);
  });
  add_check("rmw", "coalesced_store_as_in_shared_memory", [] {
    must_pass("2 participants, 3 calls each", explore_rmw<2, 1, narrow_store>(calls({3, 3})));
  });
  add_check("rmw", "coalesced_store_agrees", [] {
    must_pass("2 participants, 2 rounds each", explore_consensus<2, store>({2, 2}));
    must_pass("2 participants, 1 round each, and one that looks", explore_consensus<3, store>({1, 1, 0}));
    must_pass("3 participants, 1 round each", explore_consensus<3, store>({1, 1, 1}));
  });
  add_ordered<ordered>("cas");
  add_ordered<rmw::cas128<publication::ordered>>("cas128");
  add_ordered<rmw::cas<publication::ordered, 1>>("cas_with_patience");

  const failure wrong = failure::not_linearizable;
  add_mutant<2, rmw::cas<>, torn_compare_exchange>("cas_torn", wrong, calls({1, 1}));
  add_mutant<2, rmw::cas<>, no_validation>("cas_no_validation", wrong, calls({3, 3}));
  add_mutant<2, rmw::cas<>, takes_proposals_for_decided>("cas_takes_proposals_for_decided", wrong, calls({3, 3}));
  add_mutant<2, rmw::cas<>, one_record>("cas_one_record", failure::not_wait_free, calls({3, 3}));
  add_mutant<2, rmw::cas<>, numbers_first>("cas_numbers_first", failure::not_wait_free, calls({5, 1}));
  add_mutant<2, rmw::cas<>, joins_announcements, 2>("cas_joins_announcements", wrong, calls({3, 3}));
  add_mutant<2, rmw::cas<>, never_helps>("cas_never_helps", failure::not_wait_free, calls({7, 1}));
  add_mutant<3, overwrites_kept_record, model_machine>("cas128_overwrites_kept_record", failure::not_wait_free,
                                                       calls({1, 2, 1}));
  rmw_program unbounded = calls({2, 1});
  unbounded.bounded = false;
  add_mutant<2, store, torn_store>("coalesced_store_torn", wrong, unbounded);
  add_mutant<2, store, no_round_check>("coalesced_store_no_round_check", wrong, calls({3, 3}));
  add_mutant<2, store, no_validation>("coalesced_store_no_validation", wrong, calls({3, 3}));
  add_mutant<2, store, no_fence_for_stores>("coalesced_store_no_fence", wrong, stale({2, 1}));
  add_mutant<2, store, no_acquire_of_cells>("coalesced_store_no_acquire", wrong, stale({2, 1}));
  add_consensus_mutant<3, store, one_look_for_stores>("coalesced_store_one_look", {1, 1, 0});
  add_consensus_mutant<2, store, no_fence_for_stores>("coalesced_store_no_fence_at_all", {1, 1});
  rmw_program data = stale({2, 1});
  data.has_data = true;
  add_mutant<2, rmw::cas<>, model_machine>("cas_tagged_hands_on_no_data", failure::data_race, data);
}

}  // namespace gpusync::verify
