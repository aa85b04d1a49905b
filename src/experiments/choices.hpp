// What the user chose on an experiment's axes, or what it takes otherwise: the one way to read them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "boundary/program.hpp"
#include "experiments/experiment.hpp"

namespace gpusync::tool {

/// The words that the user named on an axis, or those of `defaults` that are among `allowed`. Throws usage_error naming
/// a word that is none of `allowed`, and these.
std::vector<std::string> chosen_words(const experiment_request& request, const std::string& axis,
                                      const std::vector<std::string>& allowed,
                                      const std::vector<std::string>& defaults);

/// The same where all that are allowed are taken otherwise.
std::vector<std::string> chosen_words(const experiment_request& request, const std::string& axis,
                                      const std::vector<std::string>& allowed);

/// The number that the user named on an axis that takes one value. Throws usage_error if there are several.
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

}  // namespace gpusync::tool
