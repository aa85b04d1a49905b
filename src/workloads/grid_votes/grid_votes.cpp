#include "workloads/grid_votes/grid_votes.hpp"

#include <algorithm>

namespace gpusync::tool {

namespace {

/// What every thread begins with.
constexpr uint32_t first_word = 0x2545f491u;

/// What every thread must end with.
uint32_t last_word(const step_shape& shape, bool by_partials, vote_form form, uint64_t steps) {
  const uint32_t threads = shape.blocks * shape.threads;
  uint32_t word = first_word;
  if (by_partials && steps != 0) {
    word = grid_votes::hashed(word, 0);  // before the first step the partials are 0
    --steps;                             // and the last step's are not read
  }
  for (uint64_t s = 0; s < steps; ++s) {
    const uint32_t answer = is_sum(form) ? grid_votes::sum_of(word, shape.blocks)
                                         : (grid_votes::says_yes(word, 2 * threads) < threads ? 1u : 0u);
    word = grid_votes::hashed(word, answer);
  }
  return word;
}

}  // namespace

step_method method_of(const vote_method& one) {
  step_method method;
  method.name = one.name;
  method.title = one.title;
  method.kind = one.form == vote_form::no_answer ? method_kind::floor : method_kind::barrier;
  method.needs_co_residency = true;
  return method;
}

std::vector<array_content> votes_arrays(const step_shape& shape) {
  return {array_content::filled(size_t{shape.blocks} * shape.threads, first_word),
          array_content::filled(size_t{2} * shape.blocks, 0u)};
}

step_sequence votes_steps_of_a_run() {
  step_sequence steps;
  steps.count = 2;
  steps.least = 2;
  steps.number = [](uint32_t s, uint32_t) { return s % 2; };
  return steps;
}

votes_result::votes_result(const step_shape& shape, const std::string& method, std::shared_ptr<arrays> memory)
    : shape_(shape), memory_(std::move(memory)) {
  for (const vote_method& one : vote_methods) {
    if (method != one.name) continue;
    by_partials_ = false;
    form_ = one.form;
  }
}

check_result votes_result::check(uint64_t steps) {
  const uint32_t expected = last_word(shape_, by_partials_, form_, steps);
  std::vector<uint32_t> words(size_t{shape_.blocks} * shape_.threads);
  memory_->read(0, words.data());
  const auto right = std::count(words.begin(), words.end(), expected);
  return {words.size(), words.size() - static_cast<uint64_t>(right)};
}

std::string votes_result::how() const {
  if (!by_partials_ && form_ == vote_form::no_answer) return "the number of steps of each thread; there are no sums";
  return "a hash of all answers of all steps in each thread, as the host computed it";
}

}  // namespace gpusync::tool
