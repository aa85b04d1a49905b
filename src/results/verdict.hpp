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
  std::string where;   ///< device and shape in words, with which the text begins
  std::string winner;  ///< method; empty if none had verified results
  std::string text;    ///< one sentence without line breaks: where, the winner, its rivals, and who was wrong
};

/// One verdict for each device and shape that an experiment measured times of steps or whole runs for, in the
/// document's order. Only rows that are ok and verified can win, and the work alone never does. A winner and rivals
/// whose quartiles overlap are called as fast as each other.
std::vector<verdict> verdicts(const document& results);

/// For each experiment and device the verdict on its largest shape: most threads in all, then most blocks,
/// then with stores.
std::vector<verdict> main_verdicts(const document& results);

/// The text of the first of these, the one line that a run ends with; empty if the document has no such
/// times.
std::string answer(const document& results);

/// A method in words: "graph" is "a CUDA graph"; a method without other words goes by its name.
std::string method_in_words(const std::string& method);

}  // namespace gpusync::tool
