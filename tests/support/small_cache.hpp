// A small direct-mapped cache and warps that read through it: figures 4 and 5 of Lo et al. (2014), simulated.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace gpusync::tool {

/// Requests that are under way at the same time, by the numbers of their segments, in a cache of so many lines, to
/// which segment x belongs by x mod lines.
class request_period {
 public:
  request_period(const std::vector<uint32_t>& segments, uint32_t lines) {
    for (const uint32_t segment : segments) wanted_[segment % lines].insert(segment);
  }

  /// Lines that several segments want.
  std::set<uint32_t> contended() const {
    std::set<uint32_t> lines;
    for (const auto& [line, segments] : wanted_) {
      if (segments.size() > 1) lines.insert(line);
    }
    return lines;
  }
  /// Segments that drive another out.
  uint32_t conflicts() const {
    uint32_t count = 0;
    for (const auto& [line, segments] : wanted_) count += static_cast<uint32_t>(segments.size()) - 1;
    return count;
  }

 private:
  std::map<uint32_t, std::set<uint32_t>> wanted_;
};

/// The segments that warps request which are so many rounds along: MemTest's, where warp w of W reads segment
/// w + W * round.
inline std::vector<uint32_t> memory_test_requests(const std::vector<uint32_t>& rounds) {
  std::vector<uint32_t> segments;
  for (uint32_t warp = 0; warp < rounds.size(); ++warp) {
    segments.push_back(warp + static_cast<uint32_t>(rounds.size()) * rounds[warp]);
  }
  return segments;
}

/// A direct-mapped cache that counts its hits.
class small_cache {
 public:
  explicit small_cache(uint32_t lines) : lines_(lines) {}

  void read(uint64_t segment) {
    std::optional<uint64_t>& line = lines_[segment % lines_.size()];
    hits_ += line == segment ? 1 : 0;
    ++reads_;
    line = segment;
  }
  double hit_ratio() const { return static_cast<double>(hits_) / static_cast<double>(reads_); }

 private:
  std::vector<std::optional<uint64_t>> lines_;
  uint64_t hits_ = 0, reads_ = 0;
};

/// The hit ratio of warps that share every segment two by two, as where a block's threads are no multiple of a line,
/// and go on in random order, but meet every `interval` rounds; 0: never.
inline double shared_hits(uint32_t warps, uint32_t rounds, uint32_t interval, uint32_t lines, uint32_t seed) {
  std::mt19937 chance(seed);
  small_cache cache(lines);
  std::vector<uint32_t> done(warps, 0);
  uint32_t met = 0;
  for (uint64_t left = uint64_t{warps} * rounds; left != 0;) {
    const uint32_t end = interval == 0 ? rounds : std::min(rounds, met + interval);
    const uint32_t warp = std::uniform_int_distribution<uint32_t>(0, warps - 1)(chance);
    if (done[warp] < end) {
      cache.read(uint64_t{done[warp]} * (warps / 2) + warp / 2);
      ++done[warp];
      --left;
    }
    bool all = true;
    for (const uint32_t one : done) all = all && one == end;
    if (all) met = end;
  }
  return cache.hit_ratio();
}

}  // namespace gpusync::tool
