// References and reads to measure with, where the user brings none.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/sequences/sequence.hpp"

namespace gpusync::tool {

/// A benchmark of Lo et al. 2014, table 5.
struct read_benchmark {
  const char* name;
  const char* genome;
  uint32_t reference_bases;
  uint32_t least;       ///< letters of a match
  uint32_t read_bases;  ///< on average
  uint32_t reads;
  uint32_t gc_percent;  ///< G and C among the genome's bases, as its publishers count them; not in the paper
};

inline constexpr std::array read_benchmarks = {
    read_benchmark{"BANTH", "Bacillus anthracis", 5'100'000, 50, 100, 10'000'000, 35},
    read_benchmark{"CBRIGG", "Caenorhabditis briggsae", 13'000'000, 100, 700, 500'000, 37},
    read_benchmark{"HSILL", "Homo sapiens", 16'000'000, 14, 29, 500'000, 41},
    read_benchmark{"LMONO", "Listeria monocytogenes", 2'900'000, 20, 120, 1'000'000, 38},
    read_benchmark{"SSUIS", "Streptococcus suis", 2'000'000, 14, 36, 1'000'000, 41},
};

/// A sequence of so many bases, a twentieth of them in copies of earlier pieces, of 200 to 2,000 bases, in which one
/// base in fifty is another: repeats, as genomes have them. About `gc_percent` of a hundred are G or C, each as often;
/// at most 100. The same on every machine; others for another `seed`.
sequence generated_reference(uint32_t bases, uint32_t seed, uint32_t gc_percent = 50);

/// Reads of a reference: pieces of `bases` bases from anywhere in it, all places alike, of which `changed` in a
/// thousand are another base. Its sequences must be longer than a read. Names are "1", "2", and so on. The same on
/// every machine.
std::vector<sequence> generated_reads(const std::vector<sequence>& references, uint32_t reads, uint32_t bases,
                                      uint32_t changed, uint32_t seed);

}  // namespace gpusync::tool
