// Workload "grid-votes": in each step every block brings a number, and every block gets the sum of all; or every thread
// brings a yes or no, and all learn whether one said yes. The text of a step for host threads and CUDA, and what the
// host knows of it. C++17: CUDA sources include it.
//
// What a block brings hangs on all sums before: every thread hashes each sum into a word that it keeps, and the number
// is made of this word. So whoever has got one wrong sum ends with another word than the host computes, and the check
// of all words after a run is one of all sums of all steps in all blocks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpusync/core/ordering.hpp>

#include "boundary/arrays.hpp"
#include "boundary/computation.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

namespace grid_votes {

// Of few instructions each, for what follows a vote's answer, up to the next vote, is measured with it.

/// Hashes an answer into what a thread keeps; two answers never make the same of one word. What is kept is turned,
/// which need not wait for the answer: else two wrong top bits in a row would be none.
GPUSYNC_HD constexpr uint32_t hashed(uint32_t kept, uint32_t answer) {
  return ((kept << 7 | kept >> 25) ^ answer) * 0x9e3779b1u + 0x7f4a7c15u;
}
/// What a block brings.
GPUSYNC_HD constexpr uint32_t brought(uint32_t kept, uint32_t block) {
  return kept + block;
}
/// What all blocks' numbers come to.
GPUSYNC_HD constexpr uint32_t sum_of(uint32_t kept, uint32_t blocks) {
  return kept * blocks + static_cast<uint32_t>(uint64_t{blocks} * (blocks - 1) / 2);
}
/// The thread of the grid that says yes, a number below `twice_threads`: in half of the steps there is none of that
/// number. Without a division, which takes longer than a block's part of a vote.
GPUSYNC_HD constexpr uint32_t says_yes(uint32_t kept, uint32_t twice_threads) {
  return static_cast<uint32_t>(uint64_t{kept} * twice_threads >> 32);
}

}  // namespace grid_votes

/// By partials: each block writes its number, and behind the boundary each reads all. It needs a boundary that orders
/// data, and so it runs under every barrier and every kind of launch. A step first reads what the step before has left,
/// so that of a run's sums the last is not read, and before the first there is one of zeros.
struct votes_by_partials : computation {
  struct kept {
    uint32_t word;
  };
  uint32_t* words;     ///< of each thread
  uint32_t* partials;  ///< of each block, for even steps and for odd ones

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid grid, uint32_t) const {
    return {words[grid.block() * grid.threads() + grid.thread()]};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t number, kept& own) const {
    const uint32_t blocks = grid.blocks();
    const uint32_t* const before = partials + (number + 1) % 2 * blocks;
    uint32_t sum = 0;
    if constexpr (Grid::warp_size == 1) {
      for (uint32_t i = 0; i < blocks; ++i) sum += before[i];
    } else {
      for (uint32_t i = grid.thread(); i < blocks; i += grid.threads()) sum += before[i];
      sum = sum_of_block(grid, number % 2, sum);
    }
    own.word = grid_votes::hashed(own.word, sum);
    if (grid.thread() == 0) partials[number % 2 * blocks + grid.block()] = grid_votes::brought(own.word, grid.block());
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void save(Grid grid, const kept& own) const {
    words[grid.block() * grid.threads() + grid.thread()] = own.word;
  }

 private:
  /// The sum of the threads' values, to all. One block barrier: of two places that are used in turn.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t sum_of_block(Grid grid, uint32_t half, uint32_t value) {
    for (uint32_t mask = 16; mask != 0; mask /= 2) value += grid.from_other_thread(value, mask);
    auto* const sums = reinterpret_cast<uint32_t*>(grid.template shared_by_block<16>()) + half * 32;
    const uint32_t thread = grid.thread();
    if (thread % 32 == 0) sums[thread / 32] = value;
    grid.sync_block();
    value = thread % 32 < (grid.threads() + 31) / 32 ? sums[thread % 32] : 0;
    for (uint32_t mask = 16; mask != 0; mask /= 2) value += grid.from_other_thread(value, mask);
    return value;
  }
};

/// How an answer comes when it comes with the barrier.
enum class vote_form {
  sync_add,   ///< the sum, and a barrier
  vote_add,   ///< the sum alone
  sync_or,    ///< yes or no, and a barrier
  vote_or,    ///< yes or no alone
  no_answer,  ///< a barrier alone: what the sums are is computed
};

