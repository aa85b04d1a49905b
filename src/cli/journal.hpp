// What a run has measured so far, on the disk, so that a run that was cut short can go on.
#pragma once

#include <array>
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

/// What a run is: it goes on only as the same one.
struct run_identity {
  std::vector<std::string> command;
  std::string version;               ///< of the program
  std::vector<std::string> devices;  ///< each with what tells it from others of its id
};

/// What a command's user can do where a journal does not let it go on, in words.
struct journal_advice {
  std::string to_go_on = "give the same command with --resume";
  std::string to_go_elsewhere = "give --json another name";
};

/// Beside the document of `--json FILE` stands FILE.partial while it is measured: a line for each case that is done,
/// each a result document of its rows. It goes when the document is whole.
class run_journal {
 public:
  /// No journal: recalls nothing, keeps nothing.
  run_journal() = default;

  /// The journal of the document at `path`. If `resume`, what is in it is recalled: it must be of the same run, but for
  /// the order of options and for those that say what goes to the console; a last line that was cut short is left out.
  /// Otherwise it is begun anew, which a journal with cases is not. It is held as long as this object lives. Throws
  /// usage_error where it cannot be written, another run holds it, there is none to resume, it is of another run, holds
  /// cases that would be lost, or is no journal; `advice` says what can be done.
  run_journal(const std::string& path, const run_identity& run, bool resume, const journal_advice& advice = {});
  ~run_journal();
  run_journal(const run_journal&) = delete;
  run_journal& operator=(const run_journal&) = delete;

  /// Whether the document at `path` has a journal with cases, or a file of that name with several lines.
  static bool has_cases(const std::string& path);

  /// Where the journal of the document at `path` stands.
  static std::string place_of(const std::string& path) { return path + ".partial"; }

  /// The rows of the case of that experiment and device that is `what` in words; empty: it is to be measured.
  std::optional<std::vector<journal_row>> recall(const std::string& experiment, const std::string& device,
                                                 const std::string& what);
  /// Keeps the rows of the case that was asked for last, on the disk when it returns, if that has room.
  void keep(const std::vector<journal_row>& rows);
  /// Everything is in the document: the journal is not needed any more, unless it has cases that nobody asked for.
  void remove();

  /// Whether there is one.
  bool is_kept() const { return !path_.empty(); }
  /// How many cases were recalled so far, and how many nobody has asked for yet.
  size_t recalled() const { return recalled_; }
  size_t left() const { return known_.size(); }

 private:
  using case_name = std::array<std::string, 3>;  ///< experiment, device, what it is

  void begin(const run_identity& run, bool resume, const journal_advice& advice);
  void read(const std::vector<std::string>& lines, const run_identity& run, const journal_advice& advice);
  void append(const std::string& line);

  std::string path_;  // empty: none
  int descriptor_ = -1;
  size_t length_ = 0;  // of what stands in it whole
  case_name asked_;
  std::multimap<case_name, std::vector<journal_row>> known_;
  size_t recalled_ = 0;
};

}  // namespace gpusync::tool
