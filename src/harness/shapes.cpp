#include "harness/shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "harness/choices.hpp"
#include "number_in.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

constexpr uint32_t most_blocks = 65535;
constexpr uint32_t most_threads = 1024;

/// The whole text as a number from 1 to `most`.
std::optional<uint32_t> count_in(const std::string& text, uint32_t most) {
  const auto value = number_in<uint32_t>(text);
  return value && *value >= 1 && *value <= most ? value : std::nullopt;
}

}  // namespace

std::vector<step_shape> parse_shapes(const std::vector<std::string>& words) {
  std::vector<step_shape> shapes;
  for (const std::string& word : words) {
    const size_t times = word.find('x');
    const auto blocks = count_in(word.substr(0, times), most_blocks);
    const auto threads = times == std::string::npos ? std::nullopt : count_in(word.substr(times + 1), most_threads);
    if (!blocks || !threads) {
      throw usage_error(fmt::format(
          "Axis shape does not take '{}': it takes blocks x threads per block, as in shape=132x256,264x1024, "
          "with 1 to {} blocks of 1 to {} threads.",
          word, most_blocks, most_threads));
    }
    step_shape shape;
    shape.blocks = *blocks;
    shape.threads = *threads;
    shapes.push_back(shape);
  }
  return shapes;
}

std::string to_word(const step_shape& shape) {
  return fmt::format("{}x{}", shape.blocks, shape.threads);
}

std::vector<int64_t> chosen_blocks(const experiment_request& request, workload& workload, int64_t threads) {
  std::vector<uint32_t> blocks;
  if (!has_chosen(request, "blocks")) {
    blocks = workload.default_blocks(request.quick);
    const uint64_t most = workload.max_co_resident(static_cast<uint32_t>(threads));
    std::erase_if(blocks, [most](uint32_t count) { return count > most; });
  }
  return chosen_numbers(request, "blocks", blocks);
}

std::string in_words(const step_shape& shape) {
  return fmt::format("{} blocks x {} threads{}", shape.blocks, shape.threads, shape.stores ? ", stores in flight" : "");
}

axis_values axes_of(const step_shape& shape) {
  return {{"blocks", int64_t{shape.blocks}}, {"threads", int64_t{shape.threads}}, {"stores", int64_t{shape.stores}}};
}

std::vector<step_shape> shapes_or(const experiment_request& request, const std::vector<std::string>& defaults) {
  const auto wanted = request.axes.words.find("shape");
  return parse_shapes(wanted == request.axes.words.end() ? defaults : wanted->second);
}

int64_t threads_by_default(device_kind kind) {
  return kind == device_kind::cuda ? 256 : kind == device_kind::opencl ? 64 : 1;
}

std::vector<std::string> usual_shapes(bool quick) {
  if (quick) return {"132x256"};
  return {"32x256", "66x256", "132x32", "132x256", "132x1024", "264x256", "264x1024", "528x512", "1056x256"};
}

std::string usual_shapes_in_words() {
  return fmt::format("{}; with --quick {}", fmt::join(usual_shapes(false), ","), fmt::join(usual_shapes(true), ","));
}

axis shape_axis(const std::string& default_text) {
  axis made{"shape", "blocks x threads per block, as 132x256", 0, 0, true, default_text};
  made.require_word = [](const std::string& word) { (void)parse_shapes({word}); };
  return made;
}

std::vector<bool> chosen_l1(const experiment_request& request, bool both) {
  const std::vector<std::string> by_default =
      both ? std::vector<std::string>{"large", "small"} : std::vector<std::string>{"large"};
  std::vector<bool> chosen;
  for (const std::string& word : chosen_words(request, "l1", {"large", "small"}, by_default)) {
    chosen.push_back(word == "small");
  }
  return chosen;
}

const char* l1_word(bool small) {
  return small ? "small" : "large";
}

}  // namespace gpusync::tool
