// What experiment alignment aligns: reads of generated references like those of table 5, or the user's files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/experiment.hpp"
#include "workloads/maximal_matches/generated.hpp"
#include "workloads/maximal_matches/match_batch.hpp"

namespace gpusync::tool::alignment_experiment {

/// What rows call a genome that no file has, but a generator.
inline constexpr const char* made_genome = "made";

/// Queries and a reference. Sequences are made, or copied, when their turn has come.
struct alignment_input {
  std::string reference, query;  ///< as rows name them
  std::string genome;            ///< of a benchmark: made_genome, or the files that stand for it
  match_size size;               ///< with the records of `usual_least`
  uint32_t usual_least = 20;     ///< letters of a match, if the user says nothing
  bool is_benchmark = false;
  std::function<std::vector<sequence>()> references;
  std::function<std::vector<sequence>(const std::vector<sequence>& references)> queries;
};

/// One combination of axes, and so one comparison.
struct alignment_case {
  size_t input;
  uint32_t least;
  node_order order;
  uint32_t threads;
};

/// The inputs of a request. Throws usage_error for axes that do not go together, and as read_sequence_files() does.
std::vector<alignment_input> inputs_of(const experiment_request& request);

/// The cases of these inputs.
std::vector<alignment_case> cases_of(const experiment_request& request, const std::vector<alignment_input>& inputs);

/// "breadth" or "depth".
const char* word_of(node_order order);

/// The axes that say what is aligned.
std::vector<axis> input_axes();

}  // namespace gpusync::tool::alignment_experiment
