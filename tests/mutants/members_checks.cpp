// Who takes part when blocks drop out, in grids whose roster has several words.
#include <gpusync/core/host_memory.hpp>
#include <gpusync/grid/layout.hpp>
#include <gpusync/grid/members.hpp>

#include <vector>

#include "check.hpp"

namespace gpusync::test {
namespace {

struct one_block {
  using memory = host_memory;
  uint32_t block_;
  uint32_t block() const { return block_; }
  static uint32_t blocks() { return 100; }
};

/// A roster between words that nobody may touch.
class guarded_roster {
 public:
  explicit guarded_roster(uint32_t capacity) : capacity_(capacity), words_(dropping_blocks::words(capacity) + 2, 0) {
    words_.front() = words_.back() = untouched;
  }
  dropping_blocks members() { return dropping_blocks(words_.data() + 1, capacity_); }
  void drop(uint32_t block, uint32_t phase) { members().drop(one_block{block}, phase); }
  bool intact() const { return words_.front() == untouched && words_.back() == untouched; }

 private:
  static constexpr uint32_t untouched = 0x5a5a5a5a;
  uint32_t capacity_;
  std::vector<uint32_t> words_;
};

void ranks_count_drops_in_all_words() {
  for (const uint32_t phase : {0u, 1u}) {
    guarded_roster roster(100);
    for (const uint32_t block : {2u, 40u, 64u, 99u}) roster.drop(block, phase);
    const auto rank_of = [&](uint32_t block) {
      dropping_blocks members = roster.members();
      expect(members.changed(one_block{block}, phase), "a block notices that others have dropped out");
      expect(members.of(one_block{block}).count == 96, "all drops count");
      return members.of(one_block{block}).rank;
    };
    expect(rank_of(1) == 1, "drops of later blocks leave a rank as it is");
    expect(rank_of(31) == 30, "a drop in the block's own word counts for its rank");
    expect(rank_of(41) == 39, "a drop in an earlier word counts for a block's rank");
    expect(rank_of(65) == 62, "drops in all earlier words count for a block's rank");
    expect(rank_of(98) == 95, "and for one that has no drop in its own word before it");
  }
}

void takes_part_looks_into_every_word() {
  for (const uint32_t phase : {0u, 1u}) {
    guarded_roster roster(100);
    roster.drop(40, phase);
    roster.drop(99, phase);
    const dropping_blocks members = roster.members();
    for (uint32_t block = 0; block < 100; ++block) {
      const bool part = members.takes_part(one_block{0}, block);
      expect(part == (block != 40 && block != 99), "those take part, and only those, that have not dropped out");
    }
  }
}

void the_last_block_has_a_place_in_the_roster() {
  for (uint32_t capacity = 1; capacity <= 130; ++capacity) {
    for (const uint32_t phase : {0u, 1u}) {
      guarded_roster roster(capacity);
      roster.drop(capacity - 1, phase);
      expect(roster.intact(), "a drop is noted within the roster");
      dropping_blocks members = roster.members();
      expect(!members.changed(one_block{0}, phase + 1), "a drop of one phase is not taken for one of the next");
      expect(members.changed(one_block{0}, phase), "a drop is seen after its phase");
      expect(!members.takes_part(one_block{0}, capacity - 1), "who has dropped out does not take part");
    }
  }
}

void the_storage_has_room_for_the_roster() {
  for (uint32_t blocks = 1; blocks <= 2000; ++blocks) {
    const gpusync::detail::barrier_layout place = gpusync::detail::barrier_layout::of(1, blocks);
    expect(place.total >= place.roster + dropping_blocks::words(blocks), "the roster ends within the storage");
    expect(place.roster >= place.entered + blocks && place.entered >= place.arrived + blocks &&
               place.arrived > place.claimed,
           "the parts of a storage lie one behind the other");
  }
}

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  using namespace gpusync::test;
  const named_check checks[] = {
      GPUSYNC_CHECK(ranks_count_drops_in_all_words),
      GPUSYNC_CHECK(takes_part_looks_into_every_word),
      GPUSYNC_CHECK(the_last_block_has_a_place_in_the_roster),
      GPUSYNC_CHECK(the_storage_has_room_for_the_roster),
  };
  return run_checks(checks, words, word);
}
