// Tiles that stay on the chip, and how a GPU's threads go through one, played on the host.
#include "workloads/stencil/stencil_tiles.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <iterator>
#include <vector>

#include "support/exchanging_threads.hpp"
#include "support/refusal.hpp"
#include "workloads/stencil/stencil_converging.hpp"
#include "workloads/stencil/stencil_on_chip.hpp"
#include "workloads/stencil/stencil_strips.hpp"

namespace gpusync::tool {
namespace {

/// Shared memory of an H200's block, doubles.
tile_room room_of(uint32_t threads) {
  return {227 * 1024, threads, 12, 8};
}

std::string refusal(const stencil_size& size, uint32_t blocks, const tile_room& room) {
  return test::refusal([&] { (void)tiles_for(size, blocks, room); });
}

TEST(StencilTiles, CoverEachInnerRowOnce) {
  for (const stencil_size& size : {stencil_size{1024, 1024, 1}, stencil_size{102, 102, 102}, stencil_size{8, 5, 4},
                                   stencil_size{4, 3, 3}, stencil_size{256, 256, 1}}) {
    for (const uint32_t blocks : {1u, 7u, 132u, 264u}) {
      tile_room room = room_of(512);
      room.rows = 1u << 20;  // room for everything
      room.shared_bytes = SIZE_MAX;
      room.threads = 1u << 20;
      const tiles_that_fit found = tiles_for(size, blocks, room);
      std::vector<int> times(size_t{size.height} * size.depth);
      for (uint32_t block = 0; block < blocks; ++block) {
        const stencil_tile tile = stencil_tile_of(size, found.tiles, block);
        EXPECT_LE(tile_bytes(size, room, tile.along.count, tile.across.count), found.bytes);
        for (uint32_t i = 0; i < tile.along.count; ++i) {
          for (uint32_t j = 0; j < tile.across.count; ++j) {
            const uint32_t along = 1 + tile.along.first + i;
            times.at(size.depth == 1 ? along : along * size.height + 1 + tile.across.first + j) += 1;
          }
        }
      }
      for (uint32_t z = 0; z < size.depth; ++z) {
        for (uint32_t y = 0; y < size.height; ++y) {
          const bool inside = y != 0 && y + 1 != size.height && (size.depth == 1 || (z != 0 && z + 1 != size.depth));
          EXPECT_EQ(times[z * size.height + y], inside ? 1 : 0);
        }
      }
    }
  }
}

TEST(StencilTiles, FitBodiesThatAnH200Holds) {
  const tiles_that_fit plate = tiles_for({1024, 1024, 1}, 132, room_of(512));
  EXPECT_EQ(plate.tiles.along, 132u);
  EXPECT_EQ(plate.tiles.across, 1u);
  EXPECT_EQ(plate.bytes, 8u * 1024 * 8);
  const tiles_that_fit block = tiles_for({102, 102, 102}, 132, room_of(512));
  EXPECT_GE(block.tiles.across, 10u) << "columns of a plate fit into a block's threads";
  EXPECT_LE(block.tiles.along * block.tiles.across, 132u);
}

TEST(StencilTiles, SayWhatLacks) {
  EXPECT_NE(refusal({4096, 4096, 1}, 132, room_of(512)).find("needs 2048 threads, of a block's 512"),
            std::string::npos);
  EXPECT_NE(refusal({1024, 4096, 1}, 132, room_of(512)).find("would hold 32 rows, of at most 12"), std::string::npos);
  tile_room small = room_of(1024);
  small.shared_bytes = 48 * 1024;
  EXPECT_NE(refusal({1024, 1024, 1}, 132, small).find("takes 65536 bytes of a block's 49152"), std::string::npos);
  EXPECT_NE(refusal({65536, 1, 1}, 132, room_of(512)).find("Rods"), std::string::npos);
  EXPECT_NE(refusal({101, 101, 1}, 132, room_of(512)).find("even"), std::string::npos);
}

/// A text with the number of steps that host threads run.
template <class Real, uint32_t Dimensions>
struct played : stencil_on_chip<Real, Dimensions> {
  uint32_t count;
  uint32_t steps() const { return count; }
};

/// A body's arrays as a run finds them, with room for an odd number of points.
template <class Real>
std::vector<std::vector<point_pair<Real>>> buffers_of(const stencil_body& body) {
  std::vector<std::vector<point_pair<Real>>> buffers;
  for (const array_content& content : body.content()) {
    buffers.emplace_back((content.bytes + sizeof(point_pair<Real>) - 1) / sizeof(point_pair<Real>));
    std::memcpy(static_cast<void*>(buffers.back().data()), content.first.get(), content.bytes);
  }
  return buffers;
}

/// Words that differ from the host's relaxation.
template <class Real, uint32_t Dimensions>
uint64_t wrong_on_chip(const stencil_size& size, uint32_t blocks, uint32_t threads, bool split) {
  constexpr uint32_t steps = 6;
  const auto real = sizeof(Real) == 8 ? stencil_real::twice : stencil_real::single;
  const stencil_body body(size, real, steps);
  auto buffers = buffers_of<Real>(body);
  using text = played<Real, Dimensions>;
  const tile_room room{64 * 1024, threads, text::most_rows, sizeof(Real)};
  text work;
  work.a = &buffers[0].front().left;
  work.b = &buffers[1].front().left;
  work.size = size;
  work.tiles = tiles_for(size, blocks, room).tiles;
  work.count = steps;
  if (split) {
    test::run_exchanging_split(work, blocks, threads);
  } else {
    test::run_exchanging(work, blocks, threads, test::kernels::one_for_all);
  }
  return different_words(body.content().front(), reinterpret_cast<const uint32_t*>(buffers[0].data()));
}

TEST(StencilOnChip, FindsWhatTheHostFinds) {
  for (const bool split : {false, true}) {
    SCOPED_TRACE(split ? "split" : "whole");
    EXPECT_EQ((wrong_on_chip<double, 2>({16, 13, 1}, 3, 32, split)), 0u) << "several strips in a tile";
    EXPECT_EQ((wrong_on_chip<double, 2>({60, 9, 1}, 2, 32, split)), 0u) << "threads without points";
    EXPECT_EQ((wrong_on_chip<float, 2>({8, 5, 1}, 4, 32, split)), 0u) << "tiles of one row, one block without";
    EXPECT_EQ((wrong_on_chip<float, 2>({4, 3, 1}, 1, 32, split)), 0u);
    EXPECT_EQ((wrong_on_chip<double, 3>({8, 7, 9}, 3, 32, split)), 0u);
    EXPECT_EQ((wrong_on_chip<float, 3>({6, 9, 12}, 4, 32, split)), 0u) << "rows that are on no side";
    EXPECT_EQ((wrong_on_chip<double, 3>({4, 3, 3}, 2, 32, split)), 0u);
    EXPECT_EQ((wrong_on_chip<double, 3>({6, 12, 12}, 2, 64, split)), 0u);
  }
}

/// A barrier as strips_by_barrier asks for it, of a block's thread.
struct played_barrier {
  const test::exchanging_grid& grid;
  std::barrier<>& all;
  void enter() {}
  void sync() {
    grid.sync_block();
    all.arrive_and_wait();
  }
  std::barrier<>::arrival_token arrive() {
    grid.sync_block();
    return all.arrive();
  }
  void wait(std::barrier<>::arrival_token&& token) { all.wait(std::move(token)); }
};

template <class Real, uint32_t Rows, uint32_t Pairs, bool Split>
uint64_t wrong_in_strips(const stencil_size& size, uint32_t blocks, uint32_t threads) {
  constexpr uint32_t steps = 6;
  const stencil_body body(size, sizeof(Real) == 8 ? stencil_real::twice : stencil_real::single, steps);
  auto points = std::move(buffers_of<Real>(body).front());
  std::vector<point_pair<Real>> rims(size_t{2} * (size.height / Rows) * size.width);
  using text_type = stencil_strips<Real, Rows, Pairs>;
  const text_type work{{}, &points.front().left, &rims.front().left, size};
  test::on_exchanging_threads(blocks, threads, [&](const test::exchanging_grid& grid, std::barrier<>& all) {
    played_barrier barrier{grid, all};
    strips_by_barrier<Real, Pairs, played_barrier, Split> rows(barrier, grid, work.rim, size.width, work.strips());
    work.relax(grid, steps, rows);
  });
  return different_words(body.content().front(), reinterpret_cast<const uint32_t*>(points.data()));
}

TEST(StencilStrips, FindWhatTheHostFinds) {
  EXPECT_EQ((wrong_in_strips<float, 8, 1, false>({64, 16, 1}, 2, 32)), 0u);
  EXPECT_EQ((wrong_in_strips<float, 8, 1, true>({128, 24, 1}, 3, 64)), 0u) << "warps side by side";
  EXPECT_EQ((wrong_in_strips<double, 8, 1, true>({64, 16, 1}, 3, 32)), 0u) << "a block without a strip";
  EXPECT_EQ((wrong_in_strips<float, 8, 2, true>({256, 24, 1}, 3, 64)), 0u) << "more points for each thread";
  EXPECT_EQ((wrong_in_strips<float, 8, 1, true>({192, 16, 1}, 2, 96)), 0u) << "a warp that is at no side";
  EXPECT_EQ((wrong_in_strips<float, 16, 2, true>({128, 32, 1}, 2, 32)), 0u);
  EXPECT_EQ((wrong_in_strips<double, 2, 2, false>({128, 4, 1}, 2, 32)), 0u) << "nothing between the rims";
}

/// The same with votes, for one launch of up to so many steps.
struct played_votes : played_barrier {
  struct token {
    std::barrier<>::arrival_token arrived;
    uint32_t vote;
  };
  std::vector<std::atomic<bool>>& answers;
  uint32_t votes = 0;

