// mummer 3.23, which finds the same matches: a rival, and an oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/sequences/sequence.hpp"

namespace gpusync::tool {

/// Whether there is a program of that name.
bool mummer_is_installed();

/// What came of `mummer -maxmatch -n`.
struct mummer_outcome {
  double milliseconds = 0;        ///< by the host's clock, from the first start to the last end
  std::vector<std::string> text;  ///< what each process has printed
};

/// Sequences in files of their own, for as long as this lives; their names are their numbers, from 1 on. Those without
/// bases are left out: mummer refuses them.
class mummer_files {
 public:
  /// Queries are dealt out to `processes` files in order, as evenly as their number allows. Throws gpusync::error if
  /// they cannot be written, or there is nothing in them.
  mummer_files(const std::vector<sequence>& references, const std::vector<sequence>& queries, uint32_t processes);
  ~mummer_files();
  mummer_files(const mummer_files&) = delete;
  mummer_files& operator=(const mummer_files&) = delete;

  /// Runs a process for each file of queries, all at once. Throws gpusync::error if one fails.
  mummer_outcome match(uint32_t least) const;
  /// The same with one query of one base in each: what processes take before they look for anything.
  mummer_outcome match_nothing(uint32_t least) const;

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  mummer_outcome run(uint32_t least, const std::function<std::string(size_t)>& query_of) const;

  std::string folder_;
  size_t processes_ = 0;
};

}  // namespace gpusync::tool
