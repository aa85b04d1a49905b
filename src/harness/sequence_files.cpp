#include "harness/sequence_files.hpp"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <filesystem>
#include <map>

#include "usage_error.hpp"
#include "workloads/sequences/fasta.hpp"

namespace gpusync::tool {

namespace {

/// Throws usage_error if paths[first] is no file but, joined by commas with those behind it, the name of one.
void refuse_commas(const std::vector<std::string>& paths, size_t first) {
  std::error_code ignored;
  if (std::filesystem::exists(paths[first], ignored)) return;
  std::string joined = paths[first];
  for (size_t next = first + 1; next < paths.size(); ++next) {
    joined += "," + paths[next];
    if (!std::filesystem::exists(joined, ignored)) continue;
    throw usage_error(fmt::format(
        "The name '{}' has a comma, which separates files on the command line: give a link to it without one.",
        joined));
  }
}

}  // namespace

std::vector<sequence_file> read_sequence_files(const experiment_request& request, const std::string& axis) {
  static std::map<std::string, std::vector<sequence>> known;
  struct sysinfo memory {};
  (void)sysinfo(&memory);
  const uint64_t limit = uint64_t{memory.totalram} * memory.mem_unit / 4;  // what is computed of it needs room too
  std::vector<sequence_file> all;
  const std::vector<std::string>& paths = request.axes.words.at(axis);
  for (size_t i = 0; i < paths.size(); ++i) {
    refuse_commas(paths, i);
    auto found = known.find(paths[i]);
    if (found == known.end()) found = known.emplace(paths[i], read_fasta(paths[i], limit)).first;
    all.push_back({paths[i], &found->second});
  }
  return all;
}

}  // namespace gpusync::tool
