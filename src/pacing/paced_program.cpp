#include "pacing/paced_program.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

std::string text_of(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) throw usage_error(fmt::format("'{}' is a folder.", path));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) throw usage_error(fmt::format("'{}' cannot be read: {}.", path, std::strerror(errno != 0 ? errno : EIO)));
  return text.str();
}

/// What functions do that it calls is not known.
bool is_same_code(const kernel_text& left, const kernel_text& right) {
  return left.body == right.body && !left.calls && !right.calls;
}

}  // namespace

std::string paced_source::expression() const {
  const size_t arguments = asked.kernel.find('<');
  return "::" + kernel.name + (arguments == std::string::npos ? "" : asked.kernel.substr(arguments));
}

paced_source read_paced(const paced_program_request& request) {
  paced_source source{request, text_of(request.path), {}, {}};
  const marked_source scanned = scan_source(source.text);
  source.kernel = find_kernel(scanned, request.kernel, request.path);
  require_marks(scanned, source.kernel, request.path);
  source.variants = pace_variants(scanned.marks_have_arguments, request.intervals, request.threads);
  return source;
}

compiled_kernel compile_variant(const run_time_compiler& compiler, const paced_source& source,
                                const pace_variant& variant, int architecture) {
  const paced_program_request& asked = source.asked;
  compile_request request{program_text(variant, source.text, asked.path, asked.threads),
                          asked.path,
                          source.expression(),
                          architecture,
                          asked.definitions,
                          asked.folders};
  const std::string folder = std::filesystem::path(asked.path).parent_path().string();
  request.folders.insert(request.folders.begin(), folder.empty() ? "." : folder);
  try {
    return compiler.compile(request);
  } catch (const compile_failure& failure) {
    if (variant.form == variant_form::none) throw;
    throw compile_failure(fmt::format("{} with {} in the marks' place", failure.what(), variant.name), failure.log());
  }
}

void check_paced(const paced_source& source, const compiled_kernel& plain, const compiled_kernel& with_barrier,
                 const std::vector<kernel_argument>& arguments) {
  const kernel_text without = read_ptx(plain.ptx, plain.symbol);
  require_arguments(source.kernel, without.parameters, arguments);
  if (is_same_code(without, read_ptx(with_barrier.ptx, with_barrier.symbol))) {
    throw usage_error(
        fmt::format("{} passes none of the marks in '{}': its machine code is the same with barriers in their place.",
                    source.kernel.name, source.asked.path));
  }
}

}  // namespace gpusync::tool
