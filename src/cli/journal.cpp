#include "cli/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "results/json.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

json line_of(const json& context, const std::vector<row>& rows) {
  document line;
  line.context = context;
  line.rows = rows;
  return to_json(line);
}

/// What two commands have in common that measure the same: not the program's path, nor --resume, nor what only the
/// console shows, nor where the results go, nor the order.
std::vector<std::string> comparable(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word.starts_with("--resume") || word == "--quiet" || word == "--verbose" || word == "--no-color") continue;
    bool is_output = false;  // "--json=FILE" and "-oFOLDER" too
    for (const char* option : {"--json", "--csv", "--md", "--output", "-o"}) {
      if (!word.starts_with(option)) continue;
      is_output = true;
      if (word == option) ++i;
      break;
    }
    if (!is_output) words.push_back(word);
  }
  std::ranges::sort(words);
  return words;
}

json head_of(const run_identity& run) {
  return {{"command", comparable(run.command)}, {"version", run.version}, {"devices", run.devices}};
}

/// Everything in a file that is open; throws usage_error if it cannot be read to its end.
std::string contents_of(int descriptor, const std::string& path) {
  std::string contents;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t count = pread(descriptor, part.data(), part.size(), static_cast<off_t>(contents.size()));
    if (count == 0) return contents;
    if (count > 0) {
      contents.append(part.data(), static_cast<size_t>(count));
    } else if (errno != EINTR) {
      throw usage_error(fmt::format("cannot read '{}': {}", printable(path), std::strerror(errno)));
    }
  }
}

/// A text in lines, without a last one that does not end.
std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

/// Whether a file's first line is that of a journal.
bool is_journal(const std::vector<std::string>& lines, const std::string& path) {
  try {
    return !lines.empty() && parse_document(lines.front(), path).context->contains("command");
  } catch (const usage_error&) {
    return false;
  }
}

/// A file of its own to read and write: no link, and nothing that blocks.
int open_journal_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  struct stat found {};
  if (descriptor != -1 && fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode)) return descriptor;
  const std::string why = descriptor == -1 ? std::strerror(errno) : "it is no plain file";
  if (descriptor != -1) (void)::close(descriptor);
  throw usage_error(fmt::format("cannot write '{}': {}; what is measured is kept there until the document is whole",
                                printable(path), why));
}

/// Whether the file that is open is still the one of that name: the run that had it may have been done meanwhile.
bool is_still_there(int descriptor, const std::string& path) {
  struct stat open_file {
  }, named{};
  return fstat(descriptor, &open_file) == 0 && lstat(path.c_str(), &named) == 0 && open_file.st_dev == named.st_dev &&
         open_file.st_ino == named.st_ino;
}

/// The same, held by no other run for as long as it is open. Where a file system has no locks it is not held.
int hold_journal_file(const std::string& path, const std::string& document, const journal_advice& advice) {
  for (;;) {
    const int descriptor = open_journal_file(path);
    while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) break;
      (void)::close(descriptor);
      throw usage_error(fmt::format("Another run is writing '{}': wait until it has ended, or {}", printable(document),
                                    advice.to_go_elsewhere));
    }
    if (is_still_there(descriptor, path)) return descriptor;
    (void)::close(descriptor);
  }
}

}  // namespace

bool run_journal::has_cases(const std::string& path) {
  std::ifstream file(place_of(path));
  std::string line;
  return std::getline(file, line) && std::getline(file, line);
}

run_journal::run_journal(const std::string& path, const run_identity& run, bool resume, const journal_advice& advice)
    : path_(place_of(path)) {
  descriptor_ = hold_journal_file(path_, path, advice);
  try {
    begin(run, resume, advice);
  } catch (...) {
    (void)::close(descriptor_);
    throw;
  }
}

