#include "cli/journal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

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

/// The command without --resume, and without the program's path.
std::vector<std::string> comparable(std::vector<std::string> command) {
  if (!command.empty()) command.erase(command.begin());
  std::erase(command, "--resume");
  return command;
}

/// The lines of a file, without a last one that does not end.
std::vector<std::string> whole_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!file.eof()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

run_journal::run_journal(const std::string& path, const std::vector<std::string>& command, const std::string& version,
                         bool resume)
    : path_(path + ".partial") {
  if (resume) read(command, version);
  file_ = std::fopen(path_.c_str(), resume ? "ab" : "wb");
  if (file_ == nullptr) {
    throw usage_error(fmt::format("cannot write '{}': {}; what is measured is kept there until the document is whole",
                                  printable(path_), std::strerror(errno)));
  }
  if (resume) return;
  const std::string first = line_of({{"command", comparable(command)}, {"version", version}}, {}).dump() + "\n";
  (void)std::fwrite(first.data(), 1, first.size(), file_);
  (void)std::fflush(file_);
}

run_journal::~run_journal() {
  if (file_ != nullptr) (void)std::fclose(file_);
}

void run_journal::read(const std::vector<std::string>& command, const std::string& version) {
  const std::vector<std::string> lines = whole_lines(path_);
  if (lines.empty()) {
    throw usage_error(fmt::format("There is nothing to resume: '{}' does not exist or is empty; leave --resume away",
                                  printable(path_)));
  }
  const document head = parse_document(lines.front(), path_);
  const auto of = [&](const char* key) { return head.context->value(key, json()); };
  if (of("command") != json(comparable(command)) || of("version") != json(version)) {
    throw usage_error(
        fmt::format("'{}' is of another command or version; give the same command with --resume, or leave "
                    "--resume away to begin anew",
                    printable(path_)));
  }
  size_t length = lines.front().size() + 1;
  for (size_t i = 1; i < lines.size(); ++i) {
    const document line = parse_document(lines[i], path_);
    const json claims = line.context->value("claims", json::array());
    const json at = line.context->value("case", json());
    if (!at.is_array() || at.size() != 2 || !at[0].is_string() || !at[1].is_string() ||
        claims.size() != line.rows.size()) {
      throw usage_error(
          fmt::format("'{}' is no journal of a run: its line {} is not of a case", printable(path_), i + 1));
    }
    std::vector<journal_row>& rows = known_[{at[0].get<std::string>(), at[1].get<std::string>()}].emplace_back();
    for (size_t k = 0; k < line.rows.size(); ++k) rows.push_back({line.rows[k], claims[k] == json(true)});
    length += lines[i].size() + 1;
  }
  if (truncate(path_.c_str(), static_cast<off_t>(length)) != 0) {  // of a line that was cut short
    throw usage_error(fmt::format("cannot write '{}': {}", printable(path_), std::strerror(errno)));
  }
}

std::optional<std::vector<journal_row>> run_journal::next(const std::string& experiment, const std::string& device) {
  experiment_ = experiment;
  device_ = device;
  const size_t index = asked_[{experiment, device}]++;
  const auto found = known_.find({experiment, device});
  if (found == known_.end() || index >= found->second.size()) return std::nullopt;
  ++recalled_;
  return found->second[index];
}

void run_journal::keep(const std::vector<journal_row>& rows) {
  if (file_ == nullptr) return;
  std::vector<row> entries;
  json claims = json::array();
  for (const journal_row& one : rows) {
    entries.push_back(one.entry);
    claims.push_back(one.claims_correctness);
  }
  const std::string text =
      line_of({{"case", json::array({experiment_, device_})}, {"claims", std::move(claims)}}, entries)
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
  (void)::unlink(path_.c_str());
}

}  // namespace gpusync::tool
