#include "results/document_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "measure/statistics.hpp"
#include "results/context.hpp"
#include "results/groups.hpp"
#include "results/row_index.hpp"
#include "results/row_ratio.hpp"
#include "results/text.hpp"

namespace gpusync::tool {

namespace {

using document_pairs = std::vector<std::pair<const document*, const document*>>;
/// Degrees of freedom of deviation_of() for each distance: its efficiency beside a sum of squares.
constexpr double efficiency = 0.87;

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

/// Whether nothing is wrong with a row. One that was skipped for the noise is no worse than one that stands above it.
bool is_right(const row& entry) {
  return entry.status == row_status::ok || is_lost_in_noise(entry);
}

bool has_time(const row& entry) {
  const metric* measured = headline_metric(entry);
  return measured != nullptr && is_time(measured->unit);
}

/// Why these two rows cannot be compared; empty if they can.
std::string obstacle(const row& before, const row& after) {
  const metric* a = headline_metric(before);
  const metric* b = headline_metric(after);
  if (!is_right(before) || !is_right(after)) {
    const row& culprit = is_right(after) ? before : after;
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

/// A variance, and how many values it is drawn from.
struct estimate {
  double variance = 0;
  double freedom = 0;  // degrees of it; 0: nothing tells
};

estimate estimate_from(const std::vector<double>& distances, double freedom) {
  const double deviation = deviation_of(distances);
  return {deviation * deviation, std::max(1.0, efficiency * freedom)};
}

/// How much the logs of ratios scatter from run to run beyond the error of their rounds: what one row has to itself,
/// and what all rows of a group share that were measured in the same seconds.
struct run_scatter {
  estimate row, group;
};

/// What makes the distances of n values from their middle as wide as those from the true one.
double unbiased(size_t n) {
  return n > 1 ? std::sqrt(static_cast<double>(n) / static_cast<double>(n - 1)) : 0;
}

/// Rows by group, as indices.
using row_groups = std::vector<std::vector<size_t>>;

std::vector<double> of_group(const std::vector<size_t>& group, const std::vector<double>& values) {
  std::vector<double> some;
  for (const size_t i : group) some.push_back(values[i]);
  return some;
}

/// From how rows lie about the middle of their group, and groups about the middle of all. If there are too few groups,
/// from how the first and the last halves of the rounds differ, in the groups' middle.
run_scatter scatter_over_rows(const std::vector<row_evidence>& rows, const row_groups& groups) {
  constexpr size_t enough_groups = 3, enough_rows = 6;
  std::vector<double> logs, errors2, middles, within, drifts;
  for (const row_evidence& one : rows) {
    logs.push_back(one.log());
    errors2.push_back(one.error2());
  }
  for (const std::vector<size_t>& group : groups) {
    const double middle = median_of(of_group(group, logs));
    middles.push_back(middle);
    // The middle has taken its part of the scatter.
    for (const size_t i : group) within.push_back((logs[i] - middle) * unbiased(group.size()));
    for (size_t document = 0; document < 2; ++document) {
      std::vector<double> halves;
      for (const size_t i : group) {
        if (rows[i].drifts.size() == 2) halves.push_back(rows[i].drifts[document]);
      }
      if (!halves.empty()) drifts.push_back(median_of(halves));
    }
  }
  run_scatter found;
  if (rows.size() - groups.size() >= enough_rows) {
    found.row = estimate_from(within, static_cast<double>(rows.size() - groups.size()));
    found.row.variance = std::max(0.0, found.row.variance - median_of(errors2));
  }
  if (groups.size() >= enough_groups) {  // few, and so not as if some did not count
    const double deviation = summarize(middles).stddev;
    found.group = {deviation * deviation, static_cast<double>(groups.size() - 1)};
  }
  if (!drifts.empty()) {
    const estimate drift = estimate_from(drifts, static_cast<double>(drifts.size()));
    if (drift.variance > found.group.variance || found.group.freedom == 0) found.group = drift;
  }
  if (found.row.freedom == 0) found.row = {0, found.group.freedom};
  return found;
}

/// From how a row's ratios lie about their mean over the pairs: what the rows of a group share, and what they do not.
run_scatter scatter_over_pairs(const std::vector<row_evidence>& rows, const row_groups& groups, size_t pairs) {
  std::vector<double> middles, within;
  for (size_t pair = 0; pair < pairs; ++pair) {
    for (const std::vector<size_t>& group : groups) {
      std::vector<double> distances;
      for (const size_t i : group) distances.push_back((rows[i].logs[pair] - rows[i].log()) * unbiased(pairs));
      const double middle = median_of(distances);
      middles.push_back(middle);
      for (const double one : distances) within.push_back((one - middle) * unbiased(group.size()));
    }
  }
  const auto free = static_cast<double>(pairs - 1);
  run_scatter found;
  found.group = estimate_from(middles, free * static_cast<double>(groups.size()));
  if (rows.size() > groups.size()) {
    found.row = estimate_from(within, free * static_cast<double>(rows.size() - groups.size()));
  }
  return found;
}

/// How much a row drifts within its runs, beyond the error of its rounds: some methods wander more than others.
double variance_of_drift(const row_evidence& one) {
  double sum = 0;
  for (const double drift : one.drifts) sum += drift * drift;
  // A half has twice the variance of the whole, a difference of two halves four times, and error2 is that of two runs.
  return one.drifts.empty() ? 0 : std::max(0.0, sum / static_cast<double>(one.drifts.size()) - 2 * one.error2());
}

double variance_over_pairs(const row_evidence& one) {
  double sum = 0;
  for (const double log : one.logs) sum += (log - one.log()) * (log - one.log());
  return sum / static_cast<double>(one.logs.size() - 1);
}

/// The degrees of freedom of a sum of estimated variances, by Welch and Satterthwaite.
double freedom_of_sum(const std::vector<estimate>& parts) {
  double sum = 0, weights = 0;
  for (const estimate& one : parts) {
    sum += one.variance;
    if (one.freedom > 0) weights += one.variance * one.variance / one.freedom;
  }
  return weights > 0 ? std::max(1.0, sum * sum / weights) : 1e6;
}

void judge_all(std::vector<row_change*>& comparable, const std::vector<row_evidence>& evidence,
               const row_groups& groups, size_t pairs, const comparison_rule& rule, document_comparison& found) {
  if (comparable.empty()) return;
  const run_scatter scatter =
      pairs > 1 ? scatter_over_pairs(evidence, groups, pairs) : scatter_over_rows(evidence, groups);
  const double tail = (1 - rule.confidence) / 2 / static_cast<double>(comparable.size());
  const bool known = scatter.group.freedom > 0;
  if (known) found.run_to_run = std::sqrt((scatter.row.variance + scatter.group.variance) / 2);
  for (size_t i = 0; i < comparable.size(); ++i) {
    row_change& change = *comparable[i];
    const row_evidence& one = evidence[i];
    change.ratio = std::exp(one.log());
    if (!known) {
      change.reason = "too few rounds to tell how much runs differ";
      continue;
    }
    if (!change.reason.empty()) continue;  // disturbed
    estimate own = scatter.row;
    if (pairs == 1) own.variance = std::max(own.variance, variance_of_drift(one));
    if (pairs > 1)
      own.variance = std::max({own.variance, one.error2(), variance_over_pairs(one) - scatter.group.variance});
    const std::vector<estimate> parts{{pairs > 1 ? 0 : one.error2(), 0}, own, scatter.group};
    double variance = 0;
    for (const estimate& part : parts) variance += part.variance;
    const double half =
        student_quantile(freedom_of_sum(parts), tail) * std::sqrt(variance / static_cast<double>(pairs));
    change.between = interval{std::exp(one.log() - half), std::exp(one.log() + half)};
    change.what = judge_ratio(change.between, rule.least_effect);
  }
}

/// Why one pair of runs tells nothing of a device; empty if it does. On processors a thread that spins keeps its core
/// or loses it for time slices, as the scheduler has it in that run, and the rounds of one run show nothing of that.
std::string why_one_pair_tells_nothing(const document_pairs& pairs, const std::string& device) {
  if (pairs.size() > 1) return "";
  for (const document* one : {pairs.front().first, pairs.front().second}) {
    const std::string disturbed = disturbance_of(*one, device);
    if (!disturbed.empty()) return disturbed;
  }
  return is_processor(*pairs.front().first, device) ? "one pair of runs on processors tells nothing" : "";
}

row_groups groups_of(const std::vector<row_change*>& rows) {
  std::map<question, size_t> index_of;
  row_groups groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [found, added] = index_of.try_emplace(question_of(*rows[i]->before), groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  return groups;
}

/// The rows of one pair, by what they are of.
struct index_pair {
  row_index before, after;
};

/// What the pairs say of a row of theirs; without rows if no pair has both. Every pair is looked at, whatever another
/// says: what broke in one has broken.
row_change change_of(const row& entry, const std::vector<index_pair>& indices, row_evidence& known) {
  row_change change;
  std::string why_broke;
  bool all_right = true, in_all = true;
  for (const index_pair& one : indices) {
    const row* before = find(one.before, entry);
    const row* after = find(one.after, entry);
    if (before == nullptr || after == nullptr) {
      in_all = false;
      continue;
    }
    if (change.before == nullptr) std::tie(change.before, change.after) = std::pair(before, after);
    const std::string why = obstacle(*before, *after);
    const bool broke = is_right(*before) && !is_right(*after);
    if (broke && !change.broke) why_broke = why;
    change.broke = change.broke || broke;
    change.mended = change.mended || (!is_right(*before) && is_right(*after));
    change.in_noise = change.in_noise || (has_time(*before) && has_time(*after) &&
                                          (is_lost_in_noise(*before) || is_lost_in_noise(*after)));
    all_right = all_right && is_right(*before) && is_right(*after) && !has_time(*before) && !has_time(*after);
    if (change.reason.empty()) change.reason = why;
    if (why.empty()) add_pair(*before, *after, known);
  }
  change.in_noise = change.in_noise && !change.broke && !change.mended;
  change.right = all_right && in_all;
  if (change.broke) {
    change.reason = why_broke;
  } else if (!in_all) {
    change.reason = "not in every document";
  }
  return change;
}

/// The rows of the documents before, or after, of all pairs, each once.
std::vector<const row*> rows_of(const document_pairs& pairs, const document* document_pairs::value_type::*side) {
  std::vector<const row*> rows;
  row_index seen;
  for (const auto& pair : pairs) {
    for (const row& entry : (pair.*side)->rows) {
      if (!is_published(entry) && seen.try_emplace(key_of(entry), &entry).second) rows.push_back(&entry);
    }
  }
  return rows;
}

}  // namespace

document_comparison compare_documents(const document_pairs& pairs, const comparison_rule& rule) {
  document_comparison found;
  found.pairs = pairs.size();
  std::vector<index_pair> indices;
  for (const auto& [before, after] : pairs) indices.push_back({index_of(*before), index_of(*after)});

  std::vector<std::pair<size_t, row_evidence>> evidence;  // of which change
  for (const row* entry : rows_of(pairs, &document_pairs::value_type::first)) {
    row_evidence known;
    row_change change = change_of(*entry, indices, known);
    if (change.after == nullptr) {
      found.only_before.push_back(entry);
      continue;
    }
    if (change.reason.empty()) {
      evidence.emplace_back(found.changes.size(), std::move(known));
      change.reason = why_one_pair_tells_nothing(pairs, entry->device);
    }
    found.changes.push_back(std::move(change));
  }
  for (const row* entry : rows_of(pairs, &document_pairs::value_type::second)) {
    const bool is_new = std::ranges::none_of(indices, [&](const auto& one) { return find(one.before, *entry); });
    if (is_new) found.only_after.push_back(entry);
  }
  std::vector<row_change*> comparable;
  std::vector<row_evidence> known;
  for (auto& [which, one] : evidence) {
    comparable.push_back(&found.changes[which]);
    known.push_back(std::move(one));
  }
  judge_all(comparable, known, groups_of(comparable), pairs.size(), rule, found);
  return found;
}

bool has_regressed(const document_comparison& found) {
  return std::ranges::any_of(
      found.changes, [](const row_change& change) { return change.broke || change.what == difference::slower; });
}

bool has_compared(const document_comparison& found) {
  return std::ranges::any_of(found.changes, [](const row_change& change) {
    return change.is_of_times() || change.broke || change.mended || change.right;
  });
}

}  // namespace gpusync::tool
