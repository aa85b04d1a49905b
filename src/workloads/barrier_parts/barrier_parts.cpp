#include "workloads/barrier_parts/barrier_parts.hpp"

#include <numeric>

#include "boundary/barrier_methods.hpp"

namespace gpusync::tool {

std::vector<step_method> barrier_parts_methods() {
  std::vector<step_method> all;
  for (const part_name& each : part_names) {
    step_method method;
    method.name = each.name;
    method.title = each.title;
    if (*each.item != '\0') method.items.emplace_back(each.item);
    if (each.part == barrier_part::none) method.kind = method_kind::floor;
    all.push_back(std::move(method));
  }
  for (step_method& method : barrier_methods<whole_barriers>("barrier")) {
    if (method.name == "lock-based-none") method.items.emplace_back("F15");
    if (method.name == "lock-based-fence") method.items.emplace_back("F16");
    all.push_back(std::move(method));
  }
  return all;
}

const part_name* find_part(const std::string& method) {
  for (const part_name& each : part_names) {
    if (each.name == method) return &each;
  }
  return nullptr;
}

std::vector<array_content> barrier_parts_arrays(const step_shape& shape) {
  std::vector<array_content> all = average_arrays(shape);
  all.push_back(array_content::filled(size_t{parts_word_places} * parts_word_stride, 0u));
  return all;
}

barrier_parts_result::barrier_parts_result(const step_shape& shape, const std::string& method,
                                           std::shared_ptr<arrays> memory)
    : average_result({shape.blocks, shape.threads, false}, find_part(method) == nullptr, std::move(memory)),
      blocks_(shape.blocks),
      adds_(find_part(method) != nullptr && adds(find_part(method)->part)) {}

check_result barrier_parts_result::check(uint64_t steps) {
  check_result result = average_result::check(steps);
  std::vector<uint32_t> words(size_t{parts_word_places} * parts_word_stride);
  memory().read(2, words.data());
  const uint32_t word = std::accumulate(words.begin(), words.end(), 0u);  // all places but one hold 0
  if (!adds_) {
    result.wrong += word != 0 ? 1 : 0;
    return result;
  }
  result.checked += steps * blocks_;
  const auto expected = static_cast<uint32_t>(steps * blocks_);  // the word wraps as well
  result.wrong += expected > word ? expected - word : word - expected;
  return result;
}

std::string barrier_parts_result::how() const {
  std::string words = average_result::how();
  if (adds_) words.append("; the sum of all additions compared with their number");
  return words;
}

step_sequence barrier_parts_steps_of_a_run() {
  return {average_period, false, 2 * average_checked, {}};
}

}  // namespace gpusync::tool
