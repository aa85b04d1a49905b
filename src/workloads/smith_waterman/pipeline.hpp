// Smith-Waterman as a pipeline of warps: one kernel without any barrier of the grid. The recurrence is that of
// wavefront.hpp; the score and the end cell come out, not every row's best.
//
// A lane has `Rows` neighbouring rows, whose state it keeps in registers, and goes along the columns; lane l is l
// columns behind lane 0, so that what a lane hands down is there when the next one needs it. A warp hands its last row
// to the next warp through a ring in shared memory, `lanes` columns at a time. In each block two more warps carry rows
// between blocks, by the library's channels: a receiver, which also brings the letters of the reference, and a sender.
// Rows that are too many for all warps at once are done in several passes: what the last block sends then goes to the
// first.
//
// Four things make a cell cheap:
// - F(i+1,j) = max(F(i,j), d - open) - extend, where d = H(i-1,j-1) + s(i,j), instead of max(…, H(i,j) - open): a gap
//   in the reference that follows one in the query costs what the same two cost in the other order, which E allows. H
//   is the same in every cell, and F no longer waits for it.
// - Scores are kept lowered by what the first letter of a gap costs: L = H - open - extend. So d comes lowered from the
//   cell before, and gaps open from both as they are: E(i,j+1) = max(E(i,j) - extend, L(i,j)), F(i+1,j) =
//   max(F(i,j) - extend, d), L(i,j) = max(max(E, F, 0) - open - extend, d) are one instruction each and one for the
//   inner maximum, where H takes one and E and F a subtraction besides.
// - Where scores are bytes, d is one instruction: a row's word has its scores against the four letters, a column's word
//   a 1 at its letter. Columns outside the matrix have 127 in all four places: less than nothing for each row.
// - The best cell is looked for with a key, 16 L + 15 - row: one comparison a column finds the first column and its
//   first row. No branch: the best alignments run through all warps one after the other, and a pipeline is as fast as
//   its slowest part.
//
// C++17: CUDA sources include it; tests run it on host threads.
#pragma once

#include <gpusync/neighbours/channel.hpp>

#include "workloads/smith_waterman/pipeline_lanes.hpp"
#include "workloads/smith_waterman/wavefront.hpp"

namespace gpusync::tool {

/// What the pipeline leaves of each lane's rows: their best cell, as alignment_end has it, with numbers of 32 bits.
struct lane_best {
  int32_t score;
  uint32_t row;     ///< of the query
  uint32_t column;  ///< of the reference
};

/// F and E where there is none: gaps can be taken from it, and products of bytes.
inline constexpr int32_t no_gap = -(1 << 28);

/// Scores by products of bytes: for scorings that byte_scores_suit(), and references of known letters alone.
struct byte_scores {
  int32_t match, mismatch;

  static constexpr uint32_t outside = 0x7f7f7f7f;

  GPUSYNC_HD static uint32_t column(uint8_t letter) { return 1u << (8 * letter); }
  /// Of a row outside the matrix: none of its scores is more than nothing.
  GPUSYNC_HD uint32_t row(uint8_t letter) const {
    const auto byte = [](int32_t score) { return static_cast<uint32_t>(static_cast<uint8_t>(score)); };
    uint32_t word = byte(mismatch) * 0x01010101u;
    if (letter < 4) word += (byte(match) - byte(mismatch)) << (8 * letter);
    return word;
  }
  GPUSYNC_HD uint32_t row_outside() const { return 0x9c9c9c9c; }

  struct column_scores {};
  GPUSYNC_HD column_scores of_column(uint32_t) const { return {}; }
  GPUSYNC_HD int32_t add(uint32_t row, uint32_t column, column_scores, int32_t to) const {
    return add_products(row, column, to);
  }
};

/// Scores by comparing letters: for all scorings and references.
struct letter_scores {
  int32_t match, mismatch;

  static constexpr uint32_t outside = 0x80;

  GPUSYNC_HD static uint32_t column(uint8_t letter) { return letter; }
  GPUSYNC_HD uint32_t row(uint8_t letter) const { return letter; }
  GPUSYNC_HD uint32_t row_outside() const { return 0x81; }

