// Child processes that may hang: they are ended when they take too long.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "measure/child_process.hpp"

namespace gpusync::test {

using namespace std::chrono_literals;

struct outcome {
  bool hung = false;   ///< was ended after it had said "ready" and then nothing for long
  std::string output;  ///< both streams
};

/// Runs `command`. Getting ready (compiling) may take a minute; what comes after the child has said "ready", `limit`.
inline outcome watch(const std::vector<std::string>& command, std::chrono::milliseconds limit = 5s) {
  const tool::child_outcome found = tool::run_child(command, {60s, "ready", limit}, true);
  return {!found.ended && found.was_ready, found.output};
}

}  // namespace gpusync::test
