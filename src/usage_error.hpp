// What ends a command with exit code 2.
#pragma once

#include <stdexcept>

namespace gpusync::tool {

/// Wrong usage, foreign or truncated input, an unwritable output: what() is one sentence that names the culprit and
/// what is allowed.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gpusync::tool
