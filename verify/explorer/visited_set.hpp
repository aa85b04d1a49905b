// Which states the search has been in, by their 64-bit hashes.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace gpusync::verify {

/// A hash of bytes. Two different states share one with a probability of about states^2 / 2^65.
inline uint64_t hash_bytes(const void* bytes, size_t count, uint64_t seed = 0) {
  const auto mix = [](uint64_t h) {
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
  };
  const auto* at = static_cast<const char*>(bytes);
  uint64_t hash = mix(seed + 0x9e3779b97f4a7c15u * (count + 1));
  for (; count >= 8; count -= 8, at += 8) {
    uint64_t next;
    std::memcpy(&next, at, 8);
    hash = mix(hash * 0x9e3779b97f4a7c15u + next);
  }
  uint64_t rest = 0;
  std::memcpy(&rest, at, count);
  return mix(hash * 0x9e3779b97f4a7c15u + rest);
}

/// A set of hashes, open addressing.
class visited_set {
 public:
  void clear() {
    cells_.assign(1024, 0);
    size_ = 0;
  }
  uint64_t size() const { return size_; }

  /// Whether it was not there before.
  bool insert(uint64_t hash) {
    if (hash == 0) hash = 1;
    if (2 * size_ >= cells_.size()) grow();
    if (!place(hash)) return false;
    ++size_;
    return true;
  }

 private:
  bool place(uint64_t hash) {
    const size_t mask = cells_.size() - 1;
    size_t at = hash & mask;
    for (; cells_[at] != 0; at = (at + 1) & mask) {
      if (cells_[at] == hash) return false;
    }
    cells_[at] = hash;
    return true;
  }
  void grow() {
    std::vector<uint64_t> old(cells_.size() * 2, 0);
    old.swap(cells_);
    for (const uint64_t hash : old) {
      if (hash != 0) (void)place(hash);
    }
  }

  std::vector<uint64_t> cells_ = std::vector<uint64_t>(1024, 0);
  uint64_t size_ = 0;
};

}  // namespace gpusync::verify
