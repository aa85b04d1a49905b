// A user's CUDA file, read, compiled in every variant, and checked against what it is launched with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pacing/kernel_text.hpp"
#include "pacing/launch_arguments.hpp"
#include "pacing/marked_source.hpp"
#include "pacing/run_time_compiler.hpp"
#include "pacing/variants.hpp"

namespace gpusync::tool {

/// What the user has named.
struct paced_program_request {
  std::string path;
  std::string kernel;  ///< as the command line has it: "solver::relax<float>"
  std::vector<std::string> definitions, folders;
  std::vector<uint32_t> intervals;
  uint64_t threads = 0;  ///< of a block
};

/// The file with its kernel. Nothing is compiled yet.
struct paced_source {
  paced_program_request asked;
  std::string text;
  source_kernel kernel;
  std::vector<pace_variant> variants;

  /// The kernel for the compiler: with its namespaces and the template's arguments.
  std::string expression() const;
};

/// Reads the file. Throws usage_error if it cannot be read, has no such kernel, or no mark.
paced_source read_paced(const paced_program_request& request);

/// Compiles one variant. Throws compile_failure, whose what() says which variant does not compile.
compiled_kernel compile_variant(const run_time_compiler& compiler, const paced_source& source,
                                const pace_variant& variant, int architecture);

/// What can be said before anything runs. Throws usage_error if the arguments do not fit, or if the kernel with a
/// barrier is the same as without: it passes no mark then.
void check_paced(const paced_source& source, const compiled_kernel& plain, const compiled_kernel& with_barrier,
                 const std::vector<kernel_argument>& arguments);

}  // namespace gpusync::tool
