#include "workloads/smith_waterman/generated.hpp"

#include <random>
#include <string>

namespace gpusync::tool {

std::pair<sequence, sequence> generated_pair(uint32_t letters) {
  std::mt19937_64 random(2010);  // its sequence is fixed by the standard
  const auto below = [&random](uint32_t count) { return static_cast<uint32_t>((random() >> 32) * count >> 32); };
  sequence query, reference;
  query.name = "generated-" + std::to_string(letters) + "-mutated";
  reference.name = "generated-" + std::to_string(letters);
  for (uint32_t i = 0; i < letters; ++i) reference.bases.push_back(static_cast<uint8_t>(below(4)));
  for (const uint8_t base : reference.bases) {
    const uint32_t fate = below(100);
    if (fate < 2) continue;
    const bool substituted = fate < 12;
    query.bases.push_back(substituted ? static_cast<uint8_t>((base + 1 + below(3)) % 4) : base);
    if (fate >= 98) query.bases.push_back(base);
  }
  query.bases.resize(letters, 0);
  return {std::move(query), std::move(reference)};
}

}  // namespace gpusync::tool
