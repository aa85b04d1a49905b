// Experiment alignment: the suffix-tree alignment of Lo et al. 2014 with artificial barriers (items L13 to L18),
// a suffix array beside it, and mummer; and matches of the user's own sequences.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "experiments/lo_2014/alignment_case.hpp"
#include "harness/answers.hpp"
#include "harness/memory_room.hpp"
#include "harness/published.hpp"
#include "measure/interruption.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool::alignment_experiment {

namespace {

std::string label(const experiment_request& request, const std::vector<alignment_input>& inputs,
                  const alignment_case& one) {
  const alignment_input& input = inputs[one.input];
  const std::string genome = input.genome.empty() ? "" : fmt::format(" ({})", input.genome);
  return fmt::format("{} {}{}, {}, matches of {}, {} order, {} threads", request.device.id, input.reference, genome,
                     input.query, one.least, word_of(one.order), one.threads);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<match_device>(request.device);
  const std::vector<alignment_input> inputs = inputs_of(request);
  std::optional<std::pair<size_t, node_order>> prepared_for;
  prepared_input prepared;
  const auto label_of = [&](const alignment_case& one) { return label(request, inputs, one); };
  for_each_case(cases_of(request, inputs), sink, label_of, [&](const alignment_case& one, const auto& progress) {
    const alignment_input& input = inputs[one.input];
    const std::function<void(double, const std::string&)> tell = progress;
    if (prepared_for != std::pair(one.input, one.order)) {
      tell(0, "reference indexed");
      prepared_for.reset();
      prepared = {};  // before the next takes memory
      prepared = prepare_input(input, one.order);
      prepared_for = {one.input, one.order};
    }
    try {
      measure_case(input, one, prepared, *device, request, sink, tell);
    } catch (const run_interrupted&) {  // there are no rows of it
    }
  });
  const bool from_files = !inputs.front().is_benchmark;
  if (!from_files && !sink.interrupted()) add_all(joined(published_rows(paper::lo_2014, experiment_name)), sink);
}

void check(const experiment_request& request) {
  (void)methods_of(request);
  (void)placements_of(request);
  const auto device = open_side<match_device>(request.device);
  const std::vector<alignment_input> inputs = inputs_of(request);
  const std::vector<alignment_case> cases = cases_of(request, inputs);
  if (request.wants_matches && cases.size() != 1) {
    throw usage_error(fmt::format("--matches is for one list of matches, and these axes make {}: name one value each.",
                                  cases.size()));
  }
  if (request.wants_matches && methods_of(request).empty()) {
    throw usage_error("--matches is of what suffix-tree or suffix-array finds: name one of them on axis method.");
  }
  for (const alignment_case& one : cases) {
    match_size size = inputs[one.input].size;
    size.records = size.bases;  // fewer, by how long matches are
    try {
      require_numbered(size);
      if (size.reference > longest_text) throw invalid_argument("References have up to 2^31 bases.");
    } catch (const invalid_argument& refusal) {
      throw usage_error(refusal.what());
    }
    const uint64_t ways = std::max<size_t>(1, methods_of(request).size());
    require_memory({fmt::format("Aligning {} with {}", inputs[one.input].query, inputs[one.input].reference),
                    "use fewer reads or a smaller scale", ways * bytes_of_matching(size), device->memory(),
                    largest_buffer_of_matching(size), device->largest_buffer(),
                    bytes_of_index(size.reference) + size.bases * 4 + ways * size.records * 2 * sizeof(match_record)},
                   request);
  }
}

std::string answer(const measured_rows& measured) {
  const row *fastest = nullptr, *gained = nullptr;
  bool has_barriers = false;
  for (const row* entry : measured.rows) {
    if (entry->method == mummer_name || entry->method == list_name || !value_of(*entry, rate_name)) continue;
    if (fastest == nullptr || *value_of(*entry, rate_name) > *value_of(*fastest, rate_name)) fastest = entry;
    const metric* const rho = entry->find_metric("rho");
    has_barriers = has_barriers || rho != nullptr;
    const bool gains = rho != nullptr && rho->bounds && rho->bounds->low > 0;
    if (gains && (gained == nullptr || *rho->value > *value_of(*gained, "rho"))) gained = entry;
  }
  if (fastest == nullptr) return "";
  std::string head =
      fmt::format("{}: {} million reads a second", fastest->method, figure(*value_of(*fastest, rate_name)));
  if (const auto over = value_of(*fastest, "over_mummer")) head += fmt::format(", {} mummer", ratio(*over));
  const std::string barriers = gained == nullptr
                                   ? "no artificial barrier gains for certain"
                                   : fmt::format("{} gains {} %", gained->method, figure(*value_of(*gained, "rho")));
  return answer_in(measured, {head + "; " + barriers, head}, nullptr);
}

std::vector<axis> axes() {
  std::vector<axis> all = input_axes();
  std::vector<std::string> placements;
  for (const barrier_placement& one : barrier_placements) placements.emplace_back(one.name);
  all.push_back({"placement",
                 "artificial barriers: 1 behind every edge, 2 behind every suffix, both; control-…: a fence for the "
                 "compiler in their place",
                 0, 0, true, "all; those that a gain is measured against come along"});
  all.push_back(
      {"order", "numbers of the tree's nodes: breadth, its first levels together, or depth", 0, 0, true, "breadth"});
  all.push_back({"threads",
                 "threads (work-items) in a block; on the host in one of as many blocks as there is room for", 1, 1024,
                 false, "256 on CUDA, 64 on OpenCL, 1 on the host"});
  all.push_back({"method", "suffix-tree, suffix-array, and mummer where it is installed", 0, 0, true, "all"});
  return all;
}

const register_experiment registered({
    experiment_name,
    "reads against a genome by its suffix tree: do artificial barriers pay, and how far is mummer?",
    {"L13", "L14", "L15", "L16", "L17", "L18"},
    {device_kind::cuda, device_kind::opencl, device_kind::host},
    axes(),
    run,
    {check, [](const device_description&) { return method_names_here(); }},
    case_time{120, 20},
    answer,
    true,
});

}  // namespace

}  // namespace gpusync::tool::alignment_experiment
