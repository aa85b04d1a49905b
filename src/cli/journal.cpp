#include "cli/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

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
/// console shows, nor the order.
std::vector<std::string> comparable(std::vector<std::string> command) {
  if (!command.empty()) command.erase(command.begin());
  std::erase_if(command, [](const std::string& word) {
    return word.starts_with("--resume") || word == "--quiet" || word == "--verbose" || word == "--no-color";
  });
  std::ranges::sort(command);
  return command;
}

json head_of(const run_identity& run) {
  return {{"command", comparable(run.command)}, {"version", run.version}, {"devices", run.devices}};
}

/// Everything in a file that is open, in lines, without a last one that does not end.
std::vector<std::string> whole_lines(std::FILE* file) {
  std::vector<std::string> lines;
  std::string line;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    if (c != '\n') {
      line += static_cast<char>(c);
    } else {
      lines.push_back(std::move(line));
      line.clear();
    }
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
std::FILE* open_journal_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  struct stat found {};
  const bool is_file = descriptor != -1 && fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
  std::FILE* const file = is_file ? fdopen(descriptor, "r+b") : nullptr;
  if (file != nullptr) return file;
  const std::string why = descriptor == -1 ? std::strerror(errno) : "it is no plain file";
  if (descriptor != -1) (void)::close(descriptor);
  throw usage_error(fmt::format("cannot write '{}': {}; what is measured is kept there until the document is whole",
                                printable(path), why));
}

}  // namespace

run_journal::run_journal(const std::string& path, const run_identity& run, bool resume) : path_(place_of(path)) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(open_journal_file(path_), &std::fclose);
  const std::vector<std::string> lines = whole_lines(file.get());
  if (std::ftell(file.get()) > 0 && !is_journal(lines, path_)) {
    throw usage_error(
        fmt::format("'{}' exists and is no journal of a run; what is measured would be kept there: give "
                    "--json another name",
                    printable(path_)));
  }
  if (resume) {
    read(lines, run);
  } else if (lines.size() > 1) {
    throw usage_error(
        fmt::format("'{}' holds {} case{} of a run that was cut short: --resume goes on with it; delete it "
                    "to begin anew",
                    printable(path_), lines.size() - 1, lines.size() == 2 ? "" : "s"));
  }
  size_t length = 0;  // without a line that was cut short
  if (resume) {
    for (const std::string& line : lines) length += line.size() + 1;
  }
  if (ftruncate(fileno(file.get()), static_cast<off_t>(length)) != 0 || std::fseek(file.get(), 0, SEEK_END) != 0) {
    throw usage_error(fmt::format("cannot write '{}': {}", printable(path_), std::strerror(errno)));
  }
  file_ = file.release();
  if (resume) return;
  const std::string first = line_of(head_of(run), {}).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  (void)std::fwrite(first.data(), 1, first.size(), file_);
  (void)std::fflush(file_);
}

run_journal::~run_journal() {
  if (file_ != nullptr) (void)std::fclose(file_);
}

void run_journal::read(const std::vector<std::string>& lines, const run_identity& run) {
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
        fmt::format("'{}' is of {}: give the same command with --resume there, or delete it to begin anew",
                    printable(path_), words));
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
  if (file_ == nullptr) return;
  std::vector<row> entries;
  json claims = json::array();
  for (const journal_row& one : rows) {
    entries.push_back(one.entry);
    claims.push_back(one.claims_correctness);
  }
  const std::string text = line_of({{"case", asked_}, {"claims", std::move(claims)}}, entries)
                               .dump(-1, ' ', false, json::error_handler_t::replace) +
                           "\n";
  // A disk that is full spoils the journal, not the run: its document is written in the end, or saved elsewhere.
  (void)std::fwrite(text.data(), 1, text.size(), file_);
  (void)std::fflush(file_);
  (void)fsync(fileno(file_));
}

void run_journal::remove() {
  if (file_ == nullptr) return;
  (void)std::fclose(file_);
  file_ = nullptr;
  if (known_.empty()) (void)::unlink(path_.c_str());
}

}  // namespace gpusync::tool
