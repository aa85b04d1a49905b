#include "harness/choices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "nearest.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

std::string on_axis(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
}

std::vector<std::string> chosen_words(const experiment_request& request, const std::string& axis,
                                      const std::vector<std::string>& allowed,
                                      const std::vector<std::string>& defaults) {
  const auto is_allowed = [&](const std::string& word) { return std::ranges::find(allowed, word) != allowed.end(); };
  std::vector<std::string> words;
  const auto found = request.axes.words.find(axis);
  if (found == request.axes.words.end()) {
    std::ranges::copy_if(defaults, std::back_inserter(words), is_allowed);
    return words;
  }
  for (const std::string& word : found->second) {
    if (is_allowed(word)) continue;
    throw usage_error(fmt::format("Axis {} does not take '{}' on {}: it takes {}.{}", axis, word, request.device.id,
                                  fmt::join(allowed, ", "), did_you_mean(word, allowed)));
  }
  return found->second;
}

std::vector<std::string> chosen_words(const experiment_request& request, const std::string& axis,
                                      const std::vector<std::string>& allowed) {
  return chosen_words(request, axis, allowed, allowed);
}

int64_t chosen_number(const experiment_request& request, const std::string& axis, int64_t by_default) {
  return request.axes.numbers_or(axis, {by_default}).front();
}

std::vector<int64_t> chosen_numbers(const experiment_request& request, const std::string& axis,
                                    const std::vector<uint32_t>& defaults) {
  return request.axes.numbers_or(axis, {defaults.begin(), defaults.end()});
}

bool has_chosen(const experiment_request& request, const std::string& axis) {
  return request.axes.words.contains(axis) || request.axes.numbers.contains(axis);
}

std::vector<step_method> chosen_methods(const experiment_request& request, const std::vector<step_method>& all,
                                        const std::function<bool(const step_method&)>& is_default) {
  std::vector<std::string> defaults;
  for (const step_method& method : all) {
    if (is_default(method)) defaults.push_back(method.name);
  }
  return chosen_methods(request, all, defaults);
}

std::vector<step_method> chosen_methods(const experiment_request& request, const std::vector<step_method>& all,
                                        const std::vector<std::string>& defaults) {
  return chosen_of(request, "method", all, &step_method::name, defaults);
}

request_check check_methods(std::function<std::vector<step_method>(const device_description&)> methods) {
  request_check made;
  made.check = [methods](const experiment_request& request) {
    if (has_chosen(request, "method")) (void)chosen_methods(request, methods(request.device));
  };
  made.method_names = [methods = std::move(methods)](const device_description& device) {
    std::vector<std::string> names;
    for (const step_method& method : methods(device)) names.push_back(method.name);
    return names;
  };
  return made;
}

}  // namespace gpusync::tool
