// FASTA files that the user names on an axis.
#pragma once

#include <string>
#include <vector>

#include "harness/experiment.hpp"
#include "workloads/sequences/sequence.hpp"

namespace gpusync::tool {

/// A file and what it holds.
struct sequence_file {
  std::string path;
  const std::vector<sequence>* sequences;  ///< in the order of the file; kept until the program ends
};

/// The files that an axis names. Each is read once in a process, for it may be a pipe. Throws usage_error as
/// read_fasta() does, and for a name with a comma, which separates files on the command line.
std::vector<sequence_file> read_sequence_files(const experiment_request& request, const std::string& axis);

}  // namespace gpusync::tool
