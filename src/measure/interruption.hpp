// How a long computation ends because the user wants it to. C++17: CUDA sources include it.
#pragma once

#include <exception>
#include <functional>

namespace gpusync::tool {

/// What ends a long computation early because the user wants it to end. No failure: whoever throws it has nothing to
/// report.
struct run_interrupted : std::exception {
  const char* what() const noexcept override { return "Interrupted."; }
};

/// Throws run_interrupted if `asked` is there and says yes.
inline void end_if(const std::function<bool()>& asked) {
  if (asked && asked()) throw run_interrupted();
}

}  // namespace gpusync::tool
