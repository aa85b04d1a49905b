// With which sentence something is refused.
#pragma once

#include <gpusync/core/error.hpp>

#include <functional>
#include <string>

namespace gpusync::test {

/// The words of the invalid_argument that something throws.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const invalid_argument& refused) {
    return refused.what();
  }
  return "nothing was refused";
}

}  // namespace gpusync::test