  struct column_scores {
    int32_t other;  ///< of letters that are not equal
  };
  GPUSYNC_HD column_scores of_column(uint32_t column) const { return {column == outside ? no_gap : mismatch}; }
  GPUSYNC_HD int32_t add(uint32_t row, uint32_t column, column_scores scores, int32_t to) const {
    return to + (row == column ? match : scores.other);
  }
};

/// Whether byte_scores can be taken: scores are bytes, and a column outside the matrix costs every row at least what a
/// gap's first letter costs, so that no cell there is better than the one from which it was reached.
constexpr bool byte_scores_suit(const alignment_scoring& scoring) {
  const int64_t outside = 127 * (int64_t{scoring.match} + 3 * int64_t{scoring.mismatch});
  return scoring.match <= 127 && scoring.mismatch >= -128 && scoring.mismatch < 0 &&
         outside <= -(int64_t{scoring.gap_open} + scoring.gap_extend);
}

/// What waits in shared memory: rows on their way from warp to warp, letters, and how far each warp is.
template <uint32_t Warps, uint32_t Lanes>
struct pipeline_block {
  static constexpr uint32_t ring = 8;  ///< chunks between two warps
  static constexpr uint32_t letters =
      64;  ///< chunks: the receiver is at most ring * (Warps + 1) ahead of the last warp
  static_assert(letters >= ring * (Warps + 1) + 2, "letters are overwritten before the last warp has read them");

  handed_down rows[Warps + 1][ring * Lanes];  ///< 0: what the receiver hands to the first warp; Warps: to the sender
  handed_down nothing[Lanes];                 ///< above the matrix
  uint32_t columns[(1 + letters) * Lanes];    ///< words of Scores; the last chunk of the ring is there twice
  uint32_t done[Warps + 2];                   ///< chunks: of the receiver, of each warp, of the sender
};

/// The kernel's text. `Rows`: up to 16 of a lane. Blocks have Warps + 2 warps.
template <class Scores, uint32_t Rows, uint32_t Warps>
struct pipeline {
  static_assert(Rows >= 1 && Rows <= 16, "the key has four bits for a lane's row");
  static constexpr uint32_t rows_per_lane = Rows, warps = Warps, warps_of_block = Warps + 2;
  static constexpr uint32_t outer_chunks = 128;  ///< of the rings between blocks: they stay in the cache

  Scores scores;
  const uint8_t* query;      ///< 0 to 3, or unknown
  const uint8_t* reference;  ///< likewise
  uint32_t rows, columns;
  int32_t open_and_extend, extend;
  int32_t sixteen;  ///< 16, of which the compiler must not know
  uint32_t passes;
  lane_best* best;  ///< for each lane of each warp, block and pass

  template <uint32_t Lanes>
  using shared = pipeline_block<Warps, Lanes>;

  /// Rows of a block.
  GPUSYNC_HD static constexpr uint32_t block_rows(uint32_t lanes) { return Rows * lanes * Warps; }
  /// Blocks with rows in the pass, of all.
  GPUSYNC_HD static uint32_t blocks_in(uint32_t pass, uint32_t rows, uint32_t blocks, uint32_t lanes) {
    const uint64_t before = uint64_t{pass} * blocks * block_rows(lanes);
    const uint64_t left = (rows - before + block_rows(lanes) - 1) / block_rows(lanes);
    return left < blocks ? static_cast<uint32_t>(left) : blocks;
  }

  GPUSYNC_API_TEMPLATE
  template <class Lanes, class Grid, class Channels>
  GPUSYNC_HD void run(const Grid& grid, const Channels& channels, pipeline_block<Warps, Lanes::count>* block) const {
    using store = pipeline_block<Warps, Lanes::count>;
    for (uint32_t i = grid.thread(); i < Lanes::count; i += grid.threads()) block->nothing[i] = above_the_matrix();
    for (uint32_t i = grid.thread(); i < (1 + store::letters) * Lanes::count; i += grid.threads())
      block->columns[i] = Scores::outside;
    for (uint32_t i = grid.thread(); i < Warps + 2; i += grid.threads()) block->done[i] = 0;
    grid.sync_block();
    const uint32_t warp = grid.thread() / Lanes::threads_of_warp;
    if (warp < Warps) {
      compute<Lanes>(grid, warp, *block);
    } else if (warp == Warps) {
      receive<Lanes>(grid, channels, *block);
    } else {
      send<Lanes>(grid, channels, *block);
    }
  }

 private:
  /// What stands above the first row.
  GPUSYNC_HD handed_down above_the_matrix() const { return {-open_and_extend, no_gap}; }

