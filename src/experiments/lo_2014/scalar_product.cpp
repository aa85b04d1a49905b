// Experiment scalar-product: pairs of vectors, of one length and of lengths that vary by a fifth (Lo et al. 2014,
// algorithm 3, figures 7 and 8, table 4).
#include "experiments/lo_2014/paced_rows.hpp"
#include "harness/shapes.hpp"

namespace gpusync::tool::scalar_product_experiment {

namespace {

constexpr const char *name = "scalar-product", *by_set = "scalar-product set", *by_element = "scalar-product element";

/// How lengths vary.
struct vector_kind {
  const char* word;
  uint32_t percent;
};
constexpr vector_kind kinds[] = {{"regular", 0}, {"irregular", 20}};

/// Where the barrier stands.
struct barrier_place {
  const char *word, *text;
};
constexpr barrier_place places[] = {{"set", by_set}, {"element", by_element}};

std::vector<std::string> default_shapes(const experiment_request& request) {
  if (!is_gpu(request)) return {host_shape(request)};
  if (request.quick) return {"128x256"};
  return {"128x256", shape_of_units(request, 8, 256)};
}

std::vector<uint32_t> default_lengths(const experiment_request& request) {
  if (!is_gpu(request)) return {8192};
  if (request.quick) return {32768};
  return {2048, 8192, 32768};
}

std::vector<std::string> default_places(const experiment_request& request) {
  if (request.device.kind == device_kind::opencl) return {"set"};
  return {"set", "element"};
}

std::vector<paced_case> cases_of(const experiment_request& request) {
  std::vector<paced_case> all;
  const std::vector<int64_t> lengths = chosen_numbers(request, "length", default_lengths(request));
  const std::vector<int64_t> counts = chosen_numbers(request, "vectors", {is_gpu(request) ? 4096u : 8u});
  for (const bool small : chosen_l1(request, false)) {
    for (const step_shape& shape : shapes_or(request, default_shapes(request))) {
      for (const vector_kind& kind : chosen_of(request, "kind", kinds, &vector_kind::word)) {
        for (const barrier_place& place :
             chosen_of(request, "place", places, &barrier_place::word, default_places(request))) {
          for (const int64_t vectors : counts) {
            for (const int64_t length : lengths) {
              paced_case& one = all.emplace_back();
              one.text = place.text;
              one.problem.shape = shape;
              one.problem.elements = static_cast<uint64_t>(vectors);
              one.problem.length = static_cast<uint64_t>(length);
              one.problem.percent = kind.percent;
              one.problem.small_l1 = small;
              one.axes = {{"shape", to_word(shape)},
                          {"kind", std::string(kind.word)},
                          {"place", std::string(place.word)},
                          {"vectors", vectors},
                          {"length", length},
                          {"l1", std::string(l1_word(small))}};
            }
          }
        }
      }
    }
  }
  return all;
}

const paced_experiment what{name, {"L10", "L11"}, {"L12", "L6"}, {"L5"}, cases_of};

const register_experiment registered({
    name,
    "whether a barrier in the loop speeds up scalar products, of vectors of one length and of several",
    {"L5", "L6", "L10", "L11", "L12"},
    {device_kind::cuda, device_kind::opencl, device_kind::host},
    paced_axes({{"kind", "regular, or irregular: lengths vary by 20 %", 0, 0, true, "regular,irregular"},
                {"place", "where the barrier stands: set, behind each partial sum, as in the paper, or element", 0, 0,
                 true, "set,element; on OpenCL set"},
                {"vectors", "pairs of vectors", 1, 1 << 24, false, "4096; elsewhere 8"},
                {"length", "elements of a vector, the mean", 1, 1 << 20, false,
                 "2048,8192,32768; with --quick 32768; elsewhere 8192"}},
               "128x256, and 8 blocks of 256 threads for each multiprocessor"),
    [](const experiment_request& request, const experiment_sink& sink) { run_paced(what, request, sink); },
    check_paced(cases_of, {by_set, by_element}),
    case_time{18, 3},
    paced_answer,
});

}  // namespace

}  // namespace gpusync::tool::scalar_product_experiment
