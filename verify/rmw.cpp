// The wait-free objects: the shipped text in every order of its accesses to memory, with participants that stop for
// ever, and mutants that must be found out.
#include <gpusync/rmw/cas.hpp>

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
  bool stale = false;        ///< and fences are modelled
  bool joins_first = true;   ///< participants join before the search, and not as part of it
  uint32_t crash_at = 0;     ///< the first participant stops for ever at this access of its call `crash_in`; 0: it does
                             ///< not
  uint32_t crash_in = 0;
  bool returns = false;      ///< a new participant takes over its number
};

constexpr uint32_t calls_each = 3;
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

template <class Participant, uint32_t Words>
void call(Participant& participant, uint32_t digit) {
  explorer& active = explorer::active();
  active.begin_call(bit_of(digit));
  append<Words> operation;
  for (uint32_t& copy : operation.digit) copy = digit;
  const appended<Words> answer = participant.apply(operation);
  const char* wrong = wrong_in(answer, digit, active.call(), active.calls());
  if (wrong != nullptr) active.require(false, failure::not_linearizable, wrong);
  active.end_call();
}

template <uint32_t N, uint32_t Words, class Consensus,
          template <class, uint32_t, class, class> class Machine = model_machine>
exploration explore_rmw(const rmw_program& what, uint64_t most_states = 0) {
  using state = appended<Words>;
  using operation = append<Words>;
  using machine = Machine<state, N, Consensus, operation>;
  using object_type = basic_rmw_object<state, N, Consensus, operation, machine>;
  shape form;
  form.blocks = N;
  form.stale = what.stale;
  form.fences = what.stale;
  form.calls = true;
  form.most_states = most_states != 0 ? most_states : 20'000'000;
  std::vector<rmw::wide> memory(object_type::words / 2 + 1);
  rmw_now = {};
  rmw_now.words = &memory[0].low;
  rmw_now.bounded = !what.stale;
  if (what.crash_at != 0) {
    rmw_now.crash_in = bit_of(what.crash_in + 1);
    rmw_now.crash_at = what.crash_at;
  }
  object_type::start(rmw_now.words, state{});
  const object_type object(rmw_now.words);
  std::vector<typename object_type::participant> joined;
  for (uint32_t i = 0; i < N; ++i) joined.push_back(object.join(i));
  rmw_now.exploring = true;
  explorer search(form, [&] {
    const uint32_t self = explorer::active().fiber_index();
    auto me = what.joins_first ? joined[self] : object.join(self);
    for (uint32_t i = 0; i < what.calls[self]; ++i) {
      bool stopped = false;
      try {
        call<typename object_type::participant, Words>(me, self * calls_each + i + 1);
      } catch (const crashed&) {
        stopped = true;
      }
      if (stopped && !what.returns) return;
      if (stopped) me = object.join(self);
    }
  });
  search.name_words(rmw_now.words);
  exploration result = search.run();
  rmw_now.exploring = false;
  return result;
}

void print_rmw(const std::string& what, const exploration& result) {
  print(what + ", passes " + std::to_string(rmw_now.most_passes) + ", steps " + std::to_string(result.most_call_steps),
        result);
}

}  // namespace

void add_rmw_checks() {
  add_check("rmw", "first", [] {
    const auto show = [](const char* name, const exploration& result) {
      print_rmw(name, result);
      std::fflush(stdout);
      EXPECT_EQ(result.found, failure::none) << result.trace;
    };
    const auto with = [](std::vector<uint32_t> calls, bool stale = false, bool joins_first = true) {
      rmw_program p; p.calls = calls; p.stale = stale; p.joins_first = joins_first; return p; };
    show("2: 3,3", explore_rmw<2, 1, rmw::cas<>>(with({3, 3})));
    show("2: 3,3 two words", explore_rmw<2, 2, rmw::cas<>>(with({3, 3})));
    show("2: 3,3 joining", explore_rmw<2, 1, rmw::cas<>>(with({3, 3}, false, false)));
    show("2: 3,3 patience 1", explore_rmw<2, 1, rmw::cas<rmw::publication::tagged, 1>>(with({3, 3})));
    show("2: 1,1 stale", explore_rmw<2, 1, rmw::cas<>>(with({1, 1}, true)));
    show("2: 2,1 stale", explore_rmw<2, 1, rmw::cas<>>(with({2, 1}, true)));
    show("2: 2,2 stale ordered", explore_rmw<2, 1, rmw::cas<rmw::publication::ordered>>(with({2, 2}, true)));
    show("3: 1,1,1", explore_rmw<3, 1, rmw::cas<>>(with({1, 1, 1})));
    show("3: 1,1,1 joining", explore_rmw<3, 1, rmw::cas<>>(with({1, 1, 1}, false, false)));
    show("3: 2,1,1", explore_rmw<3, 1, rmw::cas<>>(with({2, 1, 1})));
    show("2: 2,2 stale", explore_rmw<2, 1, rmw::cas<>>(with({2, 2}, true)));
    show("3: 2,2,1", explore_rmw<3, 1, rmw::cas<>>(with({2, 2, 1})));
  });
}

}  // namespace gpusync::verify
