#include "experiments/lo_2014/mummer_rows.hpp"

#include <algorithm>
#include <sstream>
#include <thread>

#include "measure/statistics.hpp"
#include "workloads/maximal_matches/mummer.hpp"

namespace gpusync::tool::alignment_experiment {

namespace {

constexpr size_t most_reads = 50'000, most_reads_quick = 5000;
/// Of all their bases: long queries are fewer.
constexpr uint64_t most_bases = 20'000'000, most_bases_quick = 1'000'000;

/// The first queries that are not too many, one at least.
std::vector<sequence> some_of(const std::vector<sequence>& queries, bool quick) {
  std::vector<sequence> some;
  uint64_t bases = 0;
  for (const sequence& one : queries) {
    bases += one.bases.size();
    const bool too_many =
        some.size() >= (quick ? most_reads_quick : most_reads) || bases > (quick ? most_bases_quick : most_bases);
    if (too_many && !some.empty()) break;
    some.push_back(one);
  }
  return some;
}

/// The lines of a text by query: a line that begins with '>' begins the next.
std::vector<std::vector<std::string>> by_query(const std::string& text) {
  std::vector<std::vector<std::string>> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('>')) {
      all.push_back({line});
    } else if (!all.empty()) {
      all.back().push_back(line);
    }
  }
  for (std::vector<std::string>& one : all) std::ranges::sort(one.begin() + 1, one.end());
  return all;
}

/// As mummer_files names them.
std::vector<sequence> numbered(const std::vector<sequence>& sequences, size_t count) {
  std::vector<sequence> made;
  for (size_t i = 0; i < count; ++i) made.push_back({std::to_string(i + 1), sequences[i].bases});
  return made;
}

}  // namespace

std::optional<double> mummer_times::reads_per_second() const {
  const double median = match.empty() ? 0 : summarize(match).median;
  if (!(median > 0)) return std::nullopt;
  return static_cast<double>(reads) / median * 1e3;
}

std::vector<mummer_times> time_mummer(const std::vector<sequence>& references, const std::vector<sequence>& queries,
                                      uint32_t least, bool quick, const std::function<bool()>& interrupted) {
  const auto has_bases = [](const sequence& one) { return !one.bases.empty(); };
  const std::vector<sequence> some = some_of(queries, quick);
  if (!mummer_is_installed() || std::ranges::none_of(references, has_bases) || std::ranges::none_of(some, has_bases)) {
    return {};
  }
  std::vector<mummer_times> all;
  const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (const uint32_t processes : {1u, cores}) {
    if (processes == 1 && !all.empty()) break;  // there is one processor
    const mummer_files files(references, some, processes);
    mummer_times times;
    times.processes = processes;
    times.reads = some.size();
    for (int round = 0; round < (quick ? 1 : 3) && !interrupted(); ++round) {
      const double index = files.match_nothing(least).milliseconds;
      mummer_outcome found = files.match(least);
      times.index.push_back(index);
      times.match.push_back(found.milliseconds - index);
      times.text.clear();
      for (const std::string& text : found.text) times.text += text;
    }
    all.push_back(std::move(times));
  }
  return all;
}

uint64_t different_queries(const mummer_times& mummer, const reference_text& reference,
                           const std::vector<sequence>& queries,
                           const std::vector<std::vector<maximal_match>>& matches) {
  // Those without bases mummer has not, neither among its references nor among its queries; and it names sequences only
  // where there are several.
  reference_text known = reference;
  size_t with_bases = 0;
  for (size_t i = 0; i < reference.names.size(); ++i) {
    const size_t end = i + 1 < reference.begins.size() ? reference.begins[i + 1] : reference.bases.size();
    const bool is_empty = end - reference.begins[i] <= 1;
    known.names[i] = is_empty ? "" : std::to_string(i + 1);
    with_bases += is_empty ? 0 : 1;
  }
  if (with_bases == 1) known.names.resize(1);
  const std::vector<std::vector<maximal_match>> some(matches.begin(),
                                                     matches.begin() + static_cast<std::ptrdiff_t>(mummer.reads));
  const std::string text = as_printed(known, numbered(queries, mummer.reads), some);
  const auto ours = by_query(text), theirs = by_query(mummer.text);
  uint64_t different = 0;
  size_t next = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (queries[i].bases.empty()) continue;
    different += next >= theirs.size() || ours[i] != theirs[next] ? 1 : 0;
    ++next;
  }
  return different + (theirs.size() > next ? theirs.size() - next : 0);
}

}  // namespace gpusync::tool::alignment_experiment
