// Experiment pace-model: equations 3 and 4 of Lo et al. (2014) on counters of caches that a profiler has read, with two
// levels of cache and with a random walk beside them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/rows.hpp"
#include "models/pace_model.hpp"
#include "results/context.hpp"
#include "results/groups.hpp"
#include "results/json.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool::pace_model_experiment {

namespace {

constexpr const char *name = "pace-model", *files = "from", *counters_name = "pace-counters", *one_level = "equation-3",
                     *two_levels = "two-levels", *decay = "equation-4", *random_walk = "random-walk",
                     *explained = "r_squared";
/// A fit that leaves so much of the variance is none.
constexpr double enough_explained = 0.95;

/// What the rows of one GPU and one size of its L1 cache give.
struct counted_walk {
  axis_values where;
  std::vector<hits_and_clocks> clocks;                ///< without a barrier, and with one at every interval
  std::vector<std::pair<double, double>> hits_after;  ///< accesses from barrier to barrier, hits of L1
};

std::string word_of(const row& entry, const char* axis) {
  for (const auto& [axis_name, value] : entry.axes) {
    if (axis_name == axis && std::holds_alternative<std::string>(value)) return std::get<std::string>(value);
  }
  return "";
}

/// Column walks of documents that scripts/profile-pace has written: each line is read again and again, so that hits
/// hang on how far warps have drifted. Controls are other code, and left out.
std::vector<counted_walk> walks_of(const std::vector<std::string>& paths) {
  std::vector<counted_walk> all;
  for (const std::string& path : paths) {
    const document results = read_document(path);
    for (const row& entry : results.rows) {
      const bool is_walk = entry.experiment == counters_name && word_of(entry, "workload") == "column-walk";
      const bool is_barrier = entry.method.starts_with("block-");
      const auto hits = value_of(entry, "l1_hits"), clocks = value_of(entry, "cycles_per_iteration");
      if (!is_walk || (entry.method != "none" && !is_barrier) || !hits || !clocks) continue;
      const axis_values where{{"of", device_title(results, entry.device)}, {"l1", word_of(entry, "l1")}};
      auto found = std::ranges::find(all, where, &counted_walk::where);
      if (found == all.end()) found = all.insert(all.end(), {where, {}, {}});
      const auto sectors = value_of(entry, "l2_sectors"), sectors_hit = value_of(entry, "l2_sectors_hit");
      const bool counted = sectors && sectors_hit && *sectors > 0;
      found->clocks.push_back(
          {*hits, *clocks, counted ? *sectors_hit / *sectors : value_of(entry, "l2_hits").value_or(0)});
      const auto accesses = value_of(entry, "accesses");
      if (is_barrier && accesses) found->hits_after.emplace_back(*accesses, *hits);
    }
  }
  if (all.empty()) {
    throw usage_error(fmt::format(
        "The documents of axis {} have no counters of column-walk: scripts/profile-pace reads them.", files));
  }
  return all;
}

metric fitted(double value, const std::optional<double>& standard_error, const std::string& unit, uint64_t points) {
  metric made = plain_metric(value, unit, points);
  made.stddev = standard_error;
  return made;
}

void add_terms(row& entry, const std::optional<terms_fit>& fit) {
  if (!fit) {
    mark_skipped(entry, "The points do not determine its coefficients: profile more intervals.");
    return;
  }
  const char* const names[] = {"alpha", "beta", "gamma"};
  for (size_t i = 0; i < fit->coefficients.size(); ++i) {
    entry.metrics.emplace_back(names[i], fitted(fit->coefficients[i], fit->errors[i], "cycles", fit->points));
  }
  entry.metrics.emplace_back(explained, plain_metric(fit->r_squared, "1", fit->points));
}

void add_decay(row& entry, const std::optional<decay_fit>& fit, const char* unit, uint64_t points) {
  if (!fit) {
    mark_skipped(entry, "There are hits at fewer than two intervals: profile more of them.");
    return;
  }
  entry.metrics = {{"at_zero", plain_metric(fit->at_zero, "1", points)},
                   {"rate", fitted(fit->rate, fit->rate_error, unit, points)},
                   {explained, plain_metric(fit->r_squared, "1", points)}};
}

/// Whether a form fits, in words.
void judge(row& entry, const char* sentence) {
  const std::optional<double> found = value_of(entry, explained);
  if (!found) return;
  entry.verification = fmt::format("{}: {}, {} of the variance explained", sentence,
                                   *found >= enough_explained ? "fits" : "does not fit", figure(*found));
}

std::vector<row> rows_of(const experiment_request& request, const counted_walk& walk) {
  const auto row_of = [&](const char* method) {
    row entry = new_row(name, request, method, method_kind::object);
    entry.kind.reset();  // it is no way to wait
    entry.items = {"L6"};
    entry.axes = walk.where;
    return entry;
  };
  std::vector<row> rows{row_of(one_level), row_of(two_levels), row_of(decay), row_of(random_walk)};
  const uint64_t intervals = walk.hits_after.size();
  add_terms(rows[0], fit_one_level(walk.clocks));
  add_terms(rows[1], fit_two_levels(walk.clocks));
  add_decay(rows[2], fit_decay(walk.hits_after), "1/access", intervals);
  add_decay(rows[3], fit_drift(walk.hits_after), "1/root", intervals);
  judge(rows[0], "Clocks of an iteration are alpha + (1 - H) beta");
  judge(rows[1], "Clocks are alpha + (1 - H1) beta + (1 - H1) (1 - H2) gamma");
  judge(rows[2], "Hits fall off as exp(-rate n) with n accesses from barrier to barrier");
  judge(rows[3], "Hits fall off as exp(-rate sqrt(n)), as in a random walk");
  return rows;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  if (!has_chosen(request, files)) {
    row entry = new_row(name, request, one_level, method_kind::object);
    entry.kind.reset();
    entry.items = {"L6"};
    mark_skipped(entry, "Hits of caches are a profiler's: name what scripts/profile-pace has written by axis from.");
    sink.add(std::move(entry), true);
    return;
  }
  for (const counted_walk& walk : walks_of(request.axes.words.at(files))) add_all(rows_of(request, walk), sink);
}

/// Of the first GPU and L1 cache for which both forms of the fall were fitted.
std::string answer(const measured_rows& measured) {
  const row* by_time = nullptr;
  for (const row* entry : measured.rows) {
    if (entry->method == decay) by_time = entry;
    if (entry->method != random_walk || by_time == nullptr || by_time->axes != entry->axes) continue;
    const double first = value_of(*by_time, explained).value_or(0), second = value_of(*entry, explained).value_or(0);
    return answer_in(
        measured,
        {fmt::format("Of the fall of hits equation 4 explains {}, a random walk {}", figure(first), figure(second))},
        entry);
  }
  return "";
}

request_check checks() {
  request_check made;
  made.check = [](const experiment_request& request) {
    if (has_chosen(request, files)) (void)walks_of(request.axes.words.at(files));
  };
  return made;
}

const register_experiment registered({
    name,
    "do equations 3 and 4 of Lo and others fit the hits and clocks that a profiler has read, or what does?",
    {"L6"},
    {device_kind::host},
    {{files, "documents that scripts/profile-pace has written", 0, 0, true, "none", false, true}},
    run,
    checks(),
    case_time{1, 1},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::pace_model_experiment
