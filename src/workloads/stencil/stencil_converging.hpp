// Workload "stencil" until it has converged: each step also asks whether a point has changed by more than a tolerance,
// and the step behind the first in which none has is the last. So an answer may be under way while the next step is
// computed. C++17: CUDA sources include it; tests run it on host threads.
//
// Three ways to ask: words in memory that a step leaves to the next but one, for launches and for barriers that bring
// nothing; a vote with each barrier; a vote without ordering, where neighbours exchange what lies between them.
#pragma once

#include <iterator>
#include <vector>

#include "workloads/stencil/stencil.hpp"
#include "workloads/stencil/stencil_strips.hpp"

namespace gpusync::tool {

/// Until when.
template <class Real>
struct convergence {
  Real tolerance;
  uint32_t most;    ///< steps, for a relaxation that goes wrong
  uint32_t* words;  ///< four; see converging_stencil
};

/// Words before the first step, each for one of four steps in turn.
inline constexpr uint32_t convergence_words[4] = {0, 0, 1, 1};

/// Steps of a body that ends by itself. They are told their number modulo 4.
inline step_sequence converging_steps(const stencil_body& body) {
  step_sequence steps = body.steps();
  steps.number = [](uint32_t s, uint32_t) { return s % 4; };
  return steps;
}

/// The arrays of a run: the body's two, and behind them the words.
inline std::vector<array_content> converging_arrays(const stencil_body& body) {
  std::vector<array_content> content = body.content();
  content.push_back(
      array_content::of(std::vector<uint32_t>(std::begin(convergence_words), std::end(convergence_words))));
  return content;
}
/// Until when, with these words.
template <class Real>
convergence<Real> convergence_of(const stencil_body& body, uint32_t* words) {
  return {static_cast<Real>(*body.tolerance()), 2 * body.steps().count, words};
}

/// The text of steps in two buffers, of which `a` is the last that is written.
template <uint32_t Dimensions, class Real>
stencil_text<Real, Dimensions> stencil_text_ending_in(Real* a, Real* b, const stencil_size& size, uint32_t steps) {
  if (steps % 2 == 0) return {{}, a, b, size};
  return {{}, b, a, size};
}

/// By words in memory. Step s looks at what step s - 2 has left in its word, leaves in its own whether a point has
/// changed, and clears that of step s + 1: no word is read and written in one step. When it is over, a step clears the
/// word of step s - 1 too, so that it stays over.
template <class Real, uint32_t Dimensions>
struct converging_stencil : stencil_text<Real, Dimensions> {
  using body = stencil_text<Real, Dimensions>;
  using kept = typename body::kept;

  convergence<Real> until;

  GPUSYNC_HD converging_stencil(const body& text, const convergence<Real>& until_) : body(text), until(until_) {}

  /// That of the step told `number`, or of one so many behind it.
  GPUSYNC_HD uint32_t* word(uint32_t number) const { return until.words + number % 4; }
  /// Behind the step told `number`: not 0 if another is to come.
  GPUSYNC_HD const uint32_t* goes_on(uint32_t number) const { return word(number + 3); }
  GPUSYNC_HD bool is_over(uint32_t number) const { return *word(number + 2) == 0; }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t number, kept& now) const {
    const bool over = is_over(number);
    const bool changed = !over && grid.sync_block_or(this->relax(grid, number, now, until.tolerance));
    if (grid.thread() != 0) return;
    if (grid.block() == 0) {
      *word(number + 1) = 0;
      if (over) *word(number + 3) = 0;
    }
    if (changed) Grid::memory::template store<memory_order::relaxed, scope::device>(word(number), 1u);
  }
};

/// In one kernel, to the end.
GPUSYNC_API_TEMPLATE
template <class Real, uint32_t Dimensions, class Grid, class Kept, class Boundary>
GPUSYNC_HD void all_steps(const converging_stencil<Real, Dimensions>& text, Grid grid, uint32_t, Kept& kept,
                          Boundary&& boundary) {
  for (uint32_t s = 0; s < text.until.most && !text.is_over(s); ++s) {
    text.step(grid, s % 4, kept);
    if (!boundary(s)) return;
  }
}

/// By votes: a text whose steps say whether a point has changed (stencil_text, stencil_on_chip), in one kernel.
template <class Text, class Real>
struct stencil_by_votes {
  Text text;
  convergence<Real> until;

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Barrier>
  GPUSYNC_HD void run(Grid grid, Barrier& barrier) const {
    barrier.enter_votes();
    auto kept = text.load(grid, 0);
    bool is_last = false;
    GPUSYNC_UNROLL(1)
    for (uint32_t s = 0; s < until.most; ++s) {
      const bool changed = barrier.sync_or(text.relax(grid, s, kept, until.tolerance));
      if (is_last) break;
      is_last = !changed;
    }
    text.save(grid, kept);
  }
};

