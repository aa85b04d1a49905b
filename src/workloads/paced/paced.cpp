#include "workloads/paced/paced.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "results/text.hpp"

namespace gpusync::tool {

paced_variant variant_of(const std::string& form, uint32_t every, paced_role role, bool instrumented) {
  const bool plain = role == paced_role::plain;
  paced_variant made;
  made.name = plain && !instrumented ? form : fmt::format("{}-{}", form, every);
  made.title = plain ? "no barrier" : fmt::format("{}, every {} iterations", form, every);
  made.every = every;
  made.role = role;
  return made;
}

std::string why_not_comparable(const paced_resources& variant, const paced_resources& plain) {
  if (variant.resident_blocks != plain.resident_blocks) {
    return fmt::format(
        "It is not the same but for its pace: {} of its blocks run on a multiprocessor at once, of the plain kernel's "
        "{} (registers {} and {}, shared memory {} and {} bytes a block).",
        variant.resident_blocks, plain.resident_blocks, variant.registers, plain.registers, variant.shared_bytes,
        plain.shared_bytes);
  }
  if (variant.carve_out != plain.carve_out) {
    return fmt::format(
        "It is not the same but for its pace: it asks for {} % of a multiprocessor's memory as shared memory, the "
        "plain kernel for {} %, so their L1 caches differ.",
        variant.carve_out, plain.carve_out);
  }
  return "";
}

void require_comparable(paced_program& program, const paced_variant& variant, const paced_variant& plain) {
  if (variant.role == paced_role::plain || variant.role == paced_role::rival) return;
  if (variant.every > program.trips()) {
    throw invalid_argument(
        fmt::format("Its loop has {} iterations: no visit behind each {}.", program.trips(), variant.every));
  }
  const std::string reason = why_not_comparable(program.resources(variant), program.resources(plain));
  if (!reason.empty()) throw invalid_argument(reason);
}

int carve_out_for(int resident_blocks, int shared_bytes, int reserved_bytes, uint64_t bytes_of_multiprocessor) {
  constexpr uint64_t granule = 128;
  const uint64_t block =
      (static_cast<uint64_t>(shared_bytes) + static_cast<uint64_t>(reserved_bytes) + granule - 1) / granule * granule;
  const uint64_t all = block * static_cast<uint64_t>(resident_blocks);
  const uint64_t percent = (100 * all + bytes_of_multiprocessor - 1) / bytes_of_multiprocessor;
  return static_cast<int>(std::min<uint64_t>(percent, 100));
}

paced_clocks mean_clocks(const std::vector<warp_clocks>& warps, const std::string& unit) {
  paced_clocks mean;
  mean.unit = unit;
  if (warps.empty()) return mean;
  uint64_t begin = UINT64_MAX, end = 0;
  double lives = 0;
  const auto count = static_cast<double>(warps.size());
  for (const warp_clocks& warp : warps) {
    mean.memory += static_cast<double>(warp.parts[0]) / count;
    mean.barrier += static_cast<double>(warp.parts[1]) / count;
    mean.tree += static_cast<double>(warp.parts[2]) / count;
    mean.visits += static_cast<double>(warp.visits) / count;
    lives += static_cast<double>(warp.end - warp.begin) / count;
    begin = std::min(begin, warp.begin);
    end = std::max(end, warp.end);
  }
  if (end > begin) mean.lifetime = lives / static_cast<double>(end - begin);
  return mean;
}

uint64_t paced_arrays::bytes() const {
  uint64_t all = output_words();
  for (uint32_t i = 0; i < count; ++i) all += words[i];
  return all * sizeof(uint32_t);
}

void require_room(uint64_t needed, uint64_t there_are, const char* of) {
  if (needed <= there_are) return;
  throw invalid_argument(
      fmt::format("It needs {} of memory, what its output is compared with among it, and there are {} {}.",
                  bytes_in_words(needed), bytes_in_words(there_are), of));
}

}  // namespace gpusync::tool
