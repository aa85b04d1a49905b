// What round trips of atomics tell about the partitions of an L2 cache. Plain arithmetic: no device needed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include <gpusync/core/config.hpp>

namespace gpusync::grid {

/// Partitions of sms and of lines, from the round trips between them.
///
/// A round trip is taken as: something of the sm, something of the line, and a surcharge if the two are on
/// different partitions. Centring both ways leaves the surcharge: plus half of it for a far pair, minus half for a near
/// one.
class line_survey {
 public:
  static constexpr uint32_t line_words = gpusync::detail::line_words;  ///< words of 32 bits in a line

  line_survey() = default;

  /// `round_trips[p * lines + l]`: cycles from sm p to line l; 0 for sms that were not seen.
  line_survey(std::vector<float> round_trips, uint32_t sms, uint32_t lines)
      : round_trips_(std::move(round_trips)), lines_(lines), partitions_(sms, 0), homes_(lines, 0) {
    for (uint32_t p = 0; p < sms; ++p) {
      if (at(p, 0) > 0) seen_.push_back(p);
    }
    if (seen_.size() >= 4) find_partitions();
    rate_lines();
  }

  /// Whether there are two partitions at all. Without, partitions() and homes() are all 0.
  bool has_partitions() const { return has_partitions_; }
  /// 0 or 1 for each sm number.
  const std::vector<unsigned char>& partitions() const { return partitions_; }
  /// The partition of each line.
  const std::vector<unsigned char>& homes() const { return homes_; }
  /// The average round trip, in cycles, from an sm to a line of its own partition; 0 without partitions.
  double near() const { return near_; }
  /// The same to a line of the other partition.
  double far() const { return far_; }
  /// SMs seen.
  size_t sms() const { return seen_.size(); }
  /// Those of them on partition `partition`, 0 or 1.
  size_t sms_on(unsigned partition) const {
    return static_cast<size_t>(
        std::count_if(seen_.begin(), seen_.end(), [&](uint32_t p) { return partitions_[p] == partition; }));
  }

  /// `per_partition` of the free lines of each partition, partition 0's first; empty if there are not so many. Cheap
  /// lines first; within a partition in different slices, which show in the pattern of their round trips; none that,
  /// with one of the other partition, makes `conflict(a, b)` true. Where that cannot be had, with as few conflicts as
  /// can be found.
  std::vector<uint32_t> pick(uint32_t per_partition, const std::vector<bool>& free,
                             const std::function<bool(uint32_t, uint32_t)>& conflict) const {
    if (!has_partitions_) return {};
    std::vector<uint32_t> candidates[2];
    for (const uint32_t line : by_cost_) {
      if (free[line]) candidates[homes_[line]].push_back(line);
    }
    if (candidates[0].size() < per_partition || candidates[1].size() < per_partition) return {};
    std::vector<uint32_t> picked[2];
    for (uint32_t i = 0; i < per_partition; ++i) {
      for (unsigned partition = 0; partition < 2; ++partition) {
        picked[partition].push_back(next(candidates[partition], picked[partition], picked[1 - partition], conflict));
      }
    }
    picked[0].insert(picked[0].end(), picked[1].begin(), picked[1].end());
    return picked[0];
  }

 private:
  static constexpr double same_slice_cycles = 4;  ///< mean difference of round trips below which lines share a slice
  static constexpr size_t most_questions = 48;    ///< about conflicts, for each line that is picked

  float at(uint32_t sm, uint32_t line) const { return round_trips_[size_t{sm} * lines_ + line]; }

  void find_partitions() {
    const size_t n = seen_.size();
    std::vector<double> of_sm(n, 0), of_line(lines_, 0);
    double all = 0;
    for (size_t i = 0; i < n; ++i) {
      for (uint32_t l = 0; l < lines_; ++l) {
        of_sm[i] += double{at(seen_[i], l)} / lines_;
        of_line[l] += at(seen_[i], l) / static_cast<double>(n);
      }
      all += of_sm[i] / static_cast<double>(n);
    }
    const auto centred = [&](size_t i, uint32_t l) { return at(seen_[i], l) - of_sm[i] - of_line[l] + all; };
    // The first sm's own partition is partition 0, whichever that is.
    std::vector<double> direction(lines_);
    for (uint32_t l = 0; l < lines_; ++l) direction[l] = centred(0, l);
    for (int round = 0; round < 3; ++round) {
      std::vector<double> sum(lines_, 0);
      for (size_t i = 0; i < n; ++i) {
        double likeness = 0;
        for (uint32_t l = 0; l < lines_; ++l) likeness += centred(i, l) * direction[l];
        partitions_[seen_[i]] = likeness < 0 ? 1 : 0;
        for (uint32_t l = 0; l < lines_; ++l) sum[l] += likeness < 0 ? -centred(i, l) : centred(i, l);
      }
      direction = sum;
    }
    for (uint32_t l = 0; l < lines_; ++l) homes_[l] = direction[l] > 0 ? 1 : 0;
    judge();
  }

