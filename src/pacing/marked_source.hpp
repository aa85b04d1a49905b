// What stands in a user's CUDA file: its kernels, the marks for artificial barriers, the loops that could have one. By
// a scan of the text, which knows comments, strings, directives and brackets, but no types: the compiler has the last
// word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpusync::tool {

/// A loop of a kernel.
struct source_loop {
  int line = 0;
  std::string header;         ///< "for (int i = 0; i < n; ++i)", on one line, shortened
  std::string index;          ///< the variable that a for loop begins with; empty if it has none
  bool uses_memory = false;   ///< its body has a subscript, a pointer's target or an atomic operation
  bool names_thread = false;  ///< its header names threadIdx: threads may pass it unequally often
  bool has_loop = false;      ///< a loop that uses memory stands in it
};

/// A kernel that is defined in the file.
struct source_kernel {
  std::string name;  ///< with its namespaces: "solver::relax"
  int line = 0;
  bool is_template = false;
  std::vector<std::string> parameters;  ///< as they are written: "const float* in"
  std::vector<source_loop> loops;
  int marks = 0;                     ///< that stand in its body
  bool uses_shared = false;          ///< its body names __shared__
  std::vector<std::string> strided;  ///< subscripts in which a number that follows threadIdx.x is multiplied
};

struct marked_source {
  std::vector<source_kernel> kernels;  ///< in the file's order
  int marks_elsewhere = 0;             ///< in other functions and in macros
  bool marks_have_arguments = false;   ///< any has one
};

/// The text with comments, string and character literals, directives and what `#if 0` leaves out replaced by spaces;
/// line ends and places stay.
std::string without_remarks(std::string_view text);

/// Reads a file's text.
marked_source scan_source(std::string_view text);

/// The kernel that `name` means: "relax", "solver::relax" or "solver::relax<float>". Throws usage_error, with what
/// there is, if there is none, or several, or if it is a template and `name` has no arguments. `path`: of the file.
const source_kernel& find_kernel(const marked_source& source, const std::string& name, const std::string& path);

/// Throws usage_error if no mark can be passed by the kernel, with the loops where one could stand.
void require_marks(const marked_source& source, const source_kernel& kernel, const std::string& path);

}  // namespace gpusync::tool
