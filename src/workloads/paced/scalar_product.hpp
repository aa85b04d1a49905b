// Texts "scalar-product": scalar products of pairs of vectors, one pair a block (Lo et al. 2014, algorithm 3). C++17:
// CUDA sources include it.
#pragma once

#include "workloads/paced/paced_text.hpp"

namespace gpusync::tool {

/// Partial sums of a pair; a thread has several of them, as in CUDA's sample.
inline constexpr uint32_t partial_sums = 1024;

/// Offsets of rows whose lengths vary about a mean: row i begins at a jittered multiple of it, so that lengths lie from
/// the mean less `percent` to the mean and `percent`, whatever the number of rows.
struct jittered_rows {
  uint64_t mean, spread;

  jittered_rows(uint64_t length, uint32_t percent) : mean(length), spread(length * percent / 100) {}

  GPUSYNC_HD uint64_t begin(uint64_t row) const {
    return row * mean + (spread == 0 ? 0 : mixed(row * 7 + 5) % (spread + 1));
  }
  GPUSYNC_HD uint64_t length(uint64_t row) const { return begin(row + 1) - begin(row); }
  uint64_t elements(uint64_t rows) const { return rows * mean + spread; }
};

/// `elements` pairs of vectors of about `length` elements. ByElement: the barrier stands behind each element that a
/// thread multiplies, and not, as in the paper, behind each partial sum.
template <bool ByElement>
class scalar_product_text {
 public:
  using variants = std::conditional_t<ByElement, paced_variants<1, intervals<1, 4, 16>, intervals<1, 4>, intervals<1>>,
                                      paced_variants<1, intervals<1>, intervals<1>, intervals<1>>>;
  struct shared {
    float partial[partial_sums];
  };

  scalar_product_text(const paced_problem& problem, uint32_t* const* arrays)
      : first_(reinterpret_cast<const float*>(arrays[0])),
        second_(reinterpret_cast<const float*>(arrays[1])),
        offsets_(arrays[2]),
        product_(reinterpret_cast<float*>(arrays[3])),
        vectors_(problem.elements),
        rows_(problem.length, problem.percent),
        threads_(problem.shape.threads) {
    if (problem.length == 0 || problem.length > most_length || problem.percent > 50) {
      throw invalid_argument(
          "Vectors have 1 to 1,048,576 elements, or their sums would not be exact, and vary by at "
          "most 50 %.");
    }
    if (rows_.elements(vectors_) > UINT32_MAX) {
      throw invalid_argument("Vectors of more than 2^32 elements in all are not numbered here.");
    }
  }

  static paced_arrays arrays(const paced_problem& problem) {
    const uint64_t all = jittered_rows(problem.length, problem.percent).elements(problem.elements);
    return {{all, all, problem.elements + 1, problem.elements}, 4};
  }
  uint64_t trips() const { return ByElement ? rows_.mean / partial_sums : (partial_sums + threads_ - 1) / threads_; }
  uint64_t bytes() const { return (2 * rows_.mean * vectors_ + 2 * vectors_) * sizeof(float); }

  GPUSYNC_HD static uint32_t value(uint32_t array, uint64_t i) { return mixed(3 * i + array + 1) % 4; }
  GPUSYNC_HD uint32_t word(uint32_t array, uint64_t i) const {
    return array == 2 ? static_cast<uint32_t>(rows_.begin(i)) : word_of(static_cast<float>(value(array, i)));
  }
  GPUSYNC_HD uint32_t expected(uint64_t vector) const {
    uint32_t sum = 0;
    for (uint64_t i = rows_.begin(vector); i < rows_.begin(vector + 1); ++i) sum += value(0, i) * value(1, i);
    return word_of(static_cast<float>(sum));
  }

  GPUSYNC_API_TEMPLATE
  template <uint32_t Every, class Grid, class Pace, class Watch>
  GPUSYNC_HD void run(Grid grid, Pace& pace, shared& memory, Watch& watch) const {
    const uint32_t threads = grid.threads(), thread = grid.thread();
    for (uint64_t vector = grid.block(); vector < vectors_; vector += grid.blocks()) {
      const uint64_t begin = offsets_[vector], end = offsets_[vector + 1];
      if constexpr (ByElement) {
        for (uint32_t place = thread; place - thread < partial_sums; place += threads) {
          const bool mine = place < partial_sums;
          uint64_t i = begin + place;
          float sum = 0;
          in_epochs<Every, Every>(grid, (end - begin) / partial_sums, pace, watch, [&] {
            if (mine) sum += first_[i] * second_[i];
            i += partial_sums;
            return sum;
          });
          if (mine && i < end) sum += first_[i] * second_[i];
          if (mine) memory.partial[place] = sum;
        }
      } else {
        static_assert(Every == 1, "a partial sum is written behind its visit");
        uint32_t place = thread;
        float sum = 0;
        in_epochs<1, 1, 1>(
            grid, (partial_sums + threads - 1) / threads, pace, watch,
            [&] {
              sum = 0;
              for (uint64_t i = begin + place; place < partial_sums && i < end; i += partial_sums) {
                sum += first_[i] * second_[i];
              }
              return sum;
            },
            [&] {
              if (place < partial_sums) memory.partial[place] = sum;
              place += threads;
            });
      }
      watch.start(grid);
      add_up(grid, memory);
      if (thread == 0) product_[vector] = memory.partial[0];
      grid.sync_block();  // the next pair's sums go to the same places
      watch.template lap<in_tree>(grid, 0);
    }
  }

 private:
  static constexpr uint64_t most_length = 1u << 20;  ///< 1.5 times as many products of up to 9 are exact in a float

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static void add_up(Grid grid, shared& memory) {
    for (uint32_t half = partial_sums / 2; half != 0; half /= 2) {
      grid.sync_block();
      for (uint32_t i = grid.thread(); i < half; i += grid.threads()) memory.partial[i] += memory.partial[i + half];
    }
  }

  const float *first_, *second_;
  const uint32_t* offsets_;
  float* product_;
  uint64_t vectors_;
  jittered_rows rows_;
  uint64_t threads_;
};

}  // namespace gpusync::tool
