// Rows and figures from what was measured: the one way to make them.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "boundary/program.hpp"
#include "harness/experiment.hpp"
#include "measure/comparison.hpp"
#include "models/fits.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {

/// A row of a method on the request's device, about which nothing is known yet.
row new_row(const char* experiment, const experiment_request& request, const step_method& method);
/// The same of a method that is no step_method.
row new_row(const char* experiment, const experiment_request& request, const std::string& method, method_kind kind);

/// `scale * values[i] / base[i]` by round, as a metric of unit 1; rounds whose base is 0 say nothing. Both of one
/// comparison.
metric ratio_of(const std::vector<double>& values, const std::vector<double>& base, double scale = 1);

/// The clock of a device's multiprocessors in MHz, measured now; empty if it cannot be. A device that is stuck or has
/// failed has none: its rows say why.
std::optional<double> clock_seen(const device_description& device);

/// Marks a row as skipped if the device refused the launch (it would not fit) or is stuck in one before it, as failed
/// for anything else that was thrown, with the sentence as the reason.
void mark_thrown(row& entry, const std::exception_ptr& thrown);

/// The same for what preparing a program has thrown: any gpusync::error is a refusal, unless a call of a runtime
/// failed.
void mark_not_prepared(row& entry, const std::exception_ptr& thrown);

/// Marks a row as skipped for that reason.
void mark_skipped(row& entry, const std::string& reason);

/// Marks a row of which nothing was measured when the user ended the run: it is left out of documents. `before`: "a
/// first sample".
void mark_interrupted(row& entry, const std::string& before);

/// Fills a row in by `work`; what that throws of gpusync::error is the row's reason, as mark_thrown() has it. On a
/// stuck device nothing is done.
void fill_in(row& entry, const std::function<void()>& work);

/// Calls `body(one, progress)` for each case, as for_each_case() does; returns the rows that `body` has handed over and
/// returns, and those of cases that were recalled.
template <class Case, class Label, class Body>
std::vector<row> rows_of_cases(const std::vector<Case>& cases, const experiment_sink& sink, const Label& label,
                               const Body& body) {
  std::vector<row> rows;
  experiment_sink own = sink;
  if (sink.recall) {
    own.recall = [&](const std::string& what) {
      const std::optional<std::vector<row>> found = sink.recall(what);
      if (found) rows.insert(rows.end(), found->begin(), found->end());
      return found;
    };
  }
  for_each_case(cases, own, label, [&](const Case& one, const auto& progress) {
    std::ranges::move(body(one, progress), std::back_inserter(rows));
  });
  return rows;
}

/// The same for each sweep; hands over the fits of its rows.
template <class Case, class Label, class Body>
void for_each_sweep(const std::vector<std::vector<Case>>& sweeps, const experiment_sink& sink, const Label& label,
                    const Body& body) {
  for (size_t i = 0; i < sweeps.size() && !sink.interrupted(); ++i) {
    experiment_sink own = sink;
    own.progress = part_of(sink.progress, i, sweeps.size());
    add_all(fits_of(rows_of_cases(sweeps[i], own, label, body)), sink);
  }
}

/// Marks a row as verified, or as failed for that reason.
void mark_verified(row& entry, bool right, const std::string& reason);

/// Fills in what a check of words has found: verified or failed.
void mark_checked(row& entry, uint64_t checked, uint64_t wrong, const std::string& how);

}  // namespace gpusync::tool
