#include "workloads/oversubscription/oversubscription.hpp"

namespace gpusync::tool {

std::vector<array_content> relay_arrays(const step_shape& shape) {
  const uint32_t all = elements_of(shape);
  std::vector<uint32_t> words(2 * size_t{all});
  for (uint32_t i = 0; i < all; ++i) words[all + i] = relay_word(i, relay_period - 1);
  return {array_content::once(std::move(words)), array_content::filled(1, 0u)};
}

check_result relay_result::check(uint64_t phases) {
  phases_ += phases;
  return {phases * elements_, memory_->word(1)};
}

check_result relay_result::check_last() {
  std::vector<uint32_t> words(2 * size_t{elements_});
  memory_->read(0, words.data());
  check_result result{elements_, 0};
  const auto last = static_cast<uint32_t>((phases_ + relay_period - 1) % relay_period);
  for (uint32_t i = 0; i < elements_; ++i) {
    result.wrong += words[last % 2 * size_t{elements_} + i] != relay_word(i, last) ? 1 : 0;
  }
  return result;
}

std::string relay_result::how() const {
  return "every thread's word of every timed phase, read by another virtual block in the next one, and all of the last";
}

step_sequence relay_steps(std::shared_ptr<const relay_result> result) {
  return {2, false, 2, [result = std::move(result)](uint32_t s, uint32_t) { return result->next_phase() + s; }};
}

std::vector<step_method> relay_methods() {
  const std::vector<std::string> items{"S5"};
  return {{method_names::relaunch, "a grid of all blocks for each phase, queued in order", items, method_kind::launch},
          {"phased-striding", "phased grid, each block its share of the virtual ones", items},
          {"phased-claiming", "phased grid, virtual blocks claimed from a counter, one barrier", items},
          {"phased-flag-claiming", "phased grid, virtual blocks claimed by flags, two barriers (Shen)", items}};
}

}  // namespace gpusync::tool
