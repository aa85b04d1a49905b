#include "workloads/maximal_matches/mummer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>

#include <gpusync/core/error.hpp>

#include "in_parallel.hpp"
#include "measure/child_process.hpp"
#include "measure/host_timer.hpp"

namespace gpusync::tool {

namespace {

/// Longer than any run should take: a process that hangs is ended.
constexpr std::chrono::milliseconds longest_run = std::chrono::hours(1);

std::string query_file(size_t process) {
  return "queries-" + std::to_string(process) + ".fa";
}

/// The numbers of those that have bases.
std::vector<size_t> with_bases(const std::vector<sequence>& sequences) {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (!sequences[i].bases.empty()) numbers.push_back(i);
  }
  return numbers;
}

void write_fasta(const std::string& path, const std::vector<sequence>& sequences, std::span<const size_t> numbers) {
  std::string text;
  for (const size_t i : numbers) {
    text += ">" + std::to_string(i + 1) + "\n";
    for (const uint8_t base : sequences[i].bases) text += "ACGTN"[base];
    text += "\n";
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw error("'" + path + "', a file for mummer, cannot be written.");
}

}  // namespace

bool mummer_is_installed() {
  static const bool installed = [] {
    try {
      return run_child({"sh", "-c", "command -v mummer"}, {longest_run}).exit_code == 0;
    } catch (const error&) {
      return false;
    }
  }();
  return installed;
}

mummer_files::mummer_files(const std::vector<sequence>& references, const std::vector<sequence>& queries,
                           uint32_t processes) {
  const std::vector<size_t> of_references = with_bases(references), of_queries = with_bases(queries);
  if (of_references.empty() || of_queries.empty()) throw invalid_argument("mummer refuses files without bases.");
  std::error_code failed;
  std::string name = (std::filesystem::temp_directory_path(failed) / "gpusync-mummer-XXXXXX").string();
  if (failed || mkdtemp(name.data()) == nullptr) throw error("There can be no folder '" + name + "' for mummer.");
  folder_ = name;
  try {
    write_fasta(path("references.fa"), references, of_references);
    constexpr size_t first = 0;
    write_fasta(path("nothing.fa"), {{"", {0}}}, {&first, 1});
    const size_t count = of_queries.size();
    processes_ = std::min<size_t>(processes, count);
    for (size_t i = 0; i < processes_; ++i) {
      const size_t begin = count * i / processes_, end = count * (i + 1) / processes_;
      write_fasta(path(query_file(i)), queries, std::span(of_queries).subspan(begin, end - begin));
    }
  } catch (...) {
    std::filesystem::remove_all(folder_, failed);
    throw;
  }
}

mummer_files::~mummer_files() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

mummer_outcome mummer_files::match(uint32_t least) const {
  return run(least, query_file);
}

mummer_outcome mummer_files::match_nothing(uint32_t least) const {
  return run(least, [](size_t) { return "nothing.fa"; });
}

mummer_outcome mummer_files::run(uint32_t least, const std::function<std::string(size_t)>& query_of) const {
  mummer_outcome found;
  found.text.resize(processes_);
  const host_timer timer;
  in_parallel(
      processes_, 1,
      [&](size_t process, size_t) {
        // It talks on its standard error.
        const child_outcome child =
            run_child({"sh", "-c", R"(exec mummer -maxmatch -n -l "$1" "$2" "$3" 2> /dev/null)", "mummer",
                       std::to_string(least), path("references.fa"), path(query_of(process))},
                      {longest_run});
        if (!child.ended || child.exit_code != 0) {
          throw error("mummer ended with exit code " + std::to_string(child.exit_code) + ".");
        }
        found.text[process] = child.output;
      },
      static_cast<unsigned>(processes_));
  found.milliseconds = timer.nanoseconds() * 1e-6;
  return found;
}

}  // namespace gpusync::tool
