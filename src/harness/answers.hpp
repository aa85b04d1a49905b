// What a run has found: a sentence for each experiment and device.
#pragma once

#include <string>
#include <vector>

#include "harness/experiment.hpp"

namespace gpusync::tool {

/// A sentence of at most 25 words: the first of `heads` that has room for where it was measured, "(NVIDIA H200, 132
/// blocks)", of the row, or of the device alone.
std::string answer_in(const measured_rows& measured, const std::vector<std::string>& heads, const row* where = nullptr);

/// What one experiment has found on one device, in a sentence.
struct found_answer {
  std::string experiment;
  std::string device;  ///< id
  std::string text;
};

/// For each experiment and device of the document, in its order, what was found: the experiment's own answer, or the
/// main verdict. Experiments that this program does not know, and those whose rows say nothing, have none.
std::vector<found_answer> found_answers(const document& results);
/// Their sentences alone.
std::vector<std::string> answers(const document& results);

/// The row with the least figure of a metric among those that `is_wanted` takes; null if none has one.
const row* least(
    const measured_rows& measured, const std::string& metric,
    const std::function<bool(const row&)>& is_wanted = [](const row&) { return true; });

/// The sum of a metric over the rows.
double sum_of(const measured_rows& measured, const std::string& metric);

/// A large count in words: "1.2 million", "34 billion", "950".
std::string count_in_words(double count);

}  // namespace gpusync::tool