void run_journal::begin(const run_identity& run, bool resume, const journal_advice& advice) {
  const std::string contents = contents_of(descriptor_, path_);
  const std::vector<std::string> lines = whole_lines(contents);
  if (!contents.empty() && !is_journal(lines, path_)) {
    throw usage_error(fmt::format("'{}' exists and is no journal of a run; what is measured would be kept there: {}",
                                  printable(path_), advice.to_go_elsewhere));
  }
  if (resume) {
    read(lines, run, advice);
    for (const std::string& line : lines) length_ += line.size() + 1;  // without a line that was cut short
  } else if (lines.size() > 1) {
    throw usage_error(
        fmt::format("'{}' holds {} case{} of a run that was cut short: --resume goes on with it; delete it "
                    "to begin anew",
                    printable(path_), lines.size() - 1, lines.size() == 2 ? "" : "s"));
  }
  if (ftruncate(descriptor_, static_cast<off_t>(length_)) != 0) {
    throw usage_error(fmt::format("cannot write '{}': {}", printable(path_), std::strerror(errno)));
  }
  if (!resume) append(line_of(head_of(run), {}).dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

/// A disk that is full spoils the journal, not the run: its document is written in the end, or saved elsewhere. A line
/// that has no room is taken back.
void run_journal::append(const std::string& line) {
  for (size_t written = 0; written < line.size();) {
    const ssize_t count =
        pwrite(descriptor_, line.data() + written, line.size() - written, static_cast<off_t>(length_ + written));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      (void)!ftruncate(descriptor_, static_cast<off_t>(length_));
      return;
    }
    written += static_cast<size_t>(count);
  }
  length_ += line.size();
}

run_journal::~run_journal() {
  if (descriptor_ == -1) return;
  if (length_ == 0) (void)::unlink(path_.c_str());  // the disk had no room even for its first line
  (void)::close(descriptor_);
}

void run_journal::read(const std::vector<std::string>& lines, const run_identity& run, const journal_advice& advice) {
  if (lines.empty()) {
    (void)::unlink(path_.c_str());  // it was made just now, or was empty
    throw usage_error(fmt::format("There is nothing to resume: '{}' does not exist or is empty; leave --resume away",
                                  printable(path_)));
  }
  const document head = parse_document(lines.front(), path_);
  const json wanted = head_of(run);
  for (const auto& [key, words] : {std::pair{"command", "another command"},
                                   {"version", "another version of gpusync"},
                                   {"devices", "another machine"}}) {
    if (head.context->value(key, json()) == wanted[key]) continue;
    throw usage_error(
        fmt::format("'{}' is of {}: {} there, or delete it to begin anew", printable(path_), words, advice.to_go_on));
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    const document line = parse_document(lines[i], path_);
    const json claims = line.context->value("claims", json::array());
    const json at = line.context->value("case", json());
    if (!at.is_array() || at.size() != std::tuple_size_v<case_name> ||
        !std::ranges::all_of(at, [](const json& word) { return word.is_string(); }) ||
        claims.size() != line.rows.size()) {
      throw usage_error(
          fmt::format("'{}' is no journal of a run: its line {} is not of a case", printable(path_), i + 1));
    }
    std::vector<journal_row> rows;
    for (size_t k = 0; k < line.rows.size(); ++k) rows.push_back({line.rows[k], claims[k] == json(true)});
    known_.emplace(at.get<case_name>(), std::move(rows));
  }
}

std::optional<std::vector<journal_row>> run_journal::recall(const std::string& experiment, const std::string& device,
                                                            const std::string& what) {
  asked_ = {experiment, device, what};
  const auto found = known_.find(asked_);  // the first of several with that name
  if (found == known_.end()) return std::nullopt;
  ++recalled_;
  std::vector<journal_row> rows = std::move(found->second);
  known_.erase(found);
  return rows;
}

void run_journal::keep(const std::vector<journal_row>& rows) {
  if (descriptor_ == -1 || length_ == 0) return;  // a case without the first line is of no run
  std::vector<row> entries;
  json claims = json::array();
  for (const journal_row& one : rows) {
    entries.push_back(one.entry);
    claims.push_back(one.claims_correctness);
  }
  append(line_of({{"case", asked_}, {"claims", std::move(claims)}}, entries)
             .dump(-1, ' ', false, json::error_handler_t::replace) +
         "\n");
  (void)fsync(descriptor_);
}

void run_journal::remove() {
  if (descriptor_ == -1) return;
  if (known_.empty()) (void)::unlink(path_.c_str());  // while it is held: another run may be waiting to begin its own
  (void)::close(std::exchange(descriptor_, -1));
}

}  // namespace gpusync::tool
