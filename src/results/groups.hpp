// Rows that answer the same question: the same experiment on the same device with the same axes, one row per
// method.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "results/document.hpp"

namespace gpusync::tool {

/// What rows that are compared with one another have in common: experiment, device, axes.
using question = std::tuple<std::string, std::string, axis_values>;
/// That of a row.
question question_of(const row& entry);

/// Rows to compare with one another. The rows belong to the document, which must outlive the group.
struct row_group {
  std::string experiment;
  std::string device;
  axis_values axes;
  std::vector<const row*> rows;
};

/// The document's rows in groups, in the order in which each group first appears.
std::vector<row_group> group_rows(const document& results);

/// The metric that methods are compared by: "step_time", or else the row's first; null if the row has none.
const metric* headline_metric(const row& entry);

/// The figure of that metric; empty if it was not measured.
std::optional<double> headline_value(const row& entry);

/// Whether the row is the floor: the work alone, without any waiting. It is no way to wait, so it never wins.
bool is_floor(const row& entry);

/// Whether its time was measured and cannot be told from nothing: there are samples, and no figure. Nothing is wrong
/// with the row then, whether it is ok (the work alone may be nothing) or skipped.
bool is_lost_in_noise(const row& entry);

/// The value on an axis; null if there is no such axis.
const axis_value* find_axis(const axis_values& axes, const std::string& name);

/// The value of a metric; empty if there is none.
std::optional<double> value_of(const row& entry, const std::string& metric);

/// Whether its times may be used: its results are right, or wrong and nobody said that they would be right. What is
/// asked of a method that orders no data is how long it takes.
bool has_usable_times(const row& entry);

/// How the device and the method of a row begin that was not measured here but printed in a paper.
inline constexpr const char* published_device = "published: ";
inline constexpr const char* published_method = "published-";

/// Whether the row is such a one, or drawn from such ones.
bool is_published(const row& entry);

/// The method that a row is of, whoever measured it: without `published_method`.
std::string method_of(const row& entry);

/// Whether a method of ours is the one that a paper calls `printed`: the same, or the same with the default ordering.
bool is_printed_method(const std::string& method, const std::string& printed);

/// The method, called `name`, that stands for the papers' "CPU synchronization": the first that launches for each step,
/// or else the first for which the host waits; empty if there is none. Of rows, or of methods themselves.
template <class Methods, class Name>
std::string launch_for_each_step(const Methods& methods, const Name& name) {
  for (const method_kind kind : {method_kind::launch, method_kind::host_wait}) {
    for (const auto& one : methods) {
      if (one.kind == kind) return std::invoke(name, one);
    }
  }
  return "";
}

/// Whether the row may win: measured, its result verified, its status ok, neither the floor nor without ordering.
bool is_contender(const row& entry);

/// The group's rows as a table shows them: those with a figure by rising figure, then failed rows, then
/// skipped ones.
std::vector<const row*> by_figure(const row_group& group);

/// The group's fastest contender; null if there is none.
const row* fastest_contender(const row_group& group);

/// The axes in words: "132 blocks of 256 threads, stores in flight", "70 work-groups of 64 work-items"; other axes as
/// "elements 65536".
std::string axes_in_words(const axis_values& axes);

/// The axis `name` as a number; empty if it is missing or a word.
std::optional<int64_t> axis_number(const axis_values& axes, const std::string& name);

}  // namespace gpusync::tool
