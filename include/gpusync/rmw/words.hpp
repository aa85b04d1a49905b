// The words that wait-free objects are made of: half of each says what the other half belongs to.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <cstring>
#endif

#include <gpusync/core/config.hpp>

namespace gpusync::rmw {

/// 32-bit words that an object of type T fills.
template <class T>
inline constexpr uint32_t words_of = (sizeof(T) + 3) / 4;

/// An object as words. T: trivially copyable. Bytes that fill up the last word are 0.
template <class T>
GPUSYNC_HD void split(const T& object, uint32_t* words) {
  words[words_of<T> - 1] = 0;
  memcpy(words, &object, sizeof(T));
}
/// The object that split() has made these words of.
template <class T>
GPUSYNC_HD T joined(const uint32_t* words) {
  T object;
  memcpy(static_cast<void*>(&object), words, sizeof(T));
  return object;
}

/// How the words of an object order the memory accesses of those who call it.
enum class publication {
  /// Not at all: like CUDA's atomicAdd(), a call orders nothing but the object's own state. The words' tags replace
  /// every fence but the one behind an announcement.
  tagged,
  /// Everything before a call happens before everything after each call whose answer, or whose participant's later
  /// answer, tells of it.
  ordered,
};

namespace detail {

/// 32 bits of an object and a tag of 32 bits, read and written as one. Whoever reads a tag that it did not expect knows
/// that the payload is too old or too new, so that no fence has to order these words.
GPUSYNC_HD constexpr uint64_t tagged(uint32_t payload, uint32_t tag) {
  return uint64_t{tag} << 32 | payload;
}
/// Its halves.
GPUSYNC_HD constexpr uint32_t payload_of(uint64_t word) {
  return static_cast<uint32_t>(word);
}
GPUSYNC_HD constexpr uint32_t tag_of(uint64_t word) {
  return static_cast<uint32_t>(word >> 32);
}

/// Whether `one` was counted at or after `other`: stamps count rounds modulo 2^32 and lie less than 2^31 apart.
GPUSYNC_HD constexpr bool at_or_after(uint32_t one, uint32_t other) {
  return static_cast<int32_t>(one - other) >= 0;
}

/// A participant numbers its announcements modulo 2^24.
inline constexpr uint32_t number_mask = 0xffffff;
/// Whether announcement `one` was made after `other`.
GPUSYNC_HD constexpr bool announced_after(uint32_t one, uint32_t other) {
  return static_cast<int32_t>((one - other) << 8) > 0;
}

/// The number of the lowest bit that is set. Precondition: one is.
GPUSYNC_HD inline uint32_t lowest_bit(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__ffs(static_cast<int>(bits)) - 1);
#else
  return static_cast<uint32_t>(__builtin_ctz(bits));
#endif
}

}  // namespace detail

}  // namespace gpusync::rmw
