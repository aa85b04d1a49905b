// The message with which the command line refuses something.
#pragma once

#include <functional>
#include <string>

#include "usage_error.hpp"

namespace gpusync::tool::test {

/// What usage_error says; empty if `work` throws none.
inline std::string usage_refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const usage_error& refused) {
    return refused.what();
  }
  return "";
}

}  // namespace gpusync::tool::test
