#include "experiments/lo_2014/alignment_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/choices.hpp"
#include "harness/sequence_files.hpp"
#include "harness/shapes.hpp"
#include "usage_error.hpp"

namespace gpusync::tool::alignment_experiment {

namespace {

constexpr node_order orders[] = {node_order::breadth, node_order::depth};

constexpr uint32_t least_by_default = 20;

/// Of a generated reference, in thousandths of its genome, and the most reads if the user names no number.
constexpr int64_t scale_by_default(bool gpu, bool quick) {
  return gpu ? (quick ? 100 : 1000) : (quick ? 5 : 20);
}
constexpr int64_t most_reads_by_default(bool gpu, bool quick) {
  return gpu ? (quick ? 100'000 : 1'000'000) : (quick ? 500 : 5000);
}

std::vector<sequence> all_of(const std::vector<sequence_file>& files) {
  std::vector<sequence> all;
  for (const sequence_file& file : files) all.insert(all.end(), file.sequences->begin(), file.sequences->end());
  return all;
}

std::string names_of(const std::vector<sequence_file>& files) {
  std::vector<std::string> paths;
  for (const sequence_file& file : files) paths.push_back(file.path);
  return on_axis(paths);
}

alignment_input input_of_files(const experiment_request& request) {
  if (has_chosen(request, "scale")) {
    throw usage_error("Axis scale is for generated references: leave it out, or reference.");
  }
  const std::vector<sequence_file> references = read_sequence_files(request, "reference");
  alignment_input input;
  input.reference = names_of(references);
  input.references = [references] { return all_of(references); };
  for (const sequence_file& file : references) {
    for (const sequence& one : *file.sequences) input.size.reference += one.bases.size() + 1;
  }
  if (!has_chosen(request, "query")) return input;
  for (const char* simulated : {"reads", "read-bases", "changed", "benchmark"}) {
    if (!has_chosen(request, simulated)) continue;
    throw usage_error(fmt::format("Axis {} is for simulated reads: leave it out, or query.", simulated));
  }
  const std::vector<sequence_file> queries = read_sequence_files(request, "query");
  input.query = names_of(queries);
  input.queries = [queries](const std::vector<sequence>&) { return all_of(queries); };
  for (const sequence_file& file : queries) {
    for (const sequence& one : *file.sequences) input.size.add(one.bases.size(), least_by_default);
  }
  return input;
}

/// As axis benchmark names them.
std::vector<read_benchmark> chosen_benchmarks(const experiment_request& request) {
  return chosen_of(request, "benchmark", read_benchmarks, &read_benchmark::name);
}

/// Seeds differ from benchmark to benchmark.
uint32_t seed_of(const read_benchmark& benchmark) {
  uint32_t seed = 0;
  for (const char* letter = benchmark.name; *letter != 0; ++letter) seed = seed * 31 + static_cast<uint32_t>(*letter);
  return seed;
}

uint32_t most_reads_of(const experiment_request& request, const read_benchmark& benchmark) {
  const bool gpu = request.device.kind == device_kind::cuda;
  return static_cast<uint32_t>(std::min<int64_t>(benchmark.reads, most_reads_by_default(gpu, request.quick)));
}

/// Completes an input by simulated reads.
void add_reads(const experiment_request& request, uint32_t bases, uint32_t most, uint32_t seed,
               alignment_input& input) {
  const auto reads = static_cast<uint32_t>(chosen_number(request, "reads", most));
  const auto length = static_cast<uint32_t>(chosen_number(request, "read-bases", bases));
  const auto changed = static_cast<uint32_t>(chosen_number(request, "changed", 0));
  if (length + 2 > input.size.reference) {
    throw usage_error(fmt::format("Reads of {} bases cannot be from {}, which has {}.", length, input.reference,
                                  input.size.reference - 1));
  }
  input.query = fmt::format("{} reads of {}", reads, length);
  if (changed > 0) input.query += fmt::format(", {} in 1000 changed", changed);
  input.size.queries = reads;
  input.size.bases = uint64_t{reads} * length;
  input.queries = [=](const std::vector<sequence>& references) {
    return generated_reads(references, reads, length, changed, seed);
  };
}

/// A benchmark with its settings, and the user's files in the place of its genome.
alignment_input with_settings_of(const experiment_request& request, const read_benchmark& benchmark,
                                 alignment_input files) {
  add_reads(request, benchmark.read_bases, most_reads_of(request, benchmark), seed_of(benchmark) + 1, files);
  files.genome = std::exchange(files.reference, benchmark.name);
  files.is_benchmark = true;
  files.usual_least = benchmark.least;
  return files;
}

alignment_input input_of_benchmark(const experiment_request& request, const read_benchmark& benchmark) {
  const bool gpu = request.device.kind == device_kind::cuda;
  const int64_t scale = chosen_number(request, "scale", scale_by_default(gpu, request.quick));
  const auto bases = static_cast<uint32_t>(int64_t{benchmark.reference_bases} * scale / 1000);
  alignment_input input;
  const uint32_t seed = seed_of(benchmark);
  input.reference = benchmark.name;
  input.genome = made_genome;
  input.is_benchmark = true;
  input.usual_least = benchmark.least;
  input.size.reference = uint64_t{bases} + 1;
  input.references = [=] { return std::vector<sequence>{generated_reference(bases, seed, benchmark.gc_percent)}; };
  add_reads(request, benchmark.read_bases, most_reads_of(request, benchmark), seed + 1, input);
  return input;
}

}  // namespace

std::vector<alignment_input> inputs_of(const experiment_request& request) {
  if (has_chosen(request, "query") && !has_chosen(request, "reference")) {
    throw usage_error("Queries are aligned with a reference: axis reference is missing beside query.");
  }
  if (has_chosen(request, "reference")) {
    alignment_input input = input_of_files(request);
    if (has_chosen(request, "benchmark")) {
      std::vector<alignment_input> all;
      for (const read_benchmark& one : chosen_benchmarks(request)) all.push_back(with_settings_of(request, one, input));
      return all;
    }
    if (!input.queries) {
      constexpr uint32_t usual_reads = 1'000'000, usual_bases = 100, seed = 2014;
      add_reads(request, usual_bases, usual_reads, seed, input);
    }
    return {std::move(input)};
  }
  std::vector<alignment_input> all;
  for (const read_benchmark& one : chosen_benchmarks(request)) all.push_back(input_of_benchmark(request, one));
  return all;
}

std::vector<alignment_case> cases_of(const experiment_request& request, const std::vector<alignment_input>& inputs) {
  std::vector<alignment_case> all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const node_order order : chosen_of(request, "order", orders, word_of, {word_of(node_order::breadth)})) {
      for (const int64_t least : request.axes.numbers_or("min-match", {inputs[i].usual_least})) {
        for (const int64_t threads : request.axes.numbers_or("threads", {threads_by_default(request.device.kind)})) {
          all.push_back({i, static_cast<uint32_t>(least), order, static_cast<uint32_t>(threads)});
        }
      }
    }
  }
  return all;
}

