// Texts "sparse-product": a sparse matrix in compressed rows times a vector, which is Lo et al.'s (2014) example of
// vectors of unlike lengths. C++17: CUDA sources include it.
#pragma once

#include "workloads/paced/scalar_product.hpp"

namespace gpusync::tool {

/// What both texts have in common: `elements` rows of about `length` entries, square.
class sparse_product_text {
 public:
  struct shared {};

  static paced_arrays arrays(const paced_problem& problem) {
    const uint64_t entries = jittered_rows(problem.length, problem.percent).elements(problem.elements);
    const uint64_t chunks = (problem.elements + problem.shape.threads - 1) / problem.shape.threads;
    return {{problem.elements + 1, entries, entries, problem.elements, chunks, problem.elements}, 6};
  }
  uint64_t bytes() const { return (2 * rows_.mean + 3) * count_ * sizeof(uint32_t); }

  GPUSYNC_HD uint32_t word(uint32_t array, uint64_t i) const {
    switch (array) {
      case 0: return static_cast<uint32_t>(rows_.begin(i));
      case 1: return column(row_of(i), i);
      case 2: return word_of(static_cast<float>(entry(i)));
      case 3: return word_of(static_cast<float>(element(i)));
      default: return longest_of(i);
    }
  }
  GPUSYNC_HD uint32_t expected(uint64_t row) const {
    uint32_t sum = 0;
    for (uint64_t i = rows_.begin(row); i < rows_.begin(row + 1); ++i) sum += entry(i) * element(column(row, i));
    return word_of(static_cast<float>(sum));
  }

 protected:
  sparse_product_text(const paced_problem& problem, uint32_t* const* arrays)
      : offsets_(arrays[0]),
        columns_(arrays[1]),
        entries_(reinterpret_cast<const float*>(arrays[2])),
        vector_(reinterpret_cast<const float*>(arrays[3])),
        longest_(arrays[4]),
        product_(reinterpret_cast<float*>(arrays[5])),
        count_(problem.elements),
        band_(problem.band),
        rows_(problem.length, problem.percent),
        threads_(problem.shape.threads) {
    if (problem.length == 0 || problem.length > 65536 || problem.percent > 50 || problem.elements == 0) {
      throw invalid_argument("A matrix has rows of 1 to 65,536 entries, which vary by at most 50 %.");
    }
    if (rows_.elements(count_) > UINT32_MAX) {
      throw invalid_argument("Matrices of more than 2^32 entries are not numbered here.");
    }
  }

  GPUSYNC_HD static uint32_t entry(uint64_t i) { return mixed(5 * i + 2) % 4; }
  GPUSYNC_HD static uint32_t element(uint64_t i) { return mixed(7 * i + 3) % 8; }
  GPUSYNC_HD uint32_t column(uint64_t row, uint64_t i) const {
    const uint64_t chance = mixed(11 * i + 1);
    if (band_ == 0 || 2 * band_ >= count_) return static_cast<uint32_t>(chance % count_);
    return static_cast<uint32_t>((row + count_ - band_ + chance % (2 * band_)) % count_);
  }
  /// The row that entry i belongs to: about i over the mean.
  GPUSYNC_HD uint64_t row_of(uint64_t i) const {
    uint64_t row = i / rows_.mean;
    if (row > count_) row = count_;
    while (row != 0 && rows_.begin(row) > i) --row;
    while (row + 1 < count_ && rows_.begin(row + 1) <= i) ++row;
    return row;
  }
  /// The most entries of a row among those that a block takes at a time, a row a thread.
  GPUSYNC_HD uint32_t longest_of(uint64_t chunk) const {
    uint64_t longest = 0;
    for (uint64_t row = chunk * threads_; row < (chunk + 1) * threads_ && row < count_; ++row) {
      longest = rows_.length(row) > longest ? rows_.length(row) : longest;
    }
    return static_cast<uint32_t>(longest);
  }

