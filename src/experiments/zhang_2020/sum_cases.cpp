#include "experiments/zhang_2020/sum_cases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/choices.hpp"
#include "results/text.hpp"

namespace gpusync::tool {

namespace {

/// How many elements are summed of those that so many bytes hold.
struct part_of_input {
  const char* word;
  uint64_t (*elements)(uint64_t all);
};
constexpr part_of_input parts[] = {
    {"n", [](uint64_t all) { return all; }},
    {"n-1", [](uint64_t all) { return all - 1; }},
    {"3n/4+1", [](uint64_t all) { return 3 * all / 4 + 1; }},
};

/// How one sum follows the other.
struct way_to_pass {
  const char* word;
  const char* passing;
};
constexpr way_to_pass ways_to_pass[] = {
    {"graph", method_names::graph}, {"stream", method_names::relaunch}, {"single", method_names::host_wait}};

struct element_type {
  const char* word;
  bool wide;
};
constexpr element_type types[] = {{"float", false}, {"double", true}};

struct input_state {
  const char* word;
  bool cached;
};
constexpr input_state inputs[] = {{"cold", false}, {"l2", true}};

template <class Values>
const auto& named(const Values& values, const std::string& word) {
  return *std::ranges::find(values, word, [](const auto& one) { return one.word; });
}

template <class Values, class WordOf>
std::string words_of(const Values& values, const WordOf& word_of) {
  std::string all;
  for (const auto& one : values) all += (all.empty() ? "" : ",") + std::string(std::invoke(word_of, one));
  return all;
}

}  // namespace

reduction_problem sum_case::problem(uint32_t times) const {
  const bool wide = named(types, type).wide;
  return {wide, named(parts, count).elements(times * (bytes / (wide ? 8 : 4))), offset, named(inputs, input).cached,
          named(ways_to_pass, passing).passing};
}

std::vector<sum_case> sum_cases(const experiment_request& request, const sum_defaults& defaults) {
  std::vector<sum_case> all;
  const std::vector<int64_t> sizes = request.axes.numbers_or("bytes", defaults.bytes);
  const std::vector<int64_t> offsets = request.axes.numbers_or("offset", {0});
  for (const element_type& type : chosen_of(request, "type", types, &element_type::word, {"float"})) {
    for (const input_state& input : chosen_of(request, "input", inputs, &input_state::word, defaults.inputs)) {
      for (const way_to_pass& way :
           chosen_of(request, "passing", ways_to_pass, &way_to_pass::word, {defaults.passing})) {
        for (const part_of_input& part : chosen_of(request, "count", parts, &part_of_input::word, {"n"})) {
          for (const int64_t offset : offsets) {
            for (const int64_t bytes : sizes) {
              all.push_back({type.word, static_cast<uint64_t>(bytes), part.word, input.word, way.word,
                             static_cast<uint32_t>(offset)});
            }
          }
        }
      }
    }
  }
  return all;
}

bool is_uncached(const sum_case& one, uint64_t most_cached_bytes) {
  return one.problem().cached && one.bytes > most_cached_bytes;
}

std::string label_of(const sum_case& one, uint64_t elements) {
  return fmt::format("{} {} of {} ({}), {}, {}", elements, one.type, bytes_in_words(one.bytes), one.count, one.input,
                     one.passing);
}

std::vector<axis> axes_of_sums(const std::string& inputs_by_default, const std::string& passing) {
  return {
      {"type", "of the elements: float or double", 0, 0, true, "float"},
      {"count", "elements of those that so many bytes hold: " + words_of(parts, &part_of_input::word), 0, 0, true, "n"},
      {"input", "cold: in no cache; l2: the same again and again, up to half the cache", 0, 0, true, inputs_by_default},
      {"passing", "graph: a node of a graph for each sum; stream: queued; single: the host waits for each", 0, 0, true,
       passing}};
}

}  // namespace gpusync::tool
