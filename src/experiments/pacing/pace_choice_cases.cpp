#include "experiments/pacing/pace_choice_cases.hpp"

#include <algorithm>

namespace gpusync::tool::pace_choice_experiment {

namespace {

constexpr uint64_t power(int exponent) {
  return uint64_t{1} << exponent;
}
constexpr bool of_grid = false, each_unit = true, small_l1 = true;
constexpr const char *memory = "memory-test", *vectors = "vector-add", *by_set = "scalar-product set",
                     *by_element = "scalar-product element", *row_a_warp = "sparse-product warp",
                     *row_a_thread = "sparse-product thread", *walk = "column-walk", *turned = "transpose";

// workload, blocks, of the grid or of each multiprocessor, threads, elements, length, percent, band, L1
const std::vector<loop_case> of_gpus{
    // Cells of each thread. 516 and 520 threads: warps that share lines, of 32 and of 128 bytes.
    {memory, 30, of_grid, 512, 1, 8192},
    {memory, 30, of_grid, 516, 1, 8192},
    {memory, 30, of_grid, 520, 1, 8192},
    {memory, 1, each_unit, 512, 1, 8192},
    {memory, 1, each_unit, 516, 1, 8192},
    {memory, 1, each_unit, 516, 1, 8192, 0, 0, small_l1},
    {memory, 2, each_unit, 512, 1, 8192},
    {memory, 2, each_unit, 512, 1, 8192, 0, 0, small_l1},
    {memory, 4, each_unit, 512, 1, 4096},
    {memory, 2, each_unit, 1024, 1, 4096},
    // Elements of a vector; the first as published.
    {vectors, 256, of_grid, 256, power(16), 1},
    {vectors, 256, of_grid, 256, power(18), 1},
    {vectors, 256, of_grid, 256, power(20), 1},
    {vectors, 256, of_grid, 256, power(22), 1},
    {vectors, 256, of_grid, 256, power(24), 1},
    {vectors, 256, of_grid, 256, power(26), 1},
    {vectors, 256, of_grid, 256, power(28), 1},
    {vectors, 8, each_unit, 256, power(20), 1},
    {vectors, 8, each_unit, 256, power(24), 1},
    {vectors, 8, each_unit, 256, power(28), 1},
    {vectors, 2, each_unit, 1024, power(20), 1},
    {vectors, 2, each_unit, 1024, power(24), 1},
    {vectors, 2, each_unit, 1024, power(26), 1},
    {vectors, 2, each_unit, 1024, power(28), 1},
    // Pairs and their length, which varies by so many percent.
    {by_set, 128, of_grid, 256, 4096, 32768},
    {by_set, 128, of_grid, 256, 4096, 32768, 20},
    {by_set, 8, each_unit, 256, 4096, 32768},
    {by_set, 8, each_unit, 256, 4096, 32768, 20},
    {by_set, 128, of_grid, 256, 4096, 4096},
    {by_set, 128, of_grid, 256, 4096, 4096, 20},
    {by_set, 8, each_unit, 256, 4096, 4096},
    {by_set, 8, each_unit, 256, 4096, 4096, 20},
    {by_element, 128, of_grid, 256, 4096, 32768},
    {by_element, 128, of_grid, 256, 4096, 32768, 20},
    {by_element, 8, each_unit, 256, 4096, 32768},
    {by_element, 8, each_unit, 256, 4096, 32768, 20},
    {by_element, 8, each_unit, 256, 4096, 32768, 20, 0, small_l1},
    // Rows, entries of a row, and how far these are from the diagonal; 0: anywhere.
    {row_a_warp, 2, each_unit, 256, power(21), 64, 20, 4096},
    {row_a_warp, 2, each_unit, 256, power(21), 64, 20, 0},
    {row_a_warp, 8, each_unit, 256, power(21), 64, 20, 4096},
    {row_a_warp, 8, each_unit, 256, power(21), 64, 20, 4096, small_l1},
    {row_a_warp, 8, each_unit, 256, power(21), 64, 20, 65536},
    {row_a_warp, 8, each_unit, 256, power(21), 64, 20, 0},
    {row_a_thread, 2, each_unit, 256, power(21), 64, 20, 4096},
    {row_a_thread, 2, each_unit, 256, power(21), 64, 20, 0},
    {row_a_thread, 8, each_unit, 256, power(21), 64, 20, 4096},
    {row_a_thread, 8, each_unit, 256, power(21), 64, 20, 4096, small_l1},
    {row_a_thread, 8, each_unit, 256, power(21), 64, 20, 0},
    // Rows and columns.
    {walk, 2, each_unit, 1024, 16384, 32768},
    {walk, 2, each_unit, 1024, 16384, 32768, 0, 0, small_l1},
    {walk, 8, each_unit, 256, 16384, 32768},
    {walk, 8, each_unit, 256, 16384, 32768, 0, 0, small_l1},
    {walk, 1, each_unit, 1024, 16384, 32768},
    {walk, 1, each_unit, 1024, 16384, 32768, 0, 0, small_l1},
    {walk, 4, each_unit, 512, 16384, 32768},
    {walk, 4, each_unit, 512, 16384, 32768, 0, 0, small_l1},
    {walk, 2, each_unit, 1024, 16384, 8192},
    // Rows of the square, and those that a block takes; a block for each part of a warp's columns.
    {turned, 32768, of_grid, 256, 8192, 64},
    {turned, 8192, of_grid, 256, 8192, 256},
    {turned, 8192, of_grid, 256, 8192, 256, 0, 0, small_l1},
    {turned, 1024, of_grid, 256, 8192, 2048},
    {turned, 1024, of_grid, 256, 8192, 2048, 0, 0, small_l1},
    {turned, 256, of_grid, 1024, 8192, 8192},
    {turned, 2048, of_grid, 256, 4096, 256},
    {turned, 256, of_grid, 256, 4096, 2048},
    {turned, 2048, of_grid, 256, 16384, 4096},
};

const std::vector<loop_case> of_threads{
    {memory, 2, of_grid, 2, 1, 4096},          {vectors, 2, of_grid, 2, power(14), 1},
    {by_set, 2, of_grid, 2, 8, 8192, 20},      {by_element, 2, of_grid, 2, 8, 8192, 20},
    {row_a_warp, 2, of_grid, 2, 2048, 16, 20}, {row_a_thread, 2, of_grid, 2, 2048, 16, 20, 64},
    {walk, 2, of_grid, 2, 64, 4096},           {turned, 2, of_grid, 2, 256, 64},
};

}  // namespace

paced_problem loop_case::problem(const device_description& device) const {
  const auto units = static_cast<uint32_t>(std::max(1, device.compute_units));
  paced_problem made;
  made.shape.blocks = each_unit ? blocks * units : blocks;
  made.shape.threads = threads;
  made.elements = elements;
  made.length = length;
  made.percent = percent;
  made.band = band;
  made.small_l1 = small_l1;
  return made;
}

const std::vector<loop_case>& loop_cases(device_kind kind) {
  return kind == device_kind::cuda ? of_gpus : of_threads;
}

}  // namespace gpusync::tool::pace_choice_experiment
