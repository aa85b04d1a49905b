#include "experiments/lo_2014/alignment_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/choices.hpp"
#include "harness/method_comparison.hpp"
#include "measure/host_timer.hpp"
#include "workloads/maximal_matches/match_list.hpp"
#include "workloads/maximal_matches/mummer.hpp"

namespace gpusync::tool::alignment_experiment {

namespace {

constexpr method_word methods[] = {{"suffix-tree", match_method::tree}, {"suffix-array", match_method::array}};

bool wants_mummer(const experiment_request& request) {
  const std::vector<std::string> words = chosen_words(request, "method", method_names_here());
  return std::ranges::find(words, mummer_name) != words.end();
}

/// A method with barriers placed somewhere.
struct search {
  const prepared_search* by;
  barrier_placement placement;
};

/// As rows have it: "suffix-tree", or "suffix-tree+both".
std::string name_of(const method_word& method, const std::string& placement) {
  return placement == barrier_placements[0].name ? method.word : fmt::format("{}+{}", method.word, placement);
}

class measured_case {
 public:
  measured_case(const alignment_input& input, const alignment_case& one, prepared_input& prepared, match_device& device,
                const experiment_request& request, const experiment_sink& sink)
      : input_(input), case_(one), prepared_(prepared), device_(device), request_(request), sink_(sink) {}

  void run(const std::function<void(double, const std::string&)>& progress) {
    if (!prepared_.batch || prepared_.batch->batch.least != case_.least) prepare_queries(progress);
    measure([&](double fraction) { progress(fraction, ""); });
    if (sink_.interrupted()) return;
    progress(1, "matches listed");
    list_all();
  }

 private:
  void prepare_queries(const std::function<void(double, const std::string&)>& progress) {
    prepared_.batch.reset();  // before the next takes memory
    auto made = std::make_unique<prepared_queries>();
    made->batch = match_batch::of(prepared_.queries, case_.least);
    for (const method_word& one : methods_of(request_)) {
      progress(0, fmt::format("{} on the host", one.word));
      const auto expected = std::make_shared<const std::vector<match_record>>(
          expected_records(prepared_.index, prepared_.queries, made->batch, one.method, sink_.interrupted));
      made->searches.push_back(
          {one, kept_if_stuck(device_.matching({&prepared_.index, &made->batch, one.method, expected}))});
    }
    if (wants_mummer(request_)) {
      progress(0, mummer_name);
      made->mummer =
          time_mummer(prepared_.references, prepared_.queries, case_.least, request_.quick, sink_.interrupted);
    }
    prepared_.batch = std::move(made);
    add_mummer_rows();
  }

  axis_values axes() const {
    axis_values all{{"reference", input_.reference}};
    if (input_.is_benchmark) all.emplace_back("genome", input_.genome);
    all.emplace_back("bases", static_cast<int64_t>(prepared_.index.text.bases.size() - 1));
    all.emplace_back("query", input_.query);
    all.emplace_back("reads", static_cast<int64_t>(prepared_.queries.size()));
    all.emplace_back("min-match", int64_t{case_.least});
    return all;
  }
  axis_values axes_of_device() const {
    axis_values all = axes();
    all.emplace_back("order", std::string(word_of(case_.order)));
    all.emplace_back("threads", int64_t{case_.threads});
    return all;
  }
  const std::vector<mummer_times>& mummer() const { return prepared_.batch->mummer; }
  const std::vector<prepared_search>& searches() const { return prepared_.batch->searches; }
  double reads() const { return static_cast<double>(prepared_.queries.size()); }