  template <class Lanes>
  GPUSYNC_HD uint32_t real_chunks() const {
    return (columns + Lanes::count - 1) / Lanes::count;
  }
  /// Whether the block has rows in a pass: all have in each but the last.
  template <class Lanes, class Grid>
  GPUSYNC_HD bool works_in(uint32_t pass, const Grid& grid) const {
    return grid.block() < blocks_in(pass, rows, grid.blocks(), Lanes::count);
  }

  /// Waits until a warp of the block has done so many chunks. `Carrier`: the waiting warp is one between blocks, which
  /// leaves the multiprocessor to the others.
  GPUSYNC_API_TEMPLATE
  template <class Lanes, bool Carrier, class Grid>
  GPUSYNC_HD static uint32_t wait_for(const Grid& grid, const uint32_t* done, uint32_t chunks) {
    using memory = typename Grid::warps_of_block::memory;
    while (true) {
      const uint32_t now = memory::template load<memory_order::acquire, scope::block>(done);
      if (static_cast<int32_t>(now - chunks) >= 0) return now;
      grid.pause();
      if constexpr (Carrier) Lanes::rest();
    }
  }
  /// The warp has done so many.
  GPUSYNC_API_TEMPLATE
  template <class Lanes, class Grid>
  GPUSYNC_HD static void tell(const Grid&, uint32_t* done, uint32_t chunks) {
    using memory = typename Grid::warps_of_block::memory;
    Lanes::meet();
    if (Lanes::speaks()) memory::template store<memory_order::release, scope::block>(done, chunks);
  }

  /// Brings letters, and what stands above the block's first row. Chunks are counted on over all passes; each pass has
  /// one more than the matrix, in which the lanes behind come to their end.
  GPUSYNC_API_TEMPLATE
  template <class Lanes, class Grid, class Channels>
  GPUSYNC_HD void receive(const Grid& grid, const Channels& channels,
                          pipeline_block<Warps, Lanes::count>& block) const {
    using store = pipeline_block<Warps, Lanes::count>;
    constexpr uint32_t lanes = Lanes::count;
    const uint32_t real = real_chunks<Lanes>();
    // Channel b leads from block b to the next one, the last to the first block.
    auto in = channels.receiver(grid.block() == 0 ? grid.blocks() - 1 : grid.block() - 1, Lanes::warp_of(grid, Warps));
    uint32_t chunk = 0;  // of all passes
    for (uint32_t pass = 0; pass < passes && works_in<Lanes>(pass, grid); ++pass) {
      const bool top = pass == 0 && grid.block() == 0;
      for (uint32_t c = 0; c <= real; ++c, ++chunk) {
        uint32_t word[Lanes::here];
        handed_down row[Lanes::here];
        Lanes::each([&](uint32_t lane, uint32_t k) {
          const uint32_t column = c * lanes + lane;
          word[k] = c < real && column < columns ? Scores::column(reference[column]) : Scores::outside;
          row[k] = above_the_matrix();
        });
        if (c < real && !top) {
          Lanes::each([&](uint32_t lane, uint32_t k) { row[k] = in.get(lane); });
          in.next();
        }
        (void)wait_for<Lanes, true>(grid, &block.done[1], chunk + 1 - store::ring);  // there is room
        Lanes::each([&](uint32_t lane, uint32_t k) {
          block.rows[0][chunk % store::ring * lanes + lane] = row[k];
          const uint32_t slot = chunk % store::letters;
          block.columns[(1 + slot) * lanes + lane] = word[k];
          if (slot == store::letters - 1) block.columns[lane] = word[k];
        });
        tell<Lanes>(grid, &block.done[0], chunk + 1);
      }
    }
  }

