// How a sum over the whole device is carried out: plans, and the rules that choose among them by size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpusync {

/// How the partial sums of a reduction's blocks come together.
enum class reduction_finish : uint8_t {
  one_block,  ///< there is one block: nothing to bring together
  cluster,    ///< one thread block cluster (sm_90): st.async into its first block's shared memory, no fence
  messages,   ///< each block stores its sum and the call's number in one word; the grid's last block collects them
  ticket      ///< the block that finishes last collects: nobody waits for anybody
};

/// How tiles are given to blocks. A tile is what a block loads at once: threads x vectors x 16 bytes.
enum class reduction_walk : uint8_t {
  one_tile,  ///< as many blocks as tiles, each with one
  dealt,     ///< blocks that run at once, tile t to block t mod blocks
  claimed    ///< the same, but a block takes the next tile that nobody has begun
};

/// One way to sum. Any plan that detail::reduction_kernels has is right for every size that it can hold; plans differ
/// in speed.
struct reduction_plan {
  reduction_finish finish;  ///< how blocks' sums come together
  reduction_walk walk;      ///< how blocks come by their tiles
  uint16_t threads;         ///< of a block
  uint16_t vectors;         ///< of 16 bytes that a thread loads at once
  uint16_t cluster;         ///< blocks of the cluster: 2, 4, 8 or 16; 1 without
  uint16_t blocks_per_sm;   ///< where tiles are dealt or claimed; 0 where each block has one tile
  bool streamed;            ///< loads leave the L1 cache alone; right for inputs that no cache holds

  /// Whether blocks of several launches would use the same words.
  constexpr bool shares_memory() const {
    return finish == reduction_finish::messages || finish == reduction_finish::ticket;
  }
  /// Bytes of a tile.
  constexpr uint64_t tile_bytes() const { return uint64_t{threads} * vectors * 16; }
  /// The most bytes of 16-byte vectors that it can sum.
  constexpr uint64_t capacity(uint32_t most_blocks) const {
    if (finish == reduction_finish::one_block) return tile_bytes();
    if (finish == reduction_finish::cluster) return tile_bytes() * cluster;
    return walk == reduction_walk::one_tile ? tile_bytes() * most_blocks : ~uint64_t{0};
  }
};

/// Whether two plans are the same.
constexpr bool operator==(const reduction_plan& a, const reduction_plan& b) {
  return a.finish == b.finish && a.walk == b.walk && a.threads == b.threads && a.vectors == b.vectors &&
         a.cluster == b.cluster && a.blocks_per_sm == b.blocks_per_sm && a.streamed == b.streamed;
}

/// A plan and the inputs that it is for: those of at most so many bytes.
struct reduction_rule {
  static constexpr uint64_t any = ~uint64_t{0};  ///< no limit

  uint64_t bytes;       ///< the most, or `any`
  reduction_plan plan;  ///< what they are summed by
};

/// Rules for one type of elements, by rising bytes; the last is for inputs of any size.
using reduction_rules = std::vector<reduction_rule>;

namespace detail {

constexpr reduction_plan one_block_plan(uint16_t threads, uint16_t vectors) {
  return {reduction_finish::one_block, reduction_walk::one_tile, threads, vectors, 1, 0, false};
}
constexpr reduction_plan cluster_plan(uint16_t cluster, uint16_t threads, uint16_t vectors) {
  return {reduction_finish::cluster, reduction_walk::one_tile, threads, vectors, cluster, 0, false};
}
constexpr reduction_plan message_plan(uint16_t threads, uint16_t vectors) {
  return {reduction_finish::messages, reduction_walk::one_tile, threads, vectors, 1, 0, false};
}
constexpr reduction_plan loop_plan(reduction_walk walk, uint16_t blocks_per_sm, uint16_t threads, uint16_t vectors) {
  return {reduction_finish::messages, walk, threads, vectors, 1, blocks_per_sm, true};
}

/// What a plan becomes where no block may wait for another, where the order of additions must be the same in each call,
/// or where there are no clusters.
constexpr reduction_plan without_messages(reduction_plan plan) {
  if (plan.finish == reduction_finish::messages) plan.finish = reduction_finish::ticket;
  return plan;
}
constexpr reduction_plan without_claims(reduction_plan plan) {
  if (plan.walk == reduction_walk::claimed) plan.walk = reduction_walk::dealt;
  return plan;
}
constexpr reduction_plan without_clusters(reduction_plan plan) {
  return plan.finish == reduction_finish::cluster ? message_plan(256, 2) : plan;
}

}  // namespace detail

}  // namespace gpusync