  played_votes(const test::exchanging_grid& of, std::barrier<>& every, std::vector<std::atomic<bool>>& all_answers)
      : played_barrier{of, every}, answers(all_answers) {}
  using played_barrier::wait;
  void enter_votes() {}
  token arrive_or(bool mine) {
    if (mine) answers.at(votes) = true;
    grid.sync_block();
    return {all.arrive(), votes++};
  }
  bool wait(token&& given) {
    all.wait(std::move(given.arrived));
    return answers[given.vote];
  }
  bool sync_or(bool mine) { return wait(arrive_or(mine)); }
};

/// Runs `body(grid, votes, until)` in all threads for a plate that ends by itself after about so many steps; returns
/// how many words are wrong then.
template <class Real, class Body>
uint64_t wrong_when_converged(const stencil_body& of, uint32_t blocks, uint32_t threads, const Body& body) {
  auto buffers = buffers_of<Real>(of);
  std::vector<uint32_t> words(std::begin(convergence_words), std::end(convergence_words));
  const auto until = convergence_of<Real>(of, words.data());
  std::vector<std::atomic<bool>> answers(until.most);
  test::on_exchanging_threads(blocks, threads, [&](const test::exchanging_grid& grid, std::barrier<>& all) {
    played_votes votes(grid, all, answers);
    body(grid, votes, until, &buffers[0].front().left, &buffers[1].front().left);
  });
  EXPECT_EQ(words[4], of.steps().count) << "steps";
  return different_words(of.content().front(), reinterpret_cast<const uint32_t*>(buffers[0].data()));
}

template <class Real>
stencil_body converging_body(const stencil_size& size, uint32_t steps) {
  return stencil_body::until_converged(size, sizeof(Real) == 8 ? stencil_real::twice : stencil_real::single, steps);
}

template <class Real, uint32_t Rows, uint32_t Pairs, template <class, uint32_t, class> class Exchange>
uint64_t wrong_in_converged_strips(const stencil_size& size, uint32_t steps, uint32_t blocks, uint32_t threads) {
  const stencil_body body = converging_body<Real>(size, steps);
  std::vector<point_pair<Real>> rims(size_t{2} * (size.height / Rows) * size.width);
  return wrong_when_converged<Real>(
      body, blocks, threads, [&](const auto& grid, auto& votes, const auto& until, Real* points, Real*) {
        const converging_strips<Real, Rows, Pairs> work{{{}, points, &rims.front().left, size}, until};
        Exchange<Real, Pairs, played_votes> rows(votes, grid, work);
        work.converge(grid, rows);
      });
}

/// Of so many numbers of steps that in one or the other the last points to change are at each place of a strip.
TEST(ConvergingStencil, StripsEndWhenTheHostEnds) {
  for (uint32_t steps = 4; steps < 16; ++steps) {
    EXPECT_EQ((wrong_in_converged_strips<float, 8, 1, strips_by_votes>({64, 16, 1}, steps, 2, 32)), 0u) << steps;
    EXPECT_EQ((wrong_in_converged_strips<float, 8, 1, strips_by_words>({64, 24, 1}, steps, 3, 32)), 0u) << steps;
  }
  for (const uint32_t steps : {5u, 6u}) {
    EXPECT_EQ((wrong_in_converged_strips<double, 8, 2, strips_by_votes>({128, 16, 1}, steps, 3, 32)), 0u)
        << "a block without a strip";
    EXPECT_EQ((wrong_in_converged_strips<double, 8, 1, strips_by_words>({192, 24, 1}, steps, 3, 96)), 0u);
  }
}

TEST(ConvergingStencil, TilesEndWhenTheHostEnds) {
  for (const uint32_t steps : {5u, 6u}) {
    const stencil_size size{6, 9, 12};
    const stencil_body body = converging_body<float>(size, steps);
    using text = stencil_on_chip<float, 3>;
    const stencil_tiles tiles = tiles_for(size, 4, {64 * 1024, 32, text::most_rows, sizeof(float)}).tiles;
    EXPECT_EQ((wrong_when_converged<float>(body, 4, 32,
                                           [&](const auto& grid, auto& votes, const auto& until, float* a, float* b) {
                                             const text work{{}, a, b, size, tiles};
                                             stencil_by_votes<text, float>{work, until}.run(grid, votes);
                                           })),
              0u);
  }
}

/// Launches do not know when it is over: steps behind the last do nothing, however many there are.
TEST(ConvergingStencil, StaysOver) {
  for (const uint32_t steps : {4u, 5u, 6u, 7u}) {
    const stencil_size size{17, 9, 1};
    const stencil_body body = converging_body<double>(size, steps);
    EXPECT_EQ(
        (wrong_when_converged<double>(body, 2, 32,
                                      [&](const auto& grid, auto& votes, const auto& until, double* a, double* b) {
                                        const converging_stencil<double, 2> work(
                                            stencil_text_ending_in<2>(a, b, size, body.steps().count), until);
                                        for (uint32_t s = 0; s < body.steps().count + 9; ++s) {
                                          auto kept = work.load(grid, s % 4);
                                          work.step(grid, s % 4, kept);
                                          votes.sync();
                                          EXPECT_EQ(*work.goes_on(s % 4) != 0, s + 1 < body.steps().count) << s;
                                          votes.sync();
                                        }
                                      })),
        0u);
  }
}

/// What changes for ever is given up, and found wrong by the number of steps.
TEST(ConvergingStencil, IsGivenUp) {
  const stencil_body body = converging_body<float>({64, 16, 1}, 4);
  std::vector<point_pair<float>> rims(size_t{2} * 2 * 64);
  std::vector<uint32_t> words(std::begin(convergence_words), std::end(convergence_words));
  auto points = std::move(buffers_of<float>(body).front());
  convergence<float> until = convergence_of<float>(body, words.data());
  until.tolerance = -1;
  std::vector<std::atomic<bool>> answers(until.most);
  test::on_exchanging_threads(2, 32, [&](const test::exchanging_grid& grid, std::barrier<>& all) {
    played_votes votes(grid, all, answers);
    const converging_strips<float, 8, 1> work{{{}, &points.front().left, &rims.front().left, {64, 16, 1}}, until};
    strips_by_votes<float, 1, played_votes> rows(votes, grid, work);
    work.converge(grid, rows);
  });
  EXPECT_EQ(words[4], body.steps().limit());
}

TEST(ConvergingStencil, HasATolerance) {
  const stencil_body body = converging_body<float>({32, 32, 1}, 20);
  EXPECT_GE(body.steps().count, 20u);
  EXPECT_LT(body.steps().count, 25u);
  EXPECT_GT(*body.tolerance(), 0);
  EXPECT_LT(*body.tolerance(), 1);
  EXPECT_LT(*converging_body<float>({32, 32, 1}, 40).tolerance(), *body.tolerance());
  EXPECT_FALSE(stencil_body({32, 32, 1}).tolerance());
  EXPECT_THROW((void)converging_body<float>({4, 4, 1}, 4000), invalid_argument) << "nothing changes any more";
  EXPECT_THROW((void)converging_body<float>({4096, 4096, 1}, 4000), invalid_argument) << "the host would take minutes";
  EXPECT_THROW((void)converging_body<float>({64, 1, 1}, 4), invalid_argument) << "a rod";
}

TEST(StencilStrips, SayWhatLacks) {
  const auto refused = [](const stencil_size& size, uint32_t blocks, uint32_t threads) {
    step_shape shape;
    shape.blocks = blocks;
    shape.threads = threads;
    return test::refusal([&] { require_strips(size, shape); });
  };
  EXPECT_EQ(refused({1024, 1024, 1}, 132, 512), "");
  EXPECT_NE(refused({1024, 1024, 1}, 127, 512).find("more than the 127 blocks"), std::string::npos);
  EXPECT_EQ(refused({1024, 1024, 1}, 132, 256), "") << "four points of a row for each thread";
  EXPECT_EQ(refused({2048, 2048, 1}, 132, 256), "");
  EXPECT_NE(refused({1024, 1024, 1}, 132, 128).find("blocks of 512 or 256 threads"), std::string::npos);
  EXPECT_NE(refused({1024, 1024, 1}, 132, 1024).find("not 1024"), std::string::npos);
  EXPECT_NE(refused({1024, 1023, 1}, 132, 512).find("no strips of 8 rows"), std::string::npos);
  EXPECT_NE(refused({1024, 8, 1}, 132, 512).find("no strips"), std::string::npos);
  EXPECT_NE(refused({102, 102, 102}, 132, 51).find("plates"), std::string::npos);
}

}  // namespace
}  // namespace gpusync::tool