  /// Takes what the last warp hands down to the next block.
  GPUSYNC_API_TEMPLATE
  template <class Lanes, class Grid, class Channels>
  GPUSYNC_HD void send(const Grid& grid, const Channels& channels, pipeline_block<Warps, Lanes::count>& block) const {
    using store = pipeline_block<Warps, Lanes::count>;
    constexpr uint32_t lanes = Lanes::count;
    const uint32_t real = real_chunks<Lanes>();
    auto out = channels.sender(grid.block(), Lanes::warp_of(grid, Warps + 1));
    uint32_t chunk = 0;
    for (uint32_t pass = 0; pass < passes && works_in<Lanes>(pass, grid); ++pass) {
      // To the next block, if it has rows; the last one to the first block's next pass.
      const bool sends = grid.block() + 1 < grid.blocks()
                             ? grid.block() + 1 < blocks_in(pass, rows, grid.blocks(), lanes)
                             : pass + 1 < passes;
      for (uint32_t c = 0; c <= real; ++c, ++chunk) {
        // The last lane is a chunk behind the first.
        (void)wait_for<Lanes, true>(grid, &block.done[Warps], chunk + (c < real ? 2 : 1));
        if (sends && c < real) {
          Lanes::each(
              [&](uint32_t lane, uint32_t) { out.put(lane, block.rows[Warps][chunk % store::ring * lanes + lane]); });
          out.next();
        }
        tell<Lanes>(grid, &block.done[Warps + 1], chunk + 1);
      }
    }
  }

  /// What a lane has.
  struct lane_state {
    int32_t score[Rows];             ///< H of the column before, lowered as all scores here
    int32_t gap[Rows];               ///< E of this column
    uint32_t row[Rows];              ///< words of Scores
    int32_t diagonal;                ///< the score above the first row, of the column before
    int32_t score_above, gap_above;  ///< what the lane before has handed down for this column
    uint32_t next_column;            ///< the word of the next column
    int32_t best_key, key;           ///< the least key that would not be better; the best one
    uint32_t best_column;
  };

  GPUSYNC_API_TEMPLATE
  template <class Lanes, class Grid>
  GPUSYNC_HD void compute(const Grid& grid, uint32_t warp, pipeline_block<Warps, Lanes::count>& block) const {
    using store = pipeline_block<Warps, Lanes::count>;
    constexpr uint32_t lanes = Lanes::count;
    const uint32_t real = real_chunks<Lanes>();
    lane_state state[Lanes::here];
    uint32_t handed_in = 0, handed_out = 0;  // chunks that the warps before and behind have done, as far as is known
    uint32_t chunk = 0;
    for (uint32_t pass = 0; pass < passes && works_in<Lanes>(pass, grid); ++pass) {
      const uint32_t first_lane = ((pass * grid.blocks() + grid.block()) * Warps + warp) * lanes;
      Lanes::each([&](uint32_t lane, uint32_t k) { begin(state[k], first_lane + lane); });
      for (uint32_t c = 0; c <= real; ++c, ++chunk) {
        // The row above comes from lanes that are a chunk behind, but for that of the receiver.
        const uint32_t needed = chunk + (warp == 0 || c == real ? 1 : 2);
        if (static_cast<int32_t>(handed_in - needed) < 0)
          handed_in = wait_for<Lanes, false>(grid, &block.done[warp], needed);
        // This chunk's place, and that of the one before, in which the lanes behind are.
        const uint32_t room = chunk + 1 - store::ring;
        if (static_cast<int32_t>(handed_out - room) < 0)
          handed_out = wait_for<Lanes, false>(grid, &block.done[warp + 2], room);
        Lanes::meet();
        const handed_down* const above = c < real ? &block.rows[warp][chunk % store::ring * lanes] : &block.nothing[0];
        const uint32_t* const letters = &block.columns[(1 + chunk % store::letters) * lanes];
        // The last lane is lanes - 1 columns behind.
        walk<Lanes>(state, above, letters, block.rows[warp + 1], (chunk + store::ring) * lanes - (lanes - 1),
                    c * lanes);
        tell<Lanes>(grid, &block.done[warp + 1], chunk + 1);
      }
      Lanes::each([&](uint32_t lane, uint32_t k) { end(state[k], first_lane + lane); });
    }
  }

