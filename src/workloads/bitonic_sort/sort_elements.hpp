// What workload "bitonic sort" sorts. Elements are moved as they are; they are compared as unsigned numbers after their
// keys' bits have been put in order, so that three sizes of element serve all types. C++17: CUDA sources include it.
#pragma once

#include <cstdint>

#include <gpusync/core/config.hpp>

namespace gpusync::tool {

/// Two masks that turn a key's bits into an unsigned number of the same order: `negative` is flipped in keys whose
/// highest bit is set, then `all` in every key. Unsigned: none; signed: the sign bit in all; floating point: besides
/// that, the other bits of negative ones, which gives IEEE 754's totalOrder: -NaN < -infinity < … < -0.0 < +0.0 < … <
/// infinity < NaN. `negative` must leave the highest bit alone.
struct key_order {
  uint64_t negative = 0;
  uint64_t all = 0;
};

/// A key with its value, 16 bytes. Equal keys are put in the order of their values.
struct alignas(16) sort_pair {
  uint64_t key;
  uint64_t value;
};

GPUSYNC_HD inline uint32_t in_order(uint32_t bits, const key_order& order) {
  const auto sign = static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31);
  return bits ^ (sign & static_cast<uint32_t>(order.negative)) ^ static_cast<uint32_t>(order.all);
}
GPUSYNC_HD inline uint64_t in_order(uint64_t bits, const key_order& order) {
  const auto sign = static_cast<uint64_t>(static_cast<int64_t>(bits) >> 63);
  return bits ^ (sign & order.negative) ^ order.all;
}
GPUSYNC_HD inline sort_pair in_order(const sort_pair& pair, const key_order& order) {
  return {in_order(pair.key, order), pair.value};
}

/// The inverse of in_order().
GPUSYNC_HD inline uint32_t out_of_order(uint32_t ordered, const key_order& order) {
  return in_order(ordered ^ static_cast<uint32_t>(order.all), {order.negative, 0});
}
GPUSYNC_HD inline uint64_t out_of_order(uint64_t ordered, const key_order& order) {
  return in_order(ordered ^ order.all, {order.negative, 0});
}
GPUSYNC_HD inline sort_pair out_of_order(const sort_pair& pair, const key_order& order) {
  return {out_of_order(pair.key, order), pair.value};
}

/// Whether `a` stands before `b`, both in order.
GPUSYNC_HD inline bool stands_before(uint32_t a, uint32_t b) {
  return a < b;
}
GPUSYNC_HD inline bool stands_before(uint64_t a, uint64_t b) {
  return a < b;
}
GPUSYNC_HD inline bool stands_before(const sort_pair& a, const sort_pair& b) {
  return a.key < b.key || (a.key == b.key && a.value < b.value);
}

}  // namespace gpusync::tool
