#include "workloads/maximal_matches/generated.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <gpusync/core/error.hpp>

namespace gpusync::tool {

namespace {

/// Numbers that look random; the engine's sequence is fixed by the standard.
class dice {
 public:
  explicit dice(uint64_t seed) : engine_(seed) {}
  /// One of 0 to count - 1.
  uint64_t below(uint64_t count) { return (engine_() >> 32) * count >> 32; }
  /// So many of a hundred are G or C.
  uint8_t base(uint32_t gc_percent) {
    const uint64_t number = below(200);
    if (number < 100) return number < 100 - gc_percent ? 0 : 1;
    return number < 100 + gc_percent ? 2 : 3;
  }
  uint8_t other_than(uint8_t base) { return static_cast<uint8_t>((base + 1 + below(3)) % 4); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace

sequence generated_reference(uint32_t bases, uint32_t seed, uint32_t gc_percent) {
  dice random(seed);
  sequence made;
  made.name = "generated-" + std::to_string(bases);
  made.bases.resize(bases);
  for (uint8_t& base : made.bases) base = random.base(gc_percent);
  constexpr uint32_t least_piece = 200, most_piece = 2000;
  if (bases < 4 * most_piece) return made;
  for (uint64_t copied = 0; copied < bases / 20;) {
    const uint64_t length = least_piece + random.below(most_piece - least_piece + 1);
    const uint64_t to = length + random.below(bases - 2 * length), from = random.below(to - length + 1);
    for (uint64_t i = 0; i < length; ++i) {
      const uint8_t base = made.bases[from + i];
      made.bases[to + i] = random.below(50) == 0 ? random.other_than(base) : base;
    }
    copied += length;
  }
  return made;
}

std::vector<sequence> generated_reads(const std::vector<sequence>& references, uint32_t reads, uint32_t bases,
                                      uint32_t changed, uint32_t seed) {
  // By the places at which a read can begin, added up.
  std::vector<uint64_t> places;
  for (const sequence& one : references) {
    const uint64_t own = one.bases.size() < bases ? 0 : one.bases.size() - bases + 1;
    places.push_back(own + (places.empty() ? 0 : places.back()));
  }
  if (places.empty() || places.back() == 0) {
    throw invalid_argument("No reference is as long as a read of " + std::to_string(bases) + " bases.");
  }
  dice random(seed);
  std::vector<sequence> made(reads);
  for (uint32_t i = 0; i < reads; ++i) {
    const uint64_t place = random.below(places.back());
    const auto of = static_cast<size_t>(std::ranges::upper_bound(places, place) - places.begin());
    const uint64_t first = place - (of == 0 ? 0 : places[of - 1]);
    const auto begin = references[of].bases.begin() + static_cast<std::ptrdiff_t>(first);
    made[i].name = std::to_string(i + 1);
    made[i].bases.assign(begin, begin + bases);
    for (uint8_t& base : made[i].bases) {
      if (changed > 0 && random.below(1000) < changed && base != unknown_base) base = random.other_than(base);
    }
  }
  return made;
}

}  // namespace gpusync::tool
