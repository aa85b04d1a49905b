// Experiment sparse-product: a sparse matrix times a vector, Lo et al.'s (2014) example of irregular vectors.
#include "experiments/lo_2014/paced_rows.hpp"
#include "harness/shapes.hpp"

namespace gpusync::tool::sparse_product_experiment {

namespace {

constexpr const char *name = "sparse-product", *by_warp = "sparse-product warp", *by_thread = "sparse-product thread";

/// Who takes a row.
struct row_owner {
  const char *word, *text;
};
constexpr row_owner owners[] = {{"warp", by_warp}, {"thread", by_thread}};

std::vector<std::string> default_shapes(const experiment_request& request) {
  if (!is_gpu(request)) return {host_shape(request)};
  if (request.quick) return {shape_of_units(request, 8, 256)};
  return {shape_of_units(request, 2, 256), shape_of_units(request, 8, 256)};
}

std::vector<paced_case> cases_of(const experiment_request& request) {
  std::vector<paced_case> all;
  const std::vector<int64_t> rows = chosen_numbers(request, "rows", {is_gpu(request) ? 1u << 21 : 1u << 11});
  const std::vector<int64_t> bands =
      chosen_numbers(request, "band", is_gpu(request) ? std::vector<uint32_t>{0, 4096} : std::vector<uint32_t>{0, 64});
  for (const bool small : chosen_l1(request, false)) {
    for (const step_shape& shape : shapes_or(request, default_shapes(request))) {
      for (const row_owner& owner : chosen_of(request, "row", owners, &row_owner::word)) {
        for (const int64_t count : rows) {
          for (const int64_t entries : chosen_numbers(request, "entries", {64})) {
            for (const int64_t band : bands) {
              paced_case& one = all.emplace_back();
              one.text = owner.text;
              one.problem.shape = shape;
              one.problem.elements = static_cast<uint64_t>(count);
              one.problem.length = static_cast<uint64_t>(entries);
              one.problem.percent = 20;
              one.problem.band = static_cast<uint64_t>(band);
              one.problem.small_l1 = small;
              one.axes = {{"shape", to_word(shape)},
                          {"row", std::string(owner.word)},
                          {"rows", count},
                          {"entries", entries},
                          {"band", band},
                          {"l1", std::string(l1_word(small))}};
            }
          }
        }
      }
    }
  }
  return all;
}

const paced_experiment what{name, {"L11"}, {"L6"}, {"L5"}, cases_of};

const register_experiment registered({
    name,
    "whether pacing speeds up a sparse matrix times a vector, a row a warp and a row a thread",
    {"L5", "L6", "L11"},
    {device_kind::cuda, device_kind::host},
    paced_axes({{"row", "who takes a row: warp or thread", 0, 0, true, "warp,thread"},
                {"rows", "of the square matrix", 1, int64_t{1} << 26, false, "2^21; on the host 2^11"},
                {"entries", "of a row, the mean; they vary by 20 %", 1, 65536, false, "64"},
                {"band", "how far from the diagonal entries lie at most; 0: anywhere", 0, int64_t{1} << 26, false,
                 "0,4096; on the host 0,64"}},
               "2 and 8 blocks of 256 threads for each multiprocessor"),
    [](const experiment_request& request, const experiment_sink& sink) { run_paced(what, request, sink); },
    check_paced(cases_of, {by_warp, by_thread}),
    case_time{18, 3},
    paced_answer,
});

}  // namespace

}  // namespace gpusync::tool::sparse_product_experiment
