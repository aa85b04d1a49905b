// Experiment smith-waterman: the dynamic programming of Feng and Xiao's figures 1a and 2a (items F1 to F7, F9, F10),
// and alignments of the user's own sequences.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "experiments/feng_xiao_2010/application.hpp"
#include "harness/choices.hpp"
#include "harness/published.hpp"
#include "harness/sequence_files.hpp"
#include "measure/host_timer.hpp"
#include "usage_error.hpp"
#include "workloads/smith_waterman/alignment_problem.hpp"
#include "workloads/smith_waterman/generated.hpp"
#include "workloads/smith_waterman/pipeline_result.hpp"
#include "workloads/smith_waterman/reference.hpp"
#include "workloads/smith_waterman/traceback.hpp"

namespace gpusync::tool::smith_waterman_experiment {

namespace {

/// Two sequences to be aligned.
struct pair_of_sequences {
  const sequence* query;
  const sequence* reference;
};

/// All that a request asks to be aligned with each other.
struct sequences {
  std::vector<sequence> queries, references;
  bool from_files = false;
  /// Generated ones belong together one by one; of files, every query is aligned with every reference.
  std::vector<pair_of_sequences> pairs() const {
    std::vector<pair_of_sequences> all;
    for (size_t q = 0; q < queries.size(); ++q) {
      for (size_t r = 0; r < references.size(); ++r) {
        if (from_files || q == r) all.push_back({&queries[q], &references[r]});
      }
    }
    return all;
  }
};

constexpr const char* name = "smith-waterman";

constexpr size_t longest_name = 200;

/// The sequences of the files that an axis names.
std::vector<sequence> read_all(const experiment_request& request, const std::string& axis) {
  std::vector<sequence> all;
  std::set<std::string> names;
  for (const sequence_file& file : read_sequence_files(request, axis)) {
    size_t number = 0;
    for (sequence one : *file.sequences) {
      number += 1;
      if (one.name.size() > longest_name) one.name.resize(longest_name);
      // Rows go by the names.
      if (one.name.empty() || names.count(one.name) != 0)
        one.name = fmt::format("{}:{}#{}", file.path, one.name, number);
      names.insert(one.name);
      all.push_back(std::move(one));
    }
  }
  return all;
}

constexpr int64_t length_by_default(bool gpu, bool quick) {
  return gpu ? (quick ? 1024 : 4096) : (quick ? 256 : 1024);
}

sequences sequences_of(const experiment_request& request) {
  const bool query = has_chosen(request, "query"), reference = has_chosen(request, "reference");
  if (query != reference) {
    throw usage_error(fmt::format("Sequences are aligned in pairs: axis {} is missing beside {}.",
                                  query ? "reference" : "query", query ? "query" : "reference"));
  }
  sequences all;
  if (query) {
    if (has_chosen(request, "length")) {
      throw usage_error("Axis length is for generated sequences: leave it out, or query and reference.");
    }
    all.from_files = true;
    all.queries = read_all(request, "query");
    all.references = read_all(request, "reference");
    return all;
  }
  const bool gpu = request.device.kind == device_kind::cuda;
  for (const int64_t letters : request.axes.numbers_or("length", {length_by_default(gpu, request.quick)})) {
    auto [one, other] = generated_pair(static_cast<uint32_t>(letters));
    all.queries.push_back(std::move(one));
    all.references.push_back(std::move(other));
  }
  return all;
}

std::vector<alignment_scoring> scorings_of(const experiment_request& request) {
  const alignment_scoring usual;
  std::vector<alignment_scoring> all;
  for (const int64_t match : request.axes.numbers_or("match", {usual.match})) {
    for (const int64_t mismatch : request.axes.numbers_or("mismatch", {usual.mismatch})) {
      for (const int64_t open : request.axes.numbers_or("gap-open", {usual.gap_open})) {
        for (const int64_t extend : request.axes.numbers_or("gap-extend", {usual.gap_extend})) {
          all.push_back({static_cast<int32_t>(match), static_cast<int32_t>(mismatch), static_cast<int32_t>(open),
                         static_cast<int32_t>(extend)});
        }
      }
    }
  }
  return all;
}

void require_memory_for(const std::string& which, uint64_t rows, uint64_t columns, const smith_waterman_device& device,
                        const experiment_request& request) {
  require_memory(
      {"Aligning " + which, "use shorter sequences", bytes_of_alignment(rows, columns), device.memory(),
       largest_buffer_of_alignment(rows, columns), device.largest_buffer(), host_bytes_of_alignment(rows, columns)},
      request);
}

/// Throws usage_error if a pair does not fit into the device's or the host's memory, or its scores into 32 bits.
void require_room(const pair_of_sequences& pair, const smith_waterman_device& device,
                  const experiment_request& request) {
  const uint64_t rows = pair.query->bases.size(), columns = pair.reference->bases.size();
  constexpr uint64_t longest = uint64_t{1} << 31;
  if (rows >= longest || columns >= longest) {
    throw usage_error(fmt::format("{} and {} have {} and {} letters; sequences can have up to {}.", pair.query->name,
                                  pair.reference->name, rows, columns, longest - 1));
  }
  require_memory_for(fmt::format("{} with {}", pair.query->name, pair.reference->name), rows, columns, device, request);
  for (const alignment_scoring& scoring : scorings_of(request)) {
    try {
      require_scoring(scoring, rows, columns);
    } catch (const invalid_argument& refusal) {
      throw usage_error(refusal.what());
    }
  }
}

/// Whether the pipeline can do it, as far as the user's axes let it.
bool pipeline_fits(const experiment_request& request, const smith_waterman_device& device,
                   const pair_of_sequences& pair, const alignment_scoring& scoring) {
  const size_t rows = pair.query->bases.size(), columns = pair.reference->bases.size();
  if (!device.has(alignment_form::pipeline) || !pipeline_refusal(scoring, rows, columns).empty()) return false;
  const int64_t threads = device.pipeline_threads();
  for (const int64_t named : request.axes.numbers_or("threads", {threads})) {
    if (named != threads) return false;
  }
  for (const int64_t blocks : request.axes.numbers_or("blocks", {request.device.compute_units})) {
    const uint64_t memory = device.memory();  // 0: not known
    if (memory != 0 && bytes_of_pipeline(rows, columns, static_cast<uint64_t>(blocks)) > memory) return false;
  }
  if (!has_chosen(request, "method")) return true;
  const std::vector<std::string>& methods = request.axes.words.at("method");
  return std::ranges::all_of(methods, [](const std::string& one) { return one == pipeline_method().name; });
}

/// Those that the user named; else memory, or for files on a GPU, and where its method is named, the pipeline or, if
/// that cannot be, registers if they have room for the rows.
std::vector<alignment_form> forms(const experiment_request& request, const smith_waterman_device& device,
                                  const pair_of_sequences& pair, const alignment_scoring& scoring) {
  const uint64_t rows = pair.query->bases.size();
  // A method that the user names may be the pipeline's: pipeline_fits() knows.
  const bool wanted =
      has_chosen(request, "method") || (has_chosen(request, "query") && request.device.kind == device_kind::cuda);
  if (wanted && pipeline_fits(request, device, pair, scoring)) {
    return chosen_forms(request, device, alignment_form::pipeline);
  }
  bool fast = has_chosen(request, "query") && device.has(alignment_form::registers);
  // Four rows a thread, and a few of the methods.
  for (const int64_t threads : request.axes.numbers_or("threads", {256})) {
    for (const int64_t blocks : request.axes.numbers_or("blocks", {request.device.compute_units})) {
      fast = fast && threads % 32 == 0 && rows <= 4 * static_cast<uint64_t>(threads * blocks);
    }
  }
  if (fast && has_chosen(request, "method")) {
    const auto there_too = device.methods_in_registers();
    for (const std::string& method : request.axes.words.at("method")) {
      fast = fast && std::ranges::find(there_too, method) != there_too.end();
    }
  }
  return chosen_forms(request, device, fast ? alignment_form::registers : alignment_form::memory);
}

/// Whoever brings sequences wants alignments of them, and not a sweep.
void choose_for_files(const experiment_request& request, application& what) {
  const int64_t units = std::max(1, request.device.compute_units);
  if (request.device.kind == device_kind::cuda) {
    what.blocks = {units};
    what.methods = {"relaunch", "graph", "cg", method_names::default_barrier};
  } else {
    // One work-group on OpenCL: on a CPU that does other work, two wait long for each other.
    what.blocks = {request.device.kind == device_kind::host ? units : 1};
    what.methods = {"lock-based-acquire-release"};
  }
}

/// The alignment itself, as a row of its own.
void trace(const alignment_problem& problem, const axis_values& axes, const experiment_sink& sink) {
  row entry;  // of no way to wait
  entry.experiment = name;
  entry.items = {"F7"};
  entry.device = "host";
  entry.axes = axes;
  entry.method = "traceback";
  const host_timer timer;
  const alignment_end end = end_of(problem.expected);
  const alignment found = trace_back(problem.query, problem.reference, problem.scoring, end, 0, sink.interrupted);
  entry.metrics = {{"total_time", plain_metric(timer.nanoseconds() * 1e-6, "ms", 1)}};
  const auto add = [&](const char* metric_name, int64_t value, bool there) {
    metric figure = plain_metric(static_cast<double>(value), "1", there ? 1 : 0);
    if (!there) figure.value = std::nullopt;
    entry.metrics.emplace_back(metric_name, figure);
  };
  add("score", end.score, true);
  for (const auto& [metric_name, value] :
       {std::pair{"query_begin", found.query_begin}, std::pair{"query_end", found.query_end},
        std::pair{"reference_begin", found.reference_begin}, std::pair{"reference_end", found.reference_end}}) {
    add(metric_name, value, end.score != 0);
  }
  add("matches", static_cast<int64_t>(found.matches), true);
  add("mismatches", static_cast<int64_t>(found.mismatches), true);
  add("gaps", static_cast<int64_t>(found.gaps), true);
  add("gap_letters", static_cast<int64_t>(found.gap_letters), true);
  const int64_t score = score_of(found, problem.query, problem.reference, problem.scoring);
  entry.verification = fmt::format("the alignment scores {}: {}", score, found.cigar);
  mark_verified(entry, score == end.score, fmt::format("The alignment scores {} and not {}.", score, end.score));
  sink.add(std::move(entry), true);
}

void align(const pair_of_sequences& pair, const alignment_scoring& scoring, bool from_files,
           smith_waterman_device& device, const experiment_request& request, const experiment_sink& sink,
           const std::function<void(double, const std::string&)>& progress) {
  progress(0, "aligned on the host");
  alignment_problem problem{pair.query->bases, pair.reference->bases, scoring, {}};
  const auto expected = align_rows(problem.query, problem.reference, scoring, sink.interrupted);
  if (!expected) return;  // interrupted
  problem.expected = *expected;
  axis_values axes{{"query", pair.query->name}, {"reference", pair.reference->name}};
  const std::pair<const char*, int32_t> scores[] = {{"match", scoring.match},
                                                    {"mismatch", scoring.mismatch},
                                                    {"gap-open", scoring.gap_open},
                                                    {"gap-extend", scoring.gap_extend}};
  for (const auto& [axis, value] : scores) {
    if (from_files || has_chosen(request, axis)) axes.emplace_back(axis, int64_t{value});
  }
  for (const alignment_form form : forms(request, device, pair, scoring)) {
    application what;
    what.experiment = name;
    what.axes = axes;
    what.axes.emplace_back("form", form_word(form));
    what.open = [&] { return device.aligning(problem, form); };
    what.work = static_cast<double>(problem.query.size()) * static_cast<double>(problem.reference.size()) * 1e-9;
    what.rate = "cell_updates";
    what.items = {"F7", "F9"};
    if (from_files) choose_for_files(request, what);
    if (form == alignment_form::pipeline) {
      what.threads = device.pipeline_threads();
      what.methods = {};
    }
    run_application(what, request, sink, progress);
    if (sink.interrupted()) return;
  }
  const std::vector<int64_t> traced = request.axes.numbers_or("traceback", {0});
  if (std::find(traced.begin(), traced.end(), 1) == traced.end()) return;
  progress(1, "traced back on the host");
  try {
    trace(problem, axes, sink);
  } catch (const run_interrupted&) {  // there is no row of it
  }
}

void check(const experiment_request& request) {
  const auto device = open_side<smith_waterman_device>(request.device);
  for (const int64_t letters : request.axes.numbers_or("length", {})) {  // before they are made
    const auto count = static_cast<uint64_t>(letters);
    require_memory_for(fmt::format("two generated sequences of {} letters", letters), count, count, *device, request);
  }
  const sequences all = sequences_of(request);
  const alignment_problem nothing;
  for (const pair_of_sequences& pair : all.pairs()) {
    require_room(pair, *device, request);
    for (const alignment_scoring& scoring : scorings_of(request)) {
      for (const alignment_form form : forms(request, *device, pair, scoring)) {
        (void)chosen_methods(request, device->aligning(nothing, form)->methods());
      }
    }
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<smith_waterman_device>(request.device);
  const sequences all = sequences_of(request);
  const std::vector<alignment_scoring> scorings = scorings_of(request);
  const auto label = [&](const pair_of_sequences& pair) {
    return fmt::format("{} {} with {}", request.device.id, pair.query->name, pair.reference->name);
  };
  for_each_case(all.pairs(), sink, label, [&](const pair_of_sequences& pair, const auto& progress) {
    for (size_t i = 0; i < scorings.size() && !sink.interrupted(); ++i) {
      align(pair, scorings[i], all.from_files, *device, request, sink, part_of(progress, i, scorings.size()));
    }
  });
  if (!all.from_files && !sink.interrupted()) add_all(published_rows(paper::feng_xiao_2010, name), sink);
}

std::vector<axis> axes() {
  const alignment_scoring usual;
  const auto score = [](int32_t value) { return fmt::format("{}", value); };
  const std::string generated = "none: sequences are generated";
  std::vector<axis> all{
      {"query", "FASTA files, plain or gzip; every sequence is aligned with every one of reference", 0, 0, true,
       generated},
      {"reference", "FASTA files, plain or gzip", 0, 0, true, generated},
      {"length", "letters of generated sequences, where no files are given", 0, 1 << 24, false,
       sizes_in_words(length_by_default)},
      {"match", "score of a pair of equal letters", 1, 1 << 20, false, score(usual.match)},
      {"mismatch", "score of a pair of other letters", -(1 << 20), 0, false, score(usual.mismatch)},
      {"gap-open", "a gap of k letters costs gap-open + k x gap-extend", 0, 1 << 20, false, score(usual.gap_open)},
      {"gap-extend", "see gap-open", 0, 1 << 20, false, score(usual.gap_extend)},
      {"traceback", "1: also the alignment itself, found on the host in memory linear in the lengths", 0, 1, false,
       "0"},
      {"form",
       "memory: a diagonal's cells are dealt out to threads anew, as in 2010; registers: each thread keeps "
       "rows of its own (CUDA); pipeline: rows are handed from block to block, without a boundary of the grid",
       0, 0, true,
       "memory; with files on CUDA pipeline, or else registers where there is room; with method channels pipeline"}};
  for (axis& each : application_axes()) {
    if (each.name == "blocks") each.default_text += "; with files one for each processor, one in all on OpenCL";
    if (each.name == "threads") each.default_text += "; as many as the form pipeline has";
    if (each.name == "method") each.default_text += "; with files a few";
    all.push_back(std::move(each));
  }
  all[0].files = all[1].files = true;
  return all;
}

const register_experiment registered({
    name,
    "Smith-Waterman alignment: a launch for each anti-diagonal, or one kernel with a grid barrier?",
    {"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F9", "F10"},
    {device_kind::cuda, device_kind::opencl, device_kind::host},
    axes(),
    run,
    {check, check_methods([](const device_description& device) {
              return open_side<smith_waterman_device>(device)->aligning({}, alignment_form::memory)->methods();
            }).method_names},
    case_time{8, 4},
});

}  // namespace

}  // namespace gpusync::tool::smith_waterman_experiment
