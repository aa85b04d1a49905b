// Nucleotide sequences from FASTA files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/sequences/sequence.hpp"

namespace gpusync::tool {

/// The sequences of a FASTA file, plain or compressed by gzip, in its order.
///
/// A record is a line '>' and the lines up to the next one. Its name is what stands between '>' and the first blank,
/// and may be empty; so may its sequence. Letters are A, C, G, T and U (read as T), and the other letters of IUPAC's
/// nucleotide code (N, R, Y, S, W, K, M, B, D, H, V), which become unknown_base; either case. Lines may have any length
/// and end in LF, CRLF or CR; blank lines, blanks between letters and lines that begin with ';' count for nothing.
///
/// Throws usage_error naming the file, and where there is one the line, the column (in bytes) and the culprit: if the
/// file cannot be read or decompressed to its end, is empty, is something else than FASTA, has another letter, or if
/// its text, decompressed, and a sequence's own bytes for each record are more than `memory_limit` bytes: a plain file
/// that is too large is not read at all. It is read in pieces; memory is its letters, and while a sequence grows twice
/// as many.
std::vector<sequence> read_fasta(const std::string& path, uint64_t memory_limit);

}  // namespace gpusync::tool
