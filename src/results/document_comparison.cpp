#include "results/document_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "measure/statistics.hpp"
#include "results/groups.hpp"
#include "results/row_ratio.hpp"
#include "results/text.hpp"

namespace gpusync::tool {

namespace {

using document_pairs = std::vector<std::pair<const document*, const document*>>;
using row_key = std::tuple<std::string, std::string, std::vector<std::pair<std::string, axis_value>>, std::string>;
using row_index = std::map<row_key, const row*>;

/// Degrees of freedom of deviation_of() for each distance: its efficiency beside a sum of squares.
constexpr double efficiency = 0.87;

row_key key_of(const row& entry) {
  return {entry.experiment, entry.device, entry.axes, entry.method};
}

row_index index_of(const document& results) {
  row_index index;
  for (const row& entry : results.rows) {
    if (!is_published(entry)) index.try_emplace(key_of(entry), &entry);
  }
  return index;
}

const row* find(const row_index& index, const row& wanted) {
  const auto found = index.find(key_of(wanted));
  return found == index.end() ? nullptr : found->second;
}

bool is_time(const std::string& unit) {
  return unit == "ns" || unit == "us" || unit == "ms" || unit == "s";
}

double median_of(std::vector<double> values) {
  return summarize(std::move(values)).median;
}

/// The standard deviation of values whose distances from their middle are these, as if the few that lie far out did
/// not: the biweight midvariance (Mosteller and Tukey, Data Analysis and Regression, 10).
double deviation_of(const std::vector<double>& distances) {
  std::vector<double> sizes;
  for (const double one : distances) sizes.push_back(std::abs(one));
  const double reach = 9 * median_of(sizes);
  if (!(reach > 0)) return 0;
  double squares = 0, weights = 0;
  for (const double one : distances) {
    const double u2 = one / reach * (one / reach);
    if (u2 >= 1) continue;
    squares += one * one * std::pow(1 - u2, 4);
    weights += (1 - u2) * (1 - 5 * u2);
  }
  return std::sqrt(static_cast<double>(distances.size()) * squares) / std::abs(weights);
}

/// What the pairs say of one row.
struct row_evidence {
  std::vector<double> logs;     // of the ratios, one a pair
  std::vector<double> errors2;  // squared standard errors of these, from the rounds
  std::vector<double> drifts;   // logs of the second half's median over the first's, one for each document

