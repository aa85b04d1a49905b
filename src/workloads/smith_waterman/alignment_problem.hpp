// What workload "Smith-Waterman" is given, and what it must find. C++17: CUDA sources include it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"
#include "workloads/device_side/application_device.hpp"
#include "workloads/smith_waterman/scoring.hpp"

namespace gpusync::tool {

/// Two sequences, what alignments of them score, and the host's result.
struct alignment_problem {
  std::vector<uint8_t> query;      ///< 0 to 3, or unknown_base
  std::vector<uint8_t> reference;  ///< likewise
  alignment_scoring scoring;
  std::vector<row_best> expected;  ///< for each letter of the query
};

/// Bytes that a device needs for a problem of these lengths: linear in them.
constexpr uint64_t bytes_of_alignment(uint64_t query, uint64_t reference) {
  return query * 33 + reference;  // a letter, two halves of what rows hand down, what they hand on, their best
}

/// Bytes that a device needs for the form `pipeline` on so many blocks: letters, best cells, rings between blocks.
constexpr uint64_t bytes_of_pipeline(uint64_t query, uint64_t reference, uint64_t blocks) {
  return query * 3 + reference * 17 + blocks * 66000;
}

/// Bytes of the largest buffer among them.
constexpr uint64_t largest_buffer_of_alignment(uint64_t query, uint64_t reference) {
  return query * 16 > reference ? query * 16 : reference;
}

/// Bytes that the host needs at once, at most: the sequences as they were read and as they are aligned, what is
/// expected and found, then rows on host threads or those of a traceback.
constexpr uint64_t host_bytes_of_alignment(uint64_t query, uint64_t reference) {
  return query * 64 + reference * 8;
}

/// The best of all rows' best cells.
alignment_end end_of(const std::vector<row_best>& rows);

/// `score`, `query_end` and `reference_end`, as runs report them.
findings findings_of(const alignment_end& end);

/// What a device found, compared with the host's: one for each letter of the query, as many as the host has.
check_result compare_rows(const alignment_problem& problem, const std::vector<row_best>& found);

/// How rows are kept from one diagonal to the next. In registers, each thread has rows of its own; in the pipeline too
/// (pipeline.hpp), and there are no diagonals with a boundary after each.
using alignment_form = kept_form;

/// The device side.
class smith_waterman_device : public application_device {
 public:
  /// The workload on this problem, which must outlive it, as must the device. Throws invalid_argument if the device
  /// does not have that form.
  virtual std::unique_ptr<workload> aligning(const alignment_problem& problem, alignment_form form) = 0;
  /// The names of the methods that it has in registers; empty if it has none.
  virtual std::vector<std::string> methods_in_registers() const { return {}; }
  /// Threads that a block of the form `pipeline` has.
  virtual uint32_t pipeline_threads() const { return 0; }
};

}  // namespace gpusync::tool
