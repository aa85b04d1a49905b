// Who waits for whom, and what is no neighbourhood.
#include <gtest/gtest.h>

#include <gpusync/neighbours/neighbourhood.hpp>

#include <set>

#include "support/refusal.hpp"

namespace gpusync {
namespace {

constexpr uint32_t none = neighbourhood::none;

std::vector<uint32_t> row(const neighbourhood& who, uint32_t block) {
  std::vector<uint32_t> blocks;
  for (uint32_t slot = 0; slot < who.slots(); ++slot) blocks.push_back(who.neighbour(block, slot));
  return blocks;
}
using blocks = std::vector<uint32_t>;

using test::refusal;

/// What all of them promise: each slot is empty or names a block, and who is waited for waits.
void expect_mutual(const neighbourhood& who) {
  ASSERT_EQ(who.table().size(), size_t{who.blocks()} * who.slots());
  ASSERT_LE(who.slots(), neighbourhood::most_slots);
  for (uint32_t block = 0; block < who.blocks(); ++block) {
    for (const uint32_t other : row(who, block)) {
      if (other == none) continue;
      ASSERT_LT(other, who.blocks());
      const blocks back = row(who, other);
      EXPECT_NE(std::find(back.begin(), back.end(), block), back.end()) << block << " waits for " << other;
    }
  }
}

TEST(Neighbourhood, OfARing) {
  const auto who = neighbourhood::ring(5);
  EXPECT_EQ(who.blocks(), 5u);
  EXPECT_EQ(who.slots(), 2u);
  EXPECT_EQ(row(who, 0), (blocks{4, 1}));
  EXPECT_EQ(row(who, 3), (blocks{2, 4}));
  EXPECT_EQ(row(who, 4), (blocks{3, 0}));
  EXPECT_EQ(row(neighbourhood::ring(1), 0), (blocks{0, 0}));
  EXPECT_EQ(row(neighbourhood::ring(2), 0), (blocks{1, 1}));
  EXPECT_EQ(row(neighbourhood::ring(2), 1), (blocks{0, 0}));
  EXPECT_EQ(row(neighbourhood::ring(3), 1), (blocks{0, 2}));
}

TEST(Neighbourhood, OfALine) {
  const auto who = neighbourhood::line(4);
  EXPECT_EQ(row(who, 0), (blocks{none, 1}));
  EXPECT_EQ(row(who, 2), (blocks{1, 3}));
  EXPECT_EQ(row(who, 3), (blocks{2, none}));
  EXPECT_EQ(row(neighbourhood::line(1), 0), (blocks{none, none}));
  EXPECT_EQ(row(neighbourhood::line(2), 1), (blocks{0, none}));
}

TEST(Neighbourhood, OfAPlane) {
  const auto torus = neighbourhood::torus({4, 3});  // 0 1 2 3 / 4 5 6 7 / 8 9 10 11
  EXPECT_EQ(torus.slots(), 4u);
  EXPECT_EQ(row(torus, 5), (blocks{4, 6, 1, 9}));
  EXPECT_EQ(row(torus, 0), (blocks{3, 1, 8, 4}));
  EXPECT_EQ(row(torus, 11), (blocks{10, 8, 7, 3}));
  const auto grid = neighbourhood::grid({4, 3});
  EXPECT_EQ(row(grid, 5), (blocks{4, 6, 1, 9}));
  EXPECT_EQ(row(grid, 0), (blocks{none, 1, none, 4}));
  EXPECT_EQ(row(grid, 11), (blocks{10, none, 7, none}));
}

TEST(Neighbourhood, OfAPlaneWithCorners) {
  const auto torus = neighbourhood::torus({4, 3}, corners::yes);
  EXPECT_EQ(torus.slots(), 8u);
  EXPECT_EQ(row(torus, 5), (blocks{4, 6, 1, 9, 0, 2, 8, 10}));
  EXPECT_EQ(row(torus, 0), (blocks{3, 1, 8, 4, 11, 9, 7, 5}));
  const auto grid = neighbourhood::grid({4, 3}, corners::yes);
  EXPECT_EQ(row(grid, 0), (blocks{none, 1, none, 4, none, none, none, 5}));
  EXPECT_EQ(row(grid, 7), (blocks{6, none, 3, 11, 2, none, 10, none}));
  EXPECT_EQ(neighbourhood::ring(3).table(), neighbourhood::torus(3, corners::yes).table()) << "a row has no corners";
}

TEST(Neighbourhood, OfABody) {
  const auto torus = neighbourhood::torus({2, 3, 4});  // block = x + 2 (y + 3 z)
  EXPECT_EQ(torus.slots(), 6u);
  EXPECT_EQ(row(torus, 0), (blocks{1, 1, 4, 2, 18, 6}));
  EXPECT_EQ(row(torus, 9), (blocks{8, 8, 7, 11, 3, 15}));
  const auto all = neighbourhood::torus({3, 3, 3}, corners::yes);
  EXPECT_EQ(all.slots(), 26u);
  for (uint32_t block = 0; block < 27; ++block) {
    const blocks others = row(all, block);
    EXPECT_EQ(std::set<uint32_t>(others.begin(), others.end()).size(), 26u) << "everybody but itself";
    EXPECT_EQ(std::count(others.begin(), others.end(), block), 0);
  }
  const auto grid = neighbourhood::grid({3, 3, 3}, corners::yes);
  const blocks corner = row(grid, 0);
  EXPECT_EQ(std::count(corner.begin(), corner.end(), none), 26 - 7);
  EXPECT_EQ(corner[25], 13u) << "the middle, in the last slot";
}

TEST(Neighbourhood, DimensionsAreThoseBeforeTheLastExtentAboveOne) {
  EXPECT_EQ(neighbourhood::torus({5, 1, 1}).slots(), 2u);
  EXPECT_EQ(neighbourhood::torus({1, 5}).slots(), 4u);
  EXPECT_EQ(neighbourhood::torus({1, 1, 5}).slots(), 6u);
  EXPECT_EQ(neighbourhood::grid({1, 1, 1}).slots(), 2u);
  EXPECT_EQ(row(neighbourhood::torus({1, 3}), 1), (blocks{1, 1, 0, 2})) << "its own neighbour across one block";
  EXPECT_EQ(row(neighbourhood::grid({1, 3}), 1), (blocks{none, none, 0, 2}));
}

TEST(Neighbourhood, IsMutualWhateverItsSides) {
  for (const uint32_t x : {1u, 2u, 3u, 5u}) {
    for (const uint32_t y : {1u, 2u, 3u}) {
      for (const uint32_t z : {1u, 2u, 3u, 4u}) {
        for (const corners around : {corners::no, corners::yes}) {
          expect_mutual(neighbourhood::torus({x, y, z}, around));
          expect_mutual(neighbourhood::grid({x, y, z}, around));
        }
      }
    }
  }
}

TEST(Neighbourhood, OppositeSlotsOfATorusUndoEachOther) {
  const auto who = neighbourhood::torus({5, 4, 3});
  for (uint32_t block = 0; block < who.blocks(); ++block) {
    for (uint32_t slot = 0; slot < who.slots(); ++slot) {
      EXPECT_EQ(who.neighbour(who.neighbour(block, slot), slot ^ 1u), block);
    }
  }
}

TEST(Neighbourhood, OfLists) {
  const auto who = neighbourhood::of({{1, 3}, {0, 2}, {1}, {0}, {}});
  EXPECT_EQ(who.blocks(), 5u);
  EXPECT_EQ(who.slots(), 2u);
  EXPECT_EQ(row(who, 0), (blocks{1, 3}));
  EXPECT_EQ(row(who, 2), (blocks{1, none}));
  EXPECT_EQ(row(who, 4), (blocks{none, none})) << "one that waits for nobody";
  EXPECT_EQ(neighbourhood::of({{}, {}}).slots(), 1u);
  const auto gaps = neighbourhood::of({{none, 1}, {0, none, none}, {none}});
  EXPECT_EQ(gaps.slots(), 3u);
  EXPECT_EQ(row(gaps, 0), (blocks{none, 1, none}));
  EXPECT_EQ(row(gaps, 1), (blocks{0, none, none}));
  EXPECT_EQ(row(gaps, 2), (blocks{none, none, none}));
  std::vector<std::vector<uint32_t>> all(33);
  for (uint32_t a = 0; a < 33; ++a) {
    for (uint32_t b = 0; b < 33; ++b) {
      if (a != b) all[a].push_back(b);
    }
  }
  expect_mutual(neighbourhood::of(all));  // 32 neighbours each
}

TEST(Neighbourhood, RefusesInWordsWhatIsNone) {
  const auto of = [](const std::vector<std::vector<uint32_t>>& lists) {
    return refusal([&] { (void)neighbourhood::of(lists); });
  };
  EXPECT_EQ(of({{1}, {0, 2}, {}}),
            "Block 1 waits for block 2, which does not wait for it. Neighbours must be mutual, or one would overwrite "
            "what the other has not read: put each into the other's list.");
  EXPECT_EQ(of({{1}, {0, 1}}), "Block 1 is in its own list of neighbours.");
  EXPECT_EQ(of({{1, 1}, {0}}), "Block 0 has block 1 twice in its list of neighbours.");
  EXPECT_EQ(of({{1}, {0, 2}}), "Block 1 has block 2 as its neighbour, of a grid of 2 blocks.");
  EXPECT_EQ(of({{~1u}}), "Block 0 has block 4294967294 as its neighbour, of a grid of 1 blocks.");
  EXPECT_EQ(of({{none, 1}, {none}}).substr(0, 53), "Block 0 waits for block 1, which does not wait for it");
  EXPECT_EQ(of({}), "A neighbourhood is of 1 to 1048576 blocks, not 0.");
  std::vector<std::vector<uint32_t>> star(34);
  for (uint32_t b = 1; b < 34; ++b) {
    star[0].push_back(b);
    star[b].push_back(0);
  }
  EXPECT_EQ(of(star), "Block 0 has 33 neighbours; at most 32 can be waited for one by one. Take a grid barrier.");
}

TEST(Neighbourhood, RefusesNoBlocksAndTooMany) {
  const std::string words = "A neighbourhood is of 1 to 1048576 blocks, not ";
  EXPECT_EQ(refusal([] { (void)neighbourhood::ring(0); }), words + "0.");
  EXPECT_EQ(refusal([] { (void)neighbourhood::line(0); }), words + "0.");
  EXPECT_EQ(refusal([] { (void)neighbourhood::torus({5, 0}); }), words + "0.");
  EXPECT_EQ(refusal([] { (void)neighbourhood::grid({5, 5, 0}, corners::yes); }), words + "0.");
  EXPECT_EQ(refusal([] { (void)neighbourhood::ring((1u << 20) + 1); }), words + "1048577.");
  EXPECT_EQ(refusal([] { (void)neighbourhood::torus({1u << 11, 1u << 11}); }), words + "4194304.");
  EXPECT_EQ(refusal([] { (void)neighbourhood::torus({~0u, ~0u, ~0u}); }), words + "18446744073709551615.");
  EXPECT_EQ(neighbourhood::line(1u << 20).blocks(), 1u << 20);
  EXPECT_THROW((void)neighbourhood::torus({-1, 4}), invalid_argument);
  EXPECT_THROW((void)neighbourhood::ring((uint64_t{1} << 32) + 5), invalid_argument);
  EXPECT_THROW((void)neighbourhood::line((uint64_t{1} << 32) + 5), invalid_argument);
}

}  // namespace
}  // namespace gpusync
