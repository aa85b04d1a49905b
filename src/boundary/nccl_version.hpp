// Whether NCCL can be used: decided by version numbers alone, so on any machine. C++17: CUDA sources include it.
#pragma once

#include <string>

namespace gpusync::tool {

/// NCCL's number of the first version whose barrier can be called in kernels.
constexpr int oldest_nccl = 22800;

/// "2.28.9" of 22809: as NCCL writes the numbers of 2.9 and later.
inline std::string nccl_version_in_words(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

/// Why there is no NCCL for a program that was compiled with headers of version `header`, 0 for none, and runs with a
/// library of version `library`; empty if there is. Kernels are compiled for structures that the library fills: with
/// headers of another version they read wrong addresses.
inline std::string why_no_nccl(int header, int library) {
  if (header == 0) {
    return "This build has no NCCL: CMake has found no nccl_device.h with a libnccl beside it "
           "(-DGPUSYNC_NCCL_ROOT=...).";
  }
  if (header < oldest_nccl) {
    return "NCCL " + nccl_version_in_words(header) +
           " has no barrier for kernels: " + nccl_version_in_words(oldest_nccl) + " is the first.";
  }
  if (header == library) return "";
  return "The program was compiled for NCCL " + nccl_version_in_words(header) + ", but runs with libnccl " +
         nccl_version_in_words(library) + ", whose kernels' structures may differ (see LD_LIBRARY_PATH).";
}

}  // namespace gpusync::tool