  /// A chunk's columns: lane l those from `first_column` - l on. `out`: where the last lane's first one goes in its
  /// ring.
  GPUSYNC_API_TEMPLATE
  template <class Lanes>
  GPUSYNC_HD void walk(lane_state (&state)[Lanes::here], const handed_down* above, const uint32_t* letters,
                       handed_down* below, uint32_t out, uint32_t first_column) const {
    using store = pipeline_block<Warps, Lanes::count>;
    constexpr uint32_t lanes = Lanes::count, unrolled = lanes < 8 ? lanes : 8;
    static_assert(lanes % unrolled == 0, "chunks are whole groups of columns");
    handed_down next_above = above[0];
    Lanes::each([&](uint32_t lane, uint32_t k) { state[k].next_column = letters[-static_cast<int32_t>(lane)]; });
    GPUSYNC_UNROLL(1)
    for (uint32_t i = 0; i < lanes; i += unrolled) {
      // Columns of a group lie in two runs, for the first of them is the last of a chunk.
      handed_down* const first_below = below + (out + i) % (store::ring * lanes);
      handed_down* const rest_below = below + (out + i + unrolled) % (store::ring * lanes) - unrolled;
      const bool more = i + unrolled < lanes;
      GPUSYNC_UNROLL()
      for (uint32_t j = 0; j < unrolled; ++j) {
        const handed_down from_above = next_above;
        const bool goes_on = j + 1 < unrolled || more;
        if (goes_on) next_above = above[i + j + 1];
        Lanes::each([&](uint32_t lane, uint32_t k) {
          lane_state& one = state[k];
          const uint32_t column = one.next_column;
          if (goes_on) one.next_column = letters[static_cast<int32_t>(i + j + 1) - static_cast<int32_t>(lane)];
          const int32_t score_above = lane == 0 ? from_above.score : one.score_above;
          const int32_t gap_above = lane == 0 ? from_above.gap : one.gap_above;
          cells(one, column, score_above, gap_above, first_column + i + j - lane);
          // What this lane hands down, for the lane behind it.
          one.score_above = one.score[Rows - 1];
          if (lane == lanes - 1) (j + 1 < unrolled ? first_below : rest_below)[j] = {one.score_above, one.gap_above};
        });
        Lanes::shift([&](uint32_t k) -> int32_t& { return state[k].score_above; });
        Lanes::shift([&](uint32_t k) -> int32_t& { return state[k].gap_above; });
      }
    }
  }

  /// A lane's cells of a column. Leaves in gap_above the F that it hands down.
  GPUSYNC_HD void cells(lane_state& one, uint32_t column, int32_t score_above, int32_t gap_above,
                        uint32_t number) const {
    const typename Scores::column_scores of_column = scores.of_column(column);
    int32_t diagonal[Rows];
    diagonal[0] = scores.add(one.row[0], column, of_column, one.diagonal);
    GPUSYNC_UNROLL()
    for (uint32_t r = 1; r < Rows; ++r) diagonal[r] = scores.add(one.row[r], column, of_column, one.score[r - 1]);
    one.diagonal = score_above;
    int32_t down = gap_above;
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < Rows; ++r) {
      const int32_t by_gap = greatest_or_0(one.gap[r], down);
      const int32_t score = sum_or(by_gap, -open_and_extend, diagonal[r]);
      one.gap[r] = sum_or(one.gap[r], -extend, score);
      down = sum_or(down, -extend, diagonal[r]);
      one.score[r] = score;
    }
    one.gap_above = down;
    int32_t key[Rows];
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < Rows; ++r) key[r] = multiplied(one.score[r], sixteen, static_cast<int32_t>(15 - r));
    int32_t most = key[0];
    GPUSYNC_UNROLL()
    for (uint32_t r = 1; r + 1 < Rows; r += 2) most = greatest(most, key[r], key[r + 1]);
    if (Rows % 2 == 0) most = most > key[Rows - 1] ? most : key[Rows - 1];
    if (most > one.best_key) {
      one.best_key = most | 15;  // only a greater score is better in a later column
      one.key = most;
      one.best_column = number;
    }
  }

  GPUSYNC_HD void begin(lane_state& one, uint32_t lane) const {
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < Rows; ++r) {
      const uint64_t row = uint64_t{lane} * Rows + r;
      one.row[r] = row < rows ? scores.row(query[row]) : scores.row_outside();
      one.score[r] = -open_and_extend;
      one.gap[r] = no_gap;
    }
    one.diagonal = one.score_above = -open_and_extend;
    one.gap_above = no_gap;
    one.key = -16 * open_and_extend;
    one.best_key = one.key + 15;  // nothing that scores 0 is aligned
    one.best_column = 0;
  }

  GPUSYNC_HD void end(const lane_state& one, uint32_t lane) const {
    const uint64_t first = uint64_t{lane} * Rows;
    if (first >= rows) return;
    const int32_t place = one.key & 15;
    const int32_t score = (one.key - place) / 16 + open_and_extend;
    best[lane] = {score, static_cast<uint32_t>(first + static_cast<uint32_t>(15 - place)), one.best_column};
    if (score == 0) best[lane] = {0, 0, 0};
  }
};

}  // namespace gpusync::tool
