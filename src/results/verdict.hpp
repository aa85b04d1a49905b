// What the figures say, in words.
#pragma once

#include <string>
#include <vector>

#include "results/document.hpp"

namespace gpusync::tool {

/// The verdict on one device and shape.
struct verdict {
  std::string experiment;
  std::string device;  ///< id
  std::string winner;  ///< method; empty if none had verified results
  std::string text;    ///< one sentence of at most 25 words: what to do, the figure, where
  std::string behind;  ///< one sentence: the other methods with their figures, and who was wrong, failed or skipped
};

/// One verdict for each device and shape that an experiment measured times of steps or whole runs for, in the
/// document's order. Only rows that are ok and verified can win, and the work alone never does. The method with the
/// least figure is recommended if no other is faster by more than 2 %, which the rounds of both must show at a
/// confidence of 95 % each (headline_ratio); otherwise it is too noisy to say, or there were too few rounds
/// (fewest_rounds) to say anything with that confidence.
std::vector<verdict> verdicts(const document& results);

/// For each experiment and device the verdict on its usual shape, a block of 256 threads for each compute unit; where
/// that was not measured, on the largest: most threads in all, then most blocks. Of several such, with stores.
std::vector<verdict> main_verdicts(const document& results);

/// "HEAD (PLACE)." with the first head, and the first place of that, that keep within 25 words (most_words), or else
/// the same with `last_places`, or else the last of both.
std::string short_sentence(const std::vector<std::string>& heads, const std::vector<std::string>& places,
                           const std::vector<std::string>& last_places = {});

/// A method in words: "graph" is "a CUDA graph"; a method without other words goes by its name.
std::string method_in_words(const std::string& method);

}  // namespace gpusync::tool
