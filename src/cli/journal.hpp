// What a run has measured so far, on the disk, so that a run that was cut short can go on.
#pragma once

#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

/// A row, and whether it claims to be right (experiment_sink::add).
struct journal_row {
  row entry;
  bool claims_correctness = true;
};

/// Beside the document of `--json FILE` stands FILE.partial while it is measured: a line for each case that is done,
/// each a result document of its rows. It goes when the document is whole.
class run_journal {
 public:
  /// No journal: recalls nothing, keeps nothing.
  run_journal() = default;

  /// The journal of the document at `path`. If `resume`, what is in it is recalled: it must be of the same command, but
  /// for --resume, and of the same version of the program; a last line that was cut short is left out. Otherwise it is
  /// begun anew. Throws usage_error where it cannot be written, there is none to resume, or it is of another command.
  run_journal(const std::string& path, const std::vector<std::string>& command, const std::string& version,
              bool resume);
  ~run_journal();
  run_journal(const run_journal&) = delete;
  run_journal& operator=(const run_journal&) = delete;

  /// The rows of the next case of that experiment and device, in the order in which they are asked for; empty: it is to
  /// be measured.
  std::optional<std::vector<journal_row>> next(const std::string& experiment, const std::string& device);
  /// Keeps the rows of the case that was asked for last, on the disk when it returns.
  void keep(const std::vector<journal_row>& rows);
  /// Everything is in the document: the journal is not needed any more.
  void remove();

  /// How many cases were recalled so far.
  size_t recalled() const { return recalled_; }

 private:
  void read(const std::vector<std::string>& command, const std::string& version);

  std::string path_;  // empty: none
  std::FILE* file_ = nullptr;
  std::string experiment_, device_;
  std::map<std::pair<std::string, std::string>, size_t> asked_;
  std::map<std::pair<std::string, std::string>, std::vector<std::vector<journal_row>>> known_;
  size_t recalled_ = 0;
};

}  // namespace gpusync::tool