  double log() const {
    double sum = 0;
    for (const double one : logs) sum += one;
    return sum / static_cast<double>(logs.size());
  }
  double error2() const { return median_of(errors2); }
};

void add_drift(const metric& measured, row_evidence& evidence) {
  constexpr size_t least = 6;
  if (!measured.samples || measured.samples->size() < least) return;
  const auto half = measured.samples->begin() + static_cast<ptrdiff_t>(measured.samples->size() / 2);
  const double first = median_of({measured.samples->begin(), half});
  const double second = median_of({half, measured.samples->end()});
  if (first > 0 && second > 0) evidence.drifts.push_back(std::log(second / first));
}

/// Why these two rows cannot be compared; empty if they can.
std::string obstacle(const row& before, const row& after) {
  const metric* a = headline_metric(before);
  const metric* b = headline_metric(after);
  if (before.status != row_status::ok || after.status != row_status::ok) {
    const row& culprit = after.status != row_status::ok ? after : before;
    return fmt::format("{} {}: {}", &culprit == &after ? "after:" : "before:", to_string(culprit.status),
                       culprit.reason.value_or("no reason given"));
  }
  if (a == nullptr || b == nullptr) return "no figure";
  if (!is_time(a->unit) || !is_time(b->unit)) return "no time";
  if (a->unit != b->unit) return fmt::format("measured in {} and in {}", a->unit, b->unit);
  if (!a->value || !b->value || !(*a->value > 0) || !(*b->value > 0)) return "not above the noise";
  if (!headline_error(before) || !headline_error(after)) return "no spread is known";
  return "";
}

void add_pair(const row& before, const row& after, row_evidence& evidence) {
  const metric& a = *headline_metric(before);
  const metric& b = *headline_metric(after);
  evidence.logs.push_back(std::log(*b.value / *a.value));
  evidence.errors2.push_back(std::pow(*headline_error(before), 2) + std::pow(*headline_error(after), 2));
  add_drift(a, evidence);
  add_drift(b, evidence);
}

/// How much the logs of ratios scatter from run to run, beyond the error of their rounds.
struct run_scatter {
  double variance = 0;
  double freedom = 0;  // degrees of it; 0: nothing tells
};

/// From the scatter of all rows over the pairs.
run_scatter scatter_over_pairs(const std::vector<row_evidence>& rows, size_t pairs) {
  std::vector<double> distances;
  const double shrinks = std::sqrt(static_cast<double>(pairs) / static_cast<double>(pairs - 1));
  for (const row_evidence& one : rows) {
    for (const double log : one.logs) distances.push_back((log - one.log()) * shrinks);
  }
  const double deviation = deviation_of(distances);
  return {deviation * deviation, efficiency * static_cast<double>(rows.size() * (pairs - 1))};
}

/// From the scatter of rows about their median, and from the drift within each run.
run_scatter scatter_over_rows(const std::vector<row_evidence>& rows) {
  constexpr size_t enough_rows = 6;
  std::vector<double> logs, errors2, drifts;
  for (const row_evidence& one : rows) {
    logs.push_back(one.log());
    errors2.push_back(one.error2());
    drifts.insert(drifts.end(), one.drifts.begin(), one.drifts.end());
  }
  run_scatter found;
  const double error2 = median_of(errors2);
  if (rows.size() >= enough_rows) {
    const double middle = median_of(logs);
    for (double& log : logs) log -= middle;
    const double deviation = deviation_of(logs);
    found = {std::max(0.0, deviation * deviation - error2), efficiency * static_cast<double>(rows.size() - 1)};
  }
  if (!drifts.empty()) {
    // A half has twice the variance of the whole, a difference of two halves four times.
    const double deviation = deviation_of(drifts);
    const double variance = std::max(0.0, deviation * deviation - 4 * error2 / 2);
    if (variance > found.variance || found.freedom == 0) {
      found = {variance, std::max(1.0, efficiency * static_cast<double>(drifts.size()))};
    }
  }
  return found;
}

double variance_over_pairs(const row_evidence& one) {
  double sum = 0;
  for (const double log : one.logs) sum += (log - one.log()) * (log - one.log());
  return sum / static_cast<double>(one.logs.size() - 1);
}

void judge_all(std::vector<row_change*>& comparable, const std::vector<row_evidence>& evidence, size_t pairs,
               const comparison_rule& rule, document_comparison& found) {
  if (comparable.empty()) return;
  const run_scatter scatter = pairs > 1 ? scatter_over_pairs(evidence, pairs) : scatter_over_rows(evidence);
  const double tail = (1 - rule.confidence) / 2 / static_cast<double>(comparable.size());
  if (scatter.freedom > 0) found.run_to_run = std::sqrt(scatter.variance / 2);
  for (size_t i = 0; i < comparable.size(); ++i) {
    row_change& change = *comparable[i];
    const row_evidence& one = evidence[i];
    change.ratio = std::exp(one.log());
    if (scatter.freedom == 0) {
      change.reason = "too few rounds to tell how much runs differ";
      continue;
    }
    const double variance = pairs > 1 ? std::max({scatter.variance, variance_over_pairs(one), one.error2()})
                                      : scatter.variance + one.error2();
    const double half =
        student_quantile(std::max(scatter.freedom, 1.0), tail) * std::sqrt(variance / static_cast<double>(pairs));
    change.between = interval{std::exp(one.log() - half), std::exp(one.log() + half)};
    change.what = judge_ratio(change.between, rule.least_effect);
  }
}

}  // namespace

document_comparison compare_documents(const document_pairs& pairs, const comparison_rule& rule) {
  document_comparison found;
  found.pairs = pairs.size();
  std::vector<std::pair<row_index, row_index>> indices;
  for (const auto& [before, after] : pairs) indices.emplace_back(index_of(*before), index_of(*after));

  std::vector<std::pair<size_t, row_evidence>> evidence;  // of which change
  for (const row& entry : pairs.front().first->rows) {
    if (is_published(entry) || find(indices.front().first, entry) != &entry) continue;
    const row* after = find(indices.front().second, entry);
    if (after == nullptr) {
      found.only_before.push_back(&entry);
      continue;
    }
    row_change& change = found.changes.emplace_back();
    change.before = &entry;
    change.after = after;
    row_evidence known;
    for (const auto& [befores, afters] : indices) {
      const row* a = find(befores, entry);
      const row* b = find(afters, entry);
      if (a == nullptr || b == nullptr) {
        change.reason = "not in every document";
        break;
      }
      change.reason = obstacle(*a, *b);
      change.broke = change.broke || (a->status == row_status::ok && b->status != row_status::ok);
      change.mended = change.mended || (a->status != row_status::ok && b->status == row_status::ok);
      if (!change.reason.empty()) break;
      add_pair(*a, *b, known);
    }
    if (change.reason.empty()) evidence.emplace_back(found.changes.size() - 1, std::move(known));
  }
  for (const row& entry : pairs.front().second->rows) {
    if (!is_published(entry) && find(indices.front().first, entry) == nullptr) found.only_after.push_back(&entry);
  }
  std::vector<row_change*> comparable;
  std::vector<row_evidence> known;
  for (auto& [which, one] : evidence) {
    comparable.push_back(&found.changes[which]);
    known.push_back(std::move(one));
  }
  judge_all(comparable, known, pairs.size(), rule, found);
  return found;
}

bool has_regressed(const document_comparison& found) {
  return std::ranges::any_of(
      found.changes, [](const row_change& change) { return change.broke || change.what == difference::slower; });
}

}  // namespace gpusync::tool
