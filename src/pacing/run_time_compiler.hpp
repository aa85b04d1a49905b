// NVRTC, NVIDIA's compiler for CUDA C++ at run time, where there is one: looked for when it is wanted, so that the tool
// runs without it. Needs no device.
#pragma once

#include <gpusync/core/error.hpp>

#include <memory>
#include <string>
#include <vector>

namespace gpusync::tool {

/// What to compile.
struct compile_request {
  std::string text;                      ///< of the program
  std::string path;                      ///< what it is called in messages
  std::string kernel;                    ///< the kernel wanted, as an expression: "solver::relax<float>"
  int architecture;                      ///< 90 for sm_90
  std::vector<std::string> definitions;  ///< NAME or NAME=VALUE
  std::vector<std::string> folders;      ///< for #include, before the toolkit's
};

/// What came of it.
struct compiled_kernel {
  std::string symbol;  ///< the kernel's name in the machine code
  std::string image;   ///< machine code; PTX, where the compiler is older than the architecture
  std::string ptx;
};

/// The program is none, or has no such kernel: log() is the compiler's message, with the program's own lines.
class compile_failure : public error {
 public:
  compile_failure(const std::string& what, std::string log) : error(what), log_(std::move(log)) {}
  const std::string& log() const { return log_; }

 private:
  std::string log_;
};

class run_time_compiler {
 public:
  /// Looks for libnvrtc of CUDA 13 or 12 where the loader looks, in $CUDA_HOME and $CUDA_PATH, and in /usr/local/cuda.
  /// Throws gpusync::error with a sentence if there is none.
  run_time_compiler();
  ~run_time_compiler();

  /// "13.0".
  std::string version() const;
  /// Compiles as nvcc -std=c++17 does, for device code alone. Throws compile_failure.
  compiled_kernel compile(const compile_request& request) const;

 private:
  struct library;
  std::unique_ptr<library> library_;
};

}  // namespace gpusync::tool