  /// All placements of all methods take turns.
  void measure(const std::function<void(double)>& progress) {
    std::map<std::string, search> by_name;
    std::vector<step_method> all;
    for (const prepared_search& by : searches()) {
      for (const barrier_placement& placement : placements_of(request_)) {
        step_method method;
        method.name = name_of(by.method, placement.name);
        method.kind = method_kind::launch;
        method.items = {"L13", "L18"};
        if (placement.edges != pace_kind::nothing || placement.suffixes != pace_kind::nothing) {
          method.items.emplace_back("L14");
        }
        if (input_.is_benchmark) method.items.emplace_back("L15");
        by_name.emplace(method.name, search{&by, placement});
        all.push_back(std::move(method));
      }
    }
    const auto prepare = [&](const step_method& method) -> prepared_method {
      const search& one = by_name.at(method.name);
      step_method placed;
      placed.name = one.placement.name;
      const auto program = kept_if_stuck(one.by->workload->prepare(placed, one.by->workload->shape_of(case_.threads)));
      program->end_when(sink_.interrupted);
      return {{[program]() -> turn_samples {
                return {{run_sample, program->run() * 1e-6}};
              }},
              [program] { return program->verify(); }};
    };
    results_ =
        compare_methods({experiment_name, request_, sink_}, all, prepare, rule_for_runs(request_.quick), progress);
    for (method_result& result : results_) {
      result.entry.metrics = {{"run_time", result.median_of(run_sample, 1, "ms", request_.keep_samples)}};
    }
    for (method_result& result : results_) add_meaning(by_name.at(result.method.name), result);
    for (method_result& result : results_) {
      row entry = result.entry;
      entry.axes = axes_of_device();
      sink_.add(std::move(entry), result.claims_correctness);
    }
  }

  /// The result of the same method with barriers placed there; null if it has none.
  const method_result* with(const search& one, const char* placement) const {
    return placement == nullptr ? nullptr : find_ok(results_, name_of(one.by->method, placement));
  }

  /// Adds reads per second, beside mummer's, and the gain: 100 (t - ts) / t by rounds, t without barrier.
  void add_meaning(const search& one, method_result& result) const {
    const metric& time = result.entry.metrics.front().second;
    if (result.entry.status != row_status::ok || !time.value || !(*time.value > 0)) return;
    const uint64_t n = time.n;
    const double rate_here = reads() / *time.value * 1e3;
    result.entry.metrics.emplace_back(rate_name, plain_metric(rate_here * 1e-6, "1e6/s", n));
    const auto gain_over = [&](const method_result& base) {
      return median_metric(by_round(result.figures.of(run_sample), base.figures.of(run_sample),
                                    [](double with, double without) { return 100 * (1 - with / without); }),
                           1, "%", false);
    };
    const method_result *const none = with(one, barrier_placements[0].name),
                               *control = with(one, one.placement.control);
    if (none != nullptr && none != &result) result.entry.metrics.emplace_back("rho_over_none", gain_over(*none));
    if (none != nullptr && control != nullptr) {
      const auto median = [](const method_result& of) { return of.entry.metrics.front().second.value; };
      result.entry.metrics.emplace_back("rho", gain_over(*median(*control) < *median(*none) ? *control : *none));
    }
    for (const mummer_times& other : mummer()) {
      if (!other.reads_per_second()) continue;
      result.entry.metrics.emplace_back(other.processes == 1 ? "over_mummer" : "over_mummer_all_cores",
                                        plain_metric(rate_here / *other.reads_per_second(), "1", n));
    }
  }

  /// All matches, from what the device's last run left: a row of them, the text if somebody wants it, and what mummer
  /// finds.
  void list_all() {
    if (searches().empty()) return;
    const prepared_search& by = searches().front();
    const method_result* best = nullptr;
    for (const method_result& result : results_) {
      const bool is_ok = result.entry.status == row_status::ok && result.entry.metrics.front().second.value;
      if (!is_ok || !result.method.name.starts_with(by.method.word)) continue;
      if (best == nullptr || result.entry.metrics.front().second.value < best->entry.metrics.front().second.value) {
        best = &result;
      }
    }
    if (best == nullptr) return;  // rows say why
    row entry = new_row(experiment_name, request_, step_method{});
    entry.method = list_name;
    entry.kind = std::nullopt;
    entry.items = {"L13", "L18"};
    entry.axes = axes_of_device();
    entry.axes.emplace_back("by", std::string(by.method.word));  // others are compared with each other
    const host_timer reading;
    const std::vector<match_record> records = by.workload->records();
    const double read_ms = reading.nanoseconds() * 1e-6;
    const host_timer listing;
    const auto matches = matches_of(prepared_.index, prepared_.queries, prepared_.batch->batch, by.method.method,
                                    records, sink_.interrupted);
    const std::string text = as_printed(prepared_.index.text, prepared_.queries, matches);
    const double list_ms = listing.nanoseconds() * 1e-6;
    uint64_t count = 0;
    for (const auto& one : matches) count += one.size();
    const double all_ms = *best->entry.metrics.front().second.value + read_ms + list_ms;
    entry.metrics = {{"total_time", plain_metric(all_ms, "ms", 1)},
                     {rate_name, plain_metric(reads() / all_ms * 1e-3, "1e6/s", 1)},
                     {"matches", count_metric(count)},
                     {"list_time", plain_metric(list_ms, "ms", 1)},
                     {"index_time", plain_metric(prepared_.index_ms, "ms", 1)}};
    if (sink_.matches) sink_.matches(text);
    check_against_mummer(matches, entry);
    sink_.add(std::move(entry), true);
  }