  const uint32_t *offsets_, *columns_;
  const float *entries_, *vector_;
  const uint32_t* longest_;
  float* product_;
  uint64_t count_, band_;
  jittered_rows rows_;
  uint64_t threads_;
};

/// The sum over a warp's threads, in its first one; on the host a warp is a thread.
GPUSYNC_API_TEMPLATE
template <class Grid>
GPUSYNC_HD float warp_total(float value) {
#if defined(__CUDA_ARCH__)
  for (uint32_t step = Grid::warp_size / 2; step != 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
#endif
  return value;
}

/// A row a warp: a block takes 32 rows for each of its warps at a time, neighbours together.
class row_a_warp_text : public sparse_product_text {
 public:
  using variants = paced_variants<1, intervals<1, 8>, intervals<1, 8>, intervals<1, 8>>;
  row_a_warp_text(const paced_problem& problem, uint32_t* const* arrays) : sparse_product_text(problem, arrays) {
    require_whole_warps(problem.shape, problem.warp_size);
  }
  uint64_t trips() const { return rows_at_a_time; }

  GPUSYNC_API_TEMPLATE
  template <uint32_t Every, class Grid, class Pace, class Watch>
  GPUSYNC_HD void run(Grid grid, Pace& pace, shared&, Watch& watch) const {
    const typename Grid::warps_of_block warps;
    const uint64_t rows = uint64_t{rows_at_a_time} * warps.blocks();
    for (uint64_t first = grid.block() * rows; first < count_; first += grid.blocks() * rows) {
      uint64_t row = first + warps.block();
      in_epochs<Every, 1, 1>(grid, rows_at_a_time, pace, watch, [&] {
        float sum = 0;
        if (row < count_) {
          const uint32_t end = offsets_[row + 1];
          GPUSYNC_UNROLL(2)
          for (uint32_t i = offsets_[row] + warps.thread(); i < end; i += warps.threads()) {
            sum += entries_[i] * vector_[columns_[i]];
          }
          sum = warp_total<Grid>(sum);
          if (warps.thread() == 0) product_[row] = sum;
        }
        row += warps.blocks();
        return sum;
      });
    }
  }

 private:
  static constexpr uint32_t rows_at_a_time = 32;
};

/// A row a thread. Paced or instrumented, all threads of a block go through as many iterations as its longest row has
/// entries.
class row_a_thread_text : public sparse_product_text {
 public:
  using variants = paced_variants<1, intervals<1, 8>, intervals<1, 8>, intervals<1, 8>>;
  row_a_thread_text(const paced_problem& problem, uint32_t* const* arrays) : sparse_product_text(problem, arrays) {}
  uint64_t trips() const { return rows_.mean; }

  GPUSYNC_API_TEMPLATE
  template <uint32_t Every, class Grid, class Pace, class Watch>
  GPUSYNC_HD void run(Grid grid, Pace& pace, shared&, Watch& watch) const {
    const uint64_t chunks = (count_ + grid.threads() - 1) / grid.threads();
    for (uint64_t chunk = grid.block(); chunk < chunks; chunk += grid.blocks()) {
      const uint64_t row = chunk * grid.threads() + grid.thread();
      uint32_t i = row < count_ ? offsets_[row] : 0;
      const uint32_t end = row < count_ ? offsets_[row + 1] : 0;
      float sum = 0;
      if constexpr (is_plain<Pace> && std::is_same_v<Watch, no_watch>) {
        GPUSYNC_UNROLL(2)
        for (; i < end; ++i) sum += entries_[i] * vector_[columns_[i]];
      } else {
        in_epochs<Every, 1>(grid, longest_[chunk], pace, watch, [&] {
          if (i < end) {
            sum += entries_[i] * vector_[columns_[i]];
            ++i;
          }
          return sum;
        });
      }
      if (row < count_) product_[row] = sum;
    }
  }
};

}  // namespace gpusync::tool
