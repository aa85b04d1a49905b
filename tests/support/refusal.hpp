// With which sentence something is refused.
#pragma once

#include <gpusync/core/error.hpp>

#include <functional>
#include <string>

namespace gpusync::test {

/// The words of the refusal that something throws; none if it throws none.
template <class Refusal = invalid_argument>
std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Refusal& refused) {
    return refused.what();
  }
  return "";
}

}  // namespace gpusync::test
