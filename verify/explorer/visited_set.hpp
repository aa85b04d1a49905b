// Which states the search has been in, by their 64-bit hashes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gpusync::verify {

/// A hash of bytes, by folded products (Wang Yi's wyhash). Two different states share one with a probability of about
/// states^2 / 2^65.
inline uint64_t hash_bytes(const void* bytes, size_t count, uint64_t seed = 0) {
  const auto fold = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  constexpr uint64_t one = 0xa0761d6478bd642fu, other = 0xe7037ed1a0b428dbu, last = 0x8ebc6af09c88c6e3u;
  const auto* at = static_cast<const char*>(bytes);
  uint64_t hash = fold(seed ^ one, count ^ last);
  uint64_t pair[2];
  for (size_t left = count; left > 0;) {
    const size_t taken = std::min(left, sizeof(pair));
    if (taken < sizeof(pair)) pair[0] = pair[1] = 0;
    std::memcpy(pair, at, taken);
    hash = fold(pair[0] ^ one, pair[1] ^ hash ^ other);
    at += taken;
    left -= taken;
  }
  return fold(hash ^ last, count ^ other);
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
