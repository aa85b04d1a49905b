// One comparison of experiment alignment: all placements of artificial barriers under all methods, the list of matches,
// and mummer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/lo_2014/alignment_input.hpp"
#include "experiments/lo_2014/mummer_rows.hpp"
#include "workloads/maximal_matches/match_device.hpp"

namespace gpusync::tool::alignment_experiment {

/// In results.
inline constexpr const char *experiment_name = "alignment", *mummer_name = "mummer", *list_name = "all-matches",
                            *rate_name = "reads_per_second";

/// Ways to look for a suffix.
struct method_word {
  const char* word;
  match_method method;
};

/// What axis method takes on this machine.
std::vector<std::string> method_names_here();
/// Those ways that it names. Throws usage_error.
std::vector<method_word> methods_of(const experiment_request& request);
/// The placements that the user named, and what their gain is measured against. Throws usage_error.
std::vector<barrier_placement> placements_of(const experiment_request& request);

/// A method on the device, and what its runs must find.
struct prepared_search {
  method_word method;
  std::shared_ptr<match_workload> workload;
};

/// What cases have in common that look for matches of the same least length.
struct prepared_queries {
  match_batch batch;
  std::vector<prepared_search> searches;
  std::vector<mummer_times> mummer;  ///< empty: it was not asked
};

/// What several cases have in common.
struct prepared_input {
  std::vector<sequence> references, queries;
  reference_index index;
  double index_ms = 0;
  std::unique_ptr<prepared_queries> batch;  ///< of the last case; uses the index
};

/// Makes the sequences of an input and the index of its references.
prepared_input prepare_input(const alignment_input& input, node_order order);

/// Measures one case and hands its rows over. Throws run_interrupted.
void measure_case(const alignment_input& input, const alignment_case& one, prepared_input& prepared,
                  match_device& device, const experiment_request& request, const experiment_sink& sink,
                  const std::function<void(double, const std::string&)>& progress);

}  // namespace gpusync::tool::alignment_experiment