  /// Two partitions there are if the surcharge stands out of the other differences between round trips, and neither
  /// partition is a handful.
  void judge() {
    double sum[2] = {0, 0}, squares[2] = {0, 0};
    uint64_t pairs[2] = {0, 0};
    for (const uint32_t p : seen_) {
      for (uint32_t l = 0; l < lines_; ++l) {
        const unsigned far = partitions_[p] == homes_[l] ? 0 : 1;
        sum[far] += at(p, l);
        squares[far] += static_cast<double>(at(p, l)) * at(p, l);
        ++pairs[far];
      }
    }
    if (pairs[0] == 0 || pairs[1] == 0) return reject();
    near_ = sum[0] / static_cast<double>(pairs[0]);
    far_ = sum[1] / static_cast<double>(pairs[1]);
    double spread = 0;
    for (unsigned far = 0; far < 2; ++far) {
      const double mean = sum[far] / static_cast<double>(pairs[far]);
      spread = std::max(spread, std::sqrt(std::max(0.0, squares[far] / static_cast<double>(pairs[far]) - mean * mean)));
    }
    const size_t ones = sms_on(1), fewest = std::min(ones, seen_.size() - ones);
    has_partitions_ = far_ > 1.15 * near_ && far_ - near_ > 1.5 * spread && fewest * 5 >= seen_.size();
    if (!has_partitions_) reject();
  }

  void reject() {
    has_partitions_ = false;
    near_ = far_ = 0;
    std::fill(partitions_.begin(), partitions_.end(), static_cast<unsigned char>(0));
    std::fill(homes_.begin(), homes_.end(), static_cast<unsigned char>(0));
  }

  /// A barrier waits for its slowest block: a line costs the worst near round trip and the worst far one.
  void rate_lines() {
    std::vector<double> cost(lines_, 0);
    for (uint32_t l = 0; l < lines_; ++l) {
      float worst[2] = {0, 0};
      for (const uint32_t p : seen_) {
        float& most = worst[partitions_[p] == homes_[l] ? 0 : 1];
        most = std::max(most, at(p, l));
      }
      cost[l] = double{worst[0]} + double{worst[1]};
    }
    by_cost_.resize(lines_);
    std::iota(by_cost_.begin(), by_cost_.end(), 0u);
    std::stable_sort(by_cost_.begin(), by_cost_.end(), [&](uint32_t a, uint32_t b) { return cost[a] < cost[b]; });
  }

  bool same_slice(uint32_t a, uint32_t b) const {
    double difference = 0;
    for (const uint32_t p : seen_) difference += std::fabs(at(p, a) - at(p, b));
    return difference < same_slice_cycles * static_cast<double>(seen_.size());
  }

  uint32_t next(const std::vector<uint32_t>& candidates, const std::vector<uint32_t>& own_partition,
                const std::vector<uint32_t>& other_partition,
                const std::function<bool(uint32_t, uint32_t)>& conflict) const {
    uint32_t fallback = lines_;  // the cheapest, or rather one of a slice of its own with the fewest conflicts
    size_t fewest = other_partition.size() + 1;
    size_t questions = 0;
    for (const uint32_t line : candidates) {
      if (std::find(own_partition.begin(), own_partition.end(), line) != own_partition.end()) continue;
      if (fallback == lines_) fallback = line;
      if (std::any_of(own_partition.begin(), own_partition.end(),
                      [&](uint32_t taken) { return same_slice(line, taken); })) {
        continue;
      }
      size_t conflicts = 0;
      for (size_t i = 0; i < other_partition.size() && conflicts < fewest; ++i, ++questions) {
        if (conflict(line, other_partition[i])) ++conflicts;
      }
      if (conflicts < fewest) {
        fewest = conflicts;
        fallback = line;
      }
      if (fewest == 0 || questions >= most_questions) break;
    }
    return fallback;
  }

  std::vector<float> round_trips_;
  uint32_t lines_ = 0;
  std::vector<unsigned char> partitions_;
  std::vector<unsigned char> homes_;
  std::vector<uint32_t> seen_;
  std::vector<uint32_t> by_cost_;
  bool has_partitions_ = false;
  double near_ = 0;
  double far_ = 0;
};

}  // namespace gpusync::grid
