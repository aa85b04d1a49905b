// What the user chose on an experiment's axes, or what it takes otherwise: the one way to read them.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "boundary/program.hpp"
#include "harness/experiment.hpp"

namespace gpusync::tool {

/// The words that the user named on an axis, or those of `defaults` that are among `allowed`. Throws usage_error naming
/// a word that is none of `allowed`, and these.
std::vector<std::string> chosen_words(const experiment_request& request, const std::string& axis,
                                      const std::vector<std::string>& allowed,
                                      const std::vector<std::string>& defaults);

/// The same where all that are allowed are taken otherwise.
std::vector<std::string> chosen_words(const experiment_request& request, const std::string& axis,
                                      const std::vector<std::string>& allowed);

/// Those of `all` that the user named on an axis, by the words that `word_of` gives them, or those of `defaults`.
/// Throws as chosen_words() does.
template <class Values, class WordOf>
auto chosen_of(const experiment_request& request, const std::string& axis, const Values& all, const WordOf& word_of,
               const std::vector<std::string>& defaults) {
  std::vector<std::string> words;
  for (const auto& one : all) words.emplace_back(std::invoke(word_of, one));
  std::vector<std::decay_t<decltype(*std::begin(all))>> chosen;
  for (const std::string& word : chosen_words(request, axis, words, defaults)) {
    chosen.push_back(*std::ranges::find(all, word, word_of));
  }
  return chosen;
}

/// The same where all are taken otherwise.
template <class Values, class WordOf>
auto chosen_of(const experiment_request& request, const std::string& axis, const Values& all, const WordOf& word_of) {
  std::vector<std::string> words;
  for (const auto& one : all) words.emplace_back(std::invoke(word_of, one));
  return chosen_of(request, axis, all, word_of, words);
}

/// Words as the user names them on an axis: "graph,cg".
std::string on_axis(const std::vector<std::string>& words);

/// The number that the user named on an axis that takes one value.
int64_t chosen_number(const experiment_request& request, const std::string& axis, int64_t by_default);

/// The numbers that the user named on an axis, or `defaults`.
std::vector<int64_t> chosen_numbers(const experiment_request& request, const std::string& axis,
                                    const std::vector<uint32_t>& defaults);

/// Whether the user named values of an axis.
bool has_chosen(const experiment_request& request, const std::string& axis);

/// Those of `all` that axis `method` names, in the user's order, or those that `is_default` takes, or all. Throws
/// usage_error naming the culprit and what there is.
std::vector<step_method> chosen_methods(
    const experiment_request& request, const std::vector<step_method>& all,
    const std::function<bool(const step_method&)>& is_default = [](const step_method&) { return true; });
/// The same with the names of those to take otherwise, in their order.
std::vector<step_method> chosen_methods(const experiment_request& request, const std::vector<step_method>& all,
                                        const std::vector<std::string>& defaults);

/// What experiment::request is where only axis `method` hangs on the device, which has these methods. It is not opened
/// if the user names none.
request_check check_methods(std::function<std::vector<step_method>(const device_description&)> methods);

}  // namespace gpusync::tool
