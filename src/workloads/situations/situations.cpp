#include "workloads/situations/situations.hpp"

#include <algorithm>
#include <cmath>

namespace gpusync::tool {

namespace {

using any_text = situation_text<2, 1, 1, 1>;

/// What is kept before the first step.
constexpr uint32_t first_kept = 1;

uint32_t in_words(double bytes) {
  return static_cast<uint32_t>(std::ceil(bytes / sizeof(uint32_t)));
}

}  // namespace

uint32_t words_of(const advice::situation& asked) {
  return std::max(1u, in_words(asked.stored_bytes));
}

uint32_t kept_words_of(const advice::situation& asked) {
  return in_words(asked.kept_bytes / asked.threads);
}

halo_problem neighbours_of(const advice::situation& asked) {
  halo_problem problem;
  problem.neighbours = asked.waits_for == advice::dependence::neighbours ? asked.neighbours : 2;
  problem.words = words_of(asked);
  return problem;
}

situation_work work_of(const advice::situation& asked, double units_in_us) {
  const auto units = [units_in_us](double us) { return static_cast<uint32_t>(std::lround(us * units_in_us)); };
  situation_work work;
  work.even = units(asked.step_us - asked.skew_us);
  if (asked.skew_us > 0) {
    const bool is_uniform = asked.skew == advice::skew_form::uniform;
    work.varying = {is_uniform ? halo_work::kind::uniform : halo_work::kind::exponential, units(asked.skew_us)};
  }
  return work;
}

std::vector<array_content> situation_arrays(const advice::situation& asked) {
  std::vector<uint32_t> start(size_t{asked.blocks} * words_of(asked));
  for (size_t i = 0; i < start.size(); ++i) start[i] = static_cast<uint32_t>(i) * any_text::a_word;
  const size_t kept = size_t{asked.blocks} * asked.threads * kept_words_of(asked);
  const size_t words = start.size();
  return {array_content::of(std::move(start)), array_content::filled(words, 0u),
          array_content::filled(std::max<size_t>(1, kept), first_kept)};
}

check_result situation_result::check(uint64_t steps) {
  check_result result;
  std::vector<uint32_t> found(memory_->bytes(0) / sizeof(uint32_t));
  memory_->read(steps % 2, found.data());
  const auto grown = static_cast<uint32_t>(steps) * any_text::a_step;
  for (size_t i = 0; i < found.size(); ++i) {
    result.wrong += found[i] != static_cast<uint32_t>(i) * any_text::a_word + grown ? 1 : 0;
  }
  result.checked = found.size();
  if (kept_words_of(asked_) == 0) return result;
  uint32_t kept = first_kept;
  for (uint64_t s = 0; s < steps; ++s) kept = any_text::turned(kept);
  found.resize(memory_->bytes(2) / sizeof(uint32_t));
  memory_->read(2, found.data());
  result.checked += found.size();
  for (const uint32_t word : found) result.wrong += word != kept ? 1 : 0;
  return result;
}

}  // namespace gpusync::tool