/// Strips, until they have converged.
template <class Real, uint32_t Rows, uint32_t Pairs>
struct converging_strips : stencil_strips<Real, Rows, Pairs> {
  convergence<Real> until;
};

/// A question that comes with the barrier behind which the rows are read. Barrier: a grid barrier with votes.
template <class Real, uint32_t Pairs, class Barrier>
class strips_by_votes : public strips_by_barrier<Real, Pairs, Barrier, true> {
  using rows_type = strips_by_barrier<Real, Pairs, Barrier, true>;

 public:
  static constexpr bool asks = true;

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Text>
  GPUSYNC_HD strips_by_votes(Barrier& barrier, Grid grid, const Text& text)
      : rows_type(barrier, grid, text.rim, text.size.width, text.strips()), tolerance_(text.until.tolerance) {
    barrier.enter_votes();
  }

  GPUSYNC_HD bool has_changed(Real old, Real fresh) const { return stencil_has_changed(old, fresh, tolerance_) != 0; }
  /// Returns whether one has, in any block.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Meanwhile>
  GPUSYNC_HD bool pass(Grid, bool changed, Meanwhile&& meanwhile) {
    auto token = this->barrier_.arrive_or(changed);
    meanwhile();
    return this->barrier_.wait(static_cast<decltype(token)&&>(token));
  }
  GPUSYNC_HD static bool is_over(bool any) { return !any; }

 private:
  Real tolerance_;
};

/// The same where the barrier brings nothing: a word in memory for each of four steps in turn.
template <class Real, uint32_t Pairs, class Barrier>
class strips_by_words : public strips_by_barrier<Real, Pairs, Barrier, false> {
  using rows_type = strips_by_barrier<Real, Pairs, Barrier, false>;

 public:
  static constexpr bool asks = true;

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Text>
  GPUSYNC_HD strips_by_words(Barrier& barrier, Grid grid, const Text& text)
      : rows_type(barrier, grid, text.rim, text.size.width, text.strips()), until_(text.until) {}

  GPUSYNC_HD bool has_changed(Real old, Real fresh) const {
    return stencil_has_changed(old, fresh, until_.tolerance) != 0;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Meanwhile>
  GPUSYNC_HD bool pass(Grid grid, bool changed, Meanwhile&& meanwhile) {
    uint32_t* const word = until_.words + step_ % 4;
    changed = grid.sync_block_or(changed);
    if (grid.thread() == 0) {
      if (grid.block() == 0) until_.words[(step_ + 1) % 4] = 0;
      if (changed) Grid::memory::template store<memory_order::relaxed, scope::device>(word, 1u);
    }
    ++step_;
    this->barrier_.sync();
    meanwhile();
    return *word != 0;
  }
  GPUSYNC_HD static bool is_over(bool any) { return !any; }

 private:
  convergence<Real> until_;
  uint32_t step_ = 0;
};

/// Rows as words of a halo; the question is under way beside them, as a vote that orders nothing.
template <class Real, uint32_t Pairs, class Halo, class Barrier>
class strips_by_halo_and_votes : public strips_by_halo<Real, Pairs, Halo> {
  using rows_type = strips_by_halo<Real, Pairs, Halo>;

 public:
  static constexpr bool asks = true;

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Text>
  GPUSYNC_HD strips_by_halo_and_votes(Halo& halo, Barrier& votes, Grid grid, const Text& text)
      : rows_type(halo, grid, text.size.width), votes_(votes), tolerance_(text.until.tolerance) {
    votes.enter_votes();
  }

  GPUSYNC_HD bool has_changed(Real old, Real fresh) const { return stencil_has_changed(old, fresh, tolerance_) != 0; }
  /// The block's threads meet in the vote.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Meanwhile>
  GPUSYNC_HD auto pass(Grid, bool changed, Meanwhile&& meanwhile) {
    this->halo_.send();
    auto token = votes_.cast_or(changed);
    this->receive(meanwhile);
    return token;
  }
  GPUSYNC_API_TEMPLATE
  template <class Token>
  GPUSYNC_HD bool is_over(Token&& token) {
    return !votes_.wait(static_cast<Token&&>(token));
  }

 private:
  Barrier& votes_;
  Real tolerance_;
};

}  // namespace gpusync::tool
