// Workload "stencil" until it has converged: each step also asks whether a point has changed by more than a tolerance,
// and the step behind the first in which none has is the last. So an answer may be under way while the next step is
// computed. C++17: CUDA sources include it; tests run it on host threads.
//
// Three ways to ask: words in memory that a step leaves to the next but one, for launches and for barriers that bring
// nothing; a vote with each barrier; a vote without ordering, where neighbours exchange what lies between them.
#pragma once

#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workloads/stencil/stencil.hpp"
#include "workloads/stencil/stencil_strips.hpp"

namespace gpusync::tool {

/// Until when.
template <class Real>
struct convergence {
  Real tolerance;
  uint32_t most;    ///< steps, for a relaxation that goes wrong
  uint32_t* words;  ///< as convergence_words

  GPUSYNC_HD bool has_changed(Real old, Real fresh) const { return stencil_has_changed(old, fresh, tolerance) != 0; }
  /// Says how many steps there were: their number is checked, for a step too many writes where nobody looks.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void add_steps(Grid grid, uint32_t steps) const {
    if (grid.block() != 0 || grid.thread() != 0) return;
    (void)Grid::memory::template fetch_add<memory_order::relaxed, scope::device>(words + 4, steps);
  }
};

/// Words before the first step: one for each of four steps in turn, and how many steps there were.
inline constexpr uint32_t convergence_words[5] = {0, 0, 1, 1, 0};

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
  return {static_cast<Real>(*body.tolerance()), body.steps().limit(), words};
}
/// The check of runs in such memory: the points, and the number of steps.
class converged_result : public run_data {
 public:
  converged_result(const stencil_body& body, std::shared_ptr<arrays> memory)
      : points_(body.result(memory)), steps_(body.steps().count), memory_(std::move(memory)) {}

  void reset() override { memory_->reset(); }
  check_result check(uint64_t steps) override {
    check_result found = points_->check(steps);
    uint32_t words[std::size(convergence_words)];
    memory_->read(2, words);
    found.checked += 1;
    found.wrong += words[4] != steps_ ? 1 : 0;
    return found;
  }
  std::string how() const override { return points_->how() + ", and how many steps they were"; }

 private:
  const std::shared_ptr<run_data> points_;
  const uint32_t steps_;
  const std::shared_ptr<arrays> memory_;
};

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
    if (!over) until.add_steps(grid, 1);
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
    uint32_t s = 0;
    GPUSYNC_UNROLL(1)
    while (s < until.most) {
      const bool changed = barrier.sync_or(text.relax(grid, s, kept, until.tolerance));
      ++s;
      if (is_last) break;
      is_last = !changed;
    }
    text.save(grid, kept);
    until.add_steps(grid, s);
  }
};

/// Strips, until they have converged.
template <class Real, uint32_t Rows, uint32_t Pairs>
struct converging_strips : stencil_strips<Real, Rows, Pairs> {
  convergence<Real> until;

  /// To the end. Exchange: one that asks.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Exchange>
  GPUSYNC_HD void converge(Grid grid, Exchange& exchange) const {
    until.add_steps(grid, this->relax(grid, until.most, exchange));
  }
};

/// What exchanges that ask have in common. Rows: how the rows travel.
template <class Rows, class Real>
class asking_exchange : public Rows {
 public:
  static constexpr bool asks = true;

  template <class... Given>
  GPUSYNC_HD explicit asking_exchange(const convergence<Real>& until, Given&&... given)
      : Rows(static_cast<Given&&>(given)...), until_(until) {}

  GPUSYNC_HD bool has_changed(Real old, Real fresh) const { return until_.has_changed(old, fresh); }
  /// `any`: whether a point has changed, in any block.
  GPUSYNC_HD static bool is_over(bool any) { return !any; }
  /// Nothing, if it is known.
  GPUSYNC_HD static void ask(bool) {}

 protected:
  convergence<Real> until_;
};

/// Of those whose rows are read behind a barrier.
template <class Real, uint32_t Pairs, class Barrier>
class asking_barrier : public asking_exchange<strips_by_barrier<Real, Pairs, Barrier, true>, Real> {
 public:
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Text>
  GPUSYNC_HD asking_barrier(Barrier& barrier, Grid grid, const Text& text)
      : asking_barrier::asking_exchange(text.until, barrier, grid, text.rim, text.size.width, text.strips()) {}
};

/// A question that comes with the barrier. Barrier: a grid barrier with votes.
template <class Real, uint32_t Pairs, class Barrier>
class strips_by_votes : public asking_barrier<Real, Pairs, Barrier> {
 public:
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Text>
  GPUSYNC_HD strips_by_votes(Barrier& barrier, Grid grid, const Text& text)
      : strips_by_votes::asking_barrier(barrier, grid, text) {
    barrier.enter_votes();
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Meanwhile>
  GPUSYNC_HD bool pass(Grid, bool changed, Meanwhile&& meanwhile) {
    auto token = this->barrier_.arrive_or(changed);
    meanwhile();
    return this->barrier_.wait(static_cast<decltype(token)&&>(token));
  }
};

/// The same where the barrier brings nothing: a word in memory for each of four steps in turn.
template <class Real, uint32_t Pairs, class Barrier>
class strips_by_words : public asking_barrier<Real, Pairs, Barrier> {
 public:
  using asking_barrier<Real, Pairs, Barrier>::asking_barrier;

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Meanwhile>
  GPUSYNC_HD bool pass(Grid grid, bool changed, Meanwhile&& meanwhile) {
    uint32_t* const words = this->until_.words;
    const uint32_t step = step_++;
    changed = grid.sync_block_or(changed);
    if (grid.thread() == 0) {
      if (grid.block() == 0) words[(step + 1) % 4] = 0;
      if (changed) Grid::memory::template store<memory_order::relaxed, scope::device>(words + step % 4, 1u);
    }
    auto token = this->barrier_.arrive();
    meanwhile();
    this->barrier_.wait(static_cast<decltype(token)&&>(token));
    return words[step % 4] != 0;
  }

 private:
  uint32_t step_ = 0;
};

/// Rows as words of a halo, and beside them the question, as a vote that orders nothing.
template <class Real, uint32_t Pairs, class Halo, class Barrier>
class strips_by_halo_and_votes : public asking_exchange<strips_by_halo<Real, Pairs, Halo>, Real> {
  using base = asking_exchange<strips_by_halo<Real, Pairs, Halo>, Real>;

 public:
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Text>
  GPUSYNC_HD strips_by_halo_and_votes(Halo& halo, Barrier& votes, Grid grid, const Text& text)
      : base(text.until, halo, grid, text.size.width), votes_(votes) {
    votes.enter_votes();
  }

  /// The block's threads meet in the vote.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Meanwhile>
  GPUSYNC_HD auto pass(Grid, bool changed, Meanwhile&& meanwhile) {
    this->halo_.send();
    auto token = votes_.cast_or(changed);
    this->receive(meanwhile);
    return token;
  }
  /// By now most blocks have said theirs.
  GPUSYNC_API_TEMPLATE
  template <class Token>
  GPUSYNC_HD void ask(const Token& token) {
    votes_.ask(token);
  }
  GPUSYNC_API_TEMPLATE
  template <class Token>
  GPUSYNC_HD bool is_over(Token&& token) {
    return !votes_.wait(static_cast<Token&&>(token));
  }

 private:
  Barrier& votes_;
};

}  // namespace gpusync::tool