GPUSYNC_HD constexpr bool is_sum(vote_form form) {
  return form != vote_form::sync_or && form != vote_form::vote_or;
}

/// All steps of a run under a barrier with votes, or with none.
GPUSYNC_API_TEMPLATE
template <vote_form Form, class Grid, class Barrier>
GPUSYNC_HD void votes_of_a_run(Grid grid, const votes_by_partials& text, uint32_t steps, Barrier& barrier) {
  if constexpr (Form == vote_form::no_answer) {
    barrier.enter();
  } else {
    barrier.enter_votes();
  }
  votes_by_partials::kept own = text.load(grid, 0);
  // Opaque, or the compiler would find them anew in each step, between two votes.
  const uint32_t block = grid.block(), blocks = grid.opaque(grid.blocks());
  const uint32_t twice_threads = grid.opaque(2 * blocks * grid.threads());
  const uint32_t mine = grid.opaque(block * grid.threads() + grid.thread());
  GPUSYNC_UNROLL(1)
  for (uint32_t s = 0; s < steps; ++s) {
    uint32_t answer = 0;
    if constexpr (Form == vote_form::sync_add) answer = barrier.sync_add(grid_votes::brought(own.word, block));
    if constexpr (Form == vote_form::vote_add) answer = barrier.vote_add(grid_votes::brought(own.word, block));
    if constexpr (Form == vote_form::sync_or)
      answer = barrier.sync_or(grid_votes::says_yes(own.word, twice_threads) == mine);
    if constexpr (Form == vote_form::vote_or)
      answer = barrier.vote_or(grid_votes::says_yes(own.word, twice_threads) == mine);
    if constexpr (Form == vote_form::no_answer) {
      barrier.sync();
      answer = grid_votes::sum_of(own.word, blocks);
    }
    own.word = grid_votes::hashed(own.word, answer);
  }
  text.save(grid, own);
}

/// A method that only this workload has.
struct vote_method {
  vote_form form;
  const char* name;
  const char* title;
  const char* barrier;  ///< whose it is, as results call it; on host threads the default barrier
};

inline constexpr vote_method vote_methods[] = {
    {vote_form::sync_add, "sync-add", "grid barrier that brings the sum", method_names::default_barrier},
    {vote_form::vote_add, "vote-add", "sum without ordering", method_names::default_barrier},
    {vote_form::sync_or, "sync-or", "grid barrier that brings a yes or no", method_names::default_barrier},
    {vote_form::vote_or, "vote-or", "yes or no without ordering", method_names::default_barrier},
    {vote_form::no_answer, "barrier-alone", "grid barrier that brings nothing", method_names::default_barrier},
    {vote_form::no_answer, "cg-alone", "cooperative groups' grid barrier, which brings nothing", "cg"},
};

/// Calls `visit(std::integral_constant<vote_form, …>)` for the form.
template <class Visit>
auto with_vote_form(vote_form form, Visit&& visit) {
  switch (form) {
    case vote_form::sync_add: return visit(std::integral_constant<vote_form, vote_form::sync_add>{});
    case vote_form::vote_add: return visit(std::integral_constant<vote_form, vote_form::vote_add>{});
    case vote_form::sync_or: return visit(std::integral_constant<vote_form, vote_form::sync_or>{});
    case vote_form::vote_or: return visit(std::integral_constant<vote_form, vote_form::vote_or>{});
    case vote_form::no_answer: break;
  }
  return visit(std::integral_constant<vote_form, vote_form::no_answer>{});
}

/// As a step_method.
step_method method_of(const vote_method& one);

/// The threads' words and the partials, before a run.
std::vector<array_content> votes_arrays(const step_shape& shape);
/// The steps of a run, which come in pairs: partials alternate.
step_sequence votes_steps_of_a_run();

/// Compares each thread's word after a run with the host's.
class votes_result : public run_data {
 public:
  votes_result(const step_shape& shape, const std::string& method, std::shared_ptr<arrays> memory);
  void reset() override { memory_->reset(); }
  check_result check(uint64_t steps) override;
  std::string how() const override;

 private:
  const step_shape shape_;
  bool by_partials_ = true;
  vote_form form_ = vote_form::sync_add;
  const std::shared_ptr<arrays> memory_;
};

}  // namespace gpusync::tool
