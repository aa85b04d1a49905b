// What the texts of paced workloads are made of: the loop in epochs, clocks for instrumented builds, elements by
// formula, and the list of variants. C++17: CUDA sources include it.
//
// A text is a class of plain data with
//   using variants = paced_variants<…>;             its loop's intervals
//   struct shared { … };                            what a block shares, in shared memory
//   Text(const paced_problem&, uint32_t* const*)    on these arrays
//   static paced_arrays arrays(problem)             how large they are
//   uint64_t trips() const; uint64_t bytes() const  see paced_program
//   uint32_t word(uint32_t array, uint64_t i) const      what an input holds, by formula
//   uint32_t expected(uint64_t i) const                  what the output must hold, without the arrays and the loop
//   run<Every>(Grid, pace, shared&, watch) const         the kernel
// and may have run_rival(Grid, rival_shared&), another cure, with its `rival_name` and `rival_title`.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "workloads/paced/paced.hpp"
#include "workloads/paced/paced_effects.hpp"

namespace gpusync::tool {

/// Random-looking bits of a number.
GPUSYNC_HD inline uint32_t mixed(uint64_t number) {
  auto bits = static_cast<uint32_t>(number ^ (number >> 32));
  bits ^= bits >> 16;
  bits *= 0x7feb352du;
  bits ^= bits >> 15;
  bits *= 0x846ca68bu;
  return bits ^ (bits >> 16);
}

/// The word that holds a float.
GPUSYNC_HD inline uint32_t word_of(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Parts of an instrumented warp's time.
enum paced_part : uint32_t { in_memory, in_barrier, in_tree };

/// Reads no clock, and leaves nothing of itself in the code.
struct no_watch {
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void start(Grid) {}
  GPUSYNC_API_TEMPLATE
  template <paced_part Part, class Grid>
  GPUSYNC_HD void lap(Grid, uint32_t) {}
  GPUSYNC_HD void count() {}
};

/// Reads the multiprocessor's clock; on the host nanoseconds. Each thread has one of its own.
struct stop_watch {
  uint64_t parts[3] = {0, 0, 0};
  uint64_t visits = 0;

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void start(Grid grid) {
    last_ = read(grid, 0);
  }
  /// Adds the time since start() or the last lap() to a part, once `zero`, which is 0, is there.
  GPUSYNC_API_TEMPLATE
  template <paced_part Part, class Grid>
  GPUSYNC_HD void lap(Grid grid, uint32_t zero) {
    const auto now = read(grid, zero);
    parts[Part] += static_cast<decltype(now)>(now - static_cast<decltype(now)>(last_));
    last_ = now;
  }
  GPUSYNC_HD void count() { ++visits; }

 private:
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  static GPUSYNC_HD auto read(Grid grid, uint32_t zero) {
    if constexpr (Grid::has_named_barriers) {
      return grid.cycles_after(zero);  // 32 bits: an interval is shorter than two seconds
    } else {
      return grid.now() + zero;
    }
  }

  uint64_t last_ = 0;
};

/// 0, but the compiler does not know: no text computes such a value. An instrumented build reads its clock behind it.
template <class T>
GPUSYNC_HD uint32_t zero_behind(T value) {
  return value == static_cast<T>(-1) ? 1u : 0u;
}

/// Carries out `trips` iterations, with a visit behind each `Every` of them; the rest, fewer, has none, so that all
/// threads of the block make equally many whose trips are equally many. `body()` returns something that
/// zero_behind() takes; `behind_visit()` follows each visit. Unroll: iterations that are to stand side by side, at most
/// Every; Epochs: so many of them. Both are the same for all forms: left to itself the compiler unrolls the control
/// further than what waits.
GPUSYNC_API_TEMPLATE
template <uint32_t Every, uint32_t Unroll, uint32_t Epochs = (Every == 1 ? 4 : 1), class Grid, class Pace, class Watch,
          class Body, class Behind>
GPUSYNC_HD void in_epochs(Grid grid, uint64_t trips, Pace& pace, Watch& watch, const Body& body,
                          const Behind& behind_visit) {
  GPUSYNC_UNROLL(Epochs)
  for (uint64_t epoch = trips / Every; epoch != 0; --epoch) {
    watch.start(grid);
    uint32_t zero = 0;
    GPUSYNC_UNROLL(Unroll)
    for (uint32_t i = 0; i < Every; ++i) zero |= zero_behind(body());
    watch.template lap<in_memory>(grid, zero);
    pace.visit();
    watch.template lap<in_barrier>(grid, 0);
    watch.count();
    behind_visit();
  }
  GPUSYNC_UNROLL(1)
  for (uint64_t rest = trips % Every; rest != 0; --rest) (void)body();
}
GPUSYNC_API_TEMPLATE
template <uint32_t Every, uint32_t Unroll, uint32_t Epochs = (Every == 1 ? 4 : 1), class Grid, class Pace, class Watch,
          class Body>
GPUSYNC_HD void in_epochs(Grid grid, uint64_t trips, Pace& pace, Watch& watch, const Body& body) {
  in_epochs<Every, Unroll, Epochs>(grid, trips, pace, watch, body, [] {});
}

/// Whether a kernel is the plain one, whose loop may be the natural one where a visit would ask for another.
template <class Pace>
inline constexpr bool is_plain = std::is_same_v<typename Pace::form, pace::off>;

/// A list of intervals.
template <uint32_t... Every>
struct intervals {};

/// The variants of a text: the plain loop with its own interval, the control and the block barrier at each of `Block`,
/// the cheaper forms at each of `Cheaper` with the control of leads, and a barrier's single effects at the first of
/// `Block`. Instrumented are the plain loop and the block barrier at each of `Clocked`.
template <uint32_t Plain, class Block, class Cheaper, class Clocked>
struct paced_variants;

/// One variant as a type.
template <class Form, uint32_t Every, paced_role Role, bool Instrumented = false>
struct paced_kind {
  using form = Form;
  static constexpr uint32_t every = Every;
  static constexpr paced_role role = Role;
  static constexpr bool instrumented = Instrumented;
};

/// Names in results, and in words.
inline std::string form_name(pace::off) {
  return "none";
}
inline std::string form_name(pace::compiler_fence) {
  return "control";
}
template <uint32_t Warps, uint32_t First>
std::string form_name(pace::warps<Warps, First>) {
  return pace::warps<Warps>::name + std::to_string(Warps);
}
template <uint32_t Visits>
std::string form_name(pace::lead<Visits>) {
  return pace::lead<Visits>::name + std::to_string(Visits);
}
template <uint32_t Visits>
std::string form_name(counted<Visits>) {
  return counted<Visits>::name + std::to_string(Visits);
}
template <class Form>
std::string form_name(Form) {
  return Form::name;
}

template <class Kind>
paced_variant variant_of(Kind) {
  return variant_of(form_name(typename Kind::form{}), Kind::every, Kind::role, Kind::instrumented);
}

template <uint32_t Plain, uint32_t First, uint32_t... Block, uint32_t... Cheaper, uint32_t... Clocked>
struct paced_variants<Plain, intervals<First, Block...>, intervals<Cheaper...>, intervals<Clocked...>> {
  /// Calls `visit(paced_kind<…>())` for each.
  template <class Visit>
  static void for_each(const Visit& visit) {
    visit(paced_kind<pace::off, Plain, paced_role::plain>());
    visit(paced_kind<pace::compiler_fence, First, paced_role::control>());
    (visit(paced_kind<pace::compiler_fence, Block, paced_role::control>()), ...);
    visit(paced_kind<pace::block, First, paced_role::paced>());
    (visit(paced_kind<pace::block, Block, paced_role::paced>()), ...);
    (visit(paced_kind<pace::warps<8>, Cheaper, paced_role::paced>()), ...);
    (visit(paced_kind<pace::lead<1>, Cheaper, paced_role::lead>()), ...);
    (visit(paced_kind<pace::lead<4>, Cheaper, paced_role::lead>()), ...);
    (visit(paced_kind<counted<1>, Cheaper, paced_role::counted>()), ...);
    (visit(paced_kind<counted<4>, Cheaper, paced_role::counted>()), ...);
    visit(paced_kind<arrive_only, First, paced_role::effect>());
    visit(paced_kind<fence_only, First, paced_role::effect>());
    visit(paced_kind<delay_only, First, paced_role::effect>());
    (visit(paced_kind<pace::off, Clocked, paced_role::plain, true>()), ...);
    (visit(paced_kind<pace::block, Clocked, paced_role::paced, true>()), ...);
  }
};

template <class Text, class = void>
struct rival_of_text {
  static constexpr bool there = false;
};
template <class Text>
struct rival_of_text<Text, std::void_t<decltype(Text::rival_name)>> {
  static constexpr bool there = true;
};

/// The rival of a text as a variant.
template <class Text>
paced_variant rival_variant() {
  return {Text::rival_name, Text::rival_title, 1, paced_role::rival};
}

/// All timed variants of a text.
template <class Text>
std::vector<paced_variant> variants_of() {
  std::vector<paced_variant> all;
  Text::variants::for_each([&](auto kind) {
    if constexpr (!decltype(kind)::instrumented) all.push_back(variant_of(kind));
  });
  if constexpr (rival_of_text<Text>::there) all.push_back(rival_variant<Text>());
  return all;
}

}  // namespace gpusync::tool