const char* word_of(node_order order) {
  return order == node_order::breadth ? "breadth" : "depth";
}

std::vector<axis> input_axes() {
  std::vector<std::string> names;
  for (const read_benchmark& one : read_benchmarks) names.emplace_back(one.name);
  std::vector<axis> all{
      {"reference", "FASTA files, plain or gzip: one reference, of all their sequences", 0, 0, true,
       "none: those of axis benchmark are generated"},
      {"query", "FASTA files of the queries", 0, 0, true, "none: reads of the reference are simulated"},
      {"benchmark", "table 5: its settings, and references made in its sizes; or, with reference, those files", 0, 0,
       true, on_axis(names)},
      {"scale", "bases of a generated reference, in thousandths of its genome's", 1, 1000, false,
       fmt::format("{} on CUDA, {} elsewhere; with --quick {} and {}", scale_by_default(true, false),
                   scale_by_default(false, false), scale_by_default(true, true), scale_by_default(false, true)),
       true},
      {"reads", "simulated reads", 1, 100'000'000, false,
       fmt::format("as in table 5, but at most {} on CUDA and {} elsewhere, with --quick {} and {}; 1000000 of a file",
                   most_reads_by_default(true, false), most_reads_by_default(false, false),
                   most_reads_by_default(true, true), most_reads_by_default(false, true)),
       true},
      {"read-bases", "bases of a simulated read", 1, 1'000'000, false, "as in table 5; 100 of a file", true},
      {"changed", "of 1000 bases of simulated reads, those that are changed", 0, 1000, false, "0", true},
      {"min-match", "letters of a match, at least", 1, 1'000'000, false, "as in table 5; 20 for files"}};
  all[0].files = all[1].files = true;
  return all;
}

}  // namespace gpusync::tool::alignment_experiment