  void check_against_mummer(const std::vector<std::vector<maximal_match>>& matches, row& entry) const {
    if (mummer().empty()) {
      entry.verification = "the records are checked, the list is not: mummer was not asked";
      return;
    }
    uint64_t queries = 0, different = 0;
    for (const mummer_times& other : mummer()) {
      if (other.text.empty()) continue;  // interrupted
      queries += other.reads;
      different += different_queries(other, prepared_.index.text, prepared_.queries, matches);
    }
    if (queries == 0) return;
    entry.verification = fmt::format("the lists of {} queries compared with those of mummer -maxmatch -n", queries);
    mark_verified(entry, different == 0,
                  fmt::format("For {} of {} queries mummer -maxmatch -n finds other matches.", different, queries));
  }

  void add_mummer_rows() const {
    for (const mummer_times& other : mummer()) {
      row entry = new_row(experiment_name, request_, mummer_name, method_kind::launch);
      entry.kind = std::nullopt;
      entry.rival = true;
      entry.device = "host";
      entry.items = {"L18"};
      entry.axes = axes();
      entry.axes.emplace_back("processes", int64_t{other.processes});
      entry.metrics = {{"run_time", median_metric(other.match, 1, "ms", request_.keep_samples)},
                       {"index_time", median_metric(other.index, 1, "ms", request_.keep_samples)}};
      entry.verification =
          fmt::format("of the first {} queries; index_time is that of a query of one base", other.reads);
      if (const auto found = other.reads_per_second()) {
        entry.metrics.emplace_back(rate_name, plain_metric(*found * 1e-6, "1e6/s", other.match.size()));
      } else {
        entry.metrics.front().second.value = std::nullopt;
        mark_skipped(entry, "Not above the noise: the queries took no longer than one of one base. More reads help.");
      }
      sink_.add(std::move(entry), true);
    }
  }

  const alignment_input& input_;
  const alignment_case case_;
  prepared_input& prepared_;
  match_device& device_;
  const experiment_request& request_;
  const experiment_sink& sink_;
  std::vector<method_result> results_;
};

}  // namespace

std::vector<std::string> method_names_here() {
  std::vector<std::string> names;
  for (const method_word& one : methods) names.emplace_back(one.word);
  if (mummer_is_installed()) names.emplace_back(mummer_name);
  return names;
}

std::vector<method_word> methods_of(const experiment_request& request) {
  const std::vector<std::string> words = chosen_words(request, "method", method_names_here());
  std::vector<method_word> all;
  for (const method_word& one : methods) {
    if (std::ranges::find(words, one.word) != words.end()) all.push_back(one);
  }
  return all;
}

std::vector<barrier_placement> placements_of(const experiment_request& request) {
  const auto chosen = chosen_of(request, "placement", barrier_placements, &barrier_placement::name);
  std::set<std::string> wanted;
  for (const barrier_placement& one : chosen) {
    wanted.insert(one.name);
    if (one.control != nullptr) wanted.insert({barrier_placements[0].name, one.control});
  }
  std::vector<barrier_placement> all;
  std::ranges::copy_if(barrier_placements, std::back_inserter(all),
                       [&](const barrier_placement& one) { return wanted.contains(one.name); });
  return all;
}

prepared_input prepare_input(const alignment_input& input, node_order order) {
  prepared_input made;
  made.references = input.references();
  made.queries = input.queries(made.references);
  const host_timer timer;
  made.index = reference_index::of(made.references, order);
  made.index_ms = timer.nanoseconds() * 1e-6;
  return made;
}

void measure_case(const alignment_input& input, const alignment_case& one, prepared_input& prepared,
                  match_device& device, const experiment_request& request, const experiment_sink& sink,
                  const std::function<void(double, const std::string&)>& progress) {
  measured_case(input, one, prepared, device, request, sink).run(progress);
}

}  // namespace gpusync::tool::alignment_experiment
