// Two result documents, before and after, row by row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/interval.hpp"
#include "results/document.hpp"

namespace gpusync::tool {

/// What became of one row.
struct row_change {
  const row* before = nullptr;  ///< of the first pair that has both
  const row* after = nullptr;
  std::optional<double> ratio;      ///< of the times, after over before; of several pairs the geometric mean
  std::optional<interval> between;  ///< holds the true ratio, together with those of all other rows
  difference what = difference::unclear;
  bool in_noise = false;  ///< a time of it could not be told from nothing: what became of it is unclear
  bool broke = false;     ///< in some pair it was ok and is not any more
  bool mended = false;    ///< in some pair it was not, and is now
  bool right = false;     ///< no times, and in every pair it was ok before and after
  std::string reason;     ///< why nothing can be said, in words; empty where a ratio is

  /// Whether its times were compared, whatever came out.
  bool is_of_times() const { return ratio || in_noise; }
};

struct comparison_rule {
  double least_effect = usual_least_effect;
  /// That no row is called faster or slower which is not, of all together.
  double confidence = usual_confidence;
};

struct document_comparison {
  std::vector<row_change>
      changes;  ///< of rows that both documents of a pair have, in the order of the documents before
  std::vector<const row*> only_before, only_after;  ///< of others
  /// The standard deviation by which a time differs between two runs of the same program, as a part of it, drawn from
  /// the documents; empty if nothing tells it.
  std::optional<double> run_to_run;
  uint64_t pairs = 1;
};

/// Pairs of documents, each of one program before and one after a change, best measured in turns. Rows are the same if
/// experiment, device, axes and method are; what papers have printed is left out, and so are rows that measure no
/// times.
///
/// Two runs of one program differ by more than their rounds show: memory lies elsewhere, clocks and other work have
/// changed. So the variance of a row's ratio is that of its medians (headline_error()) and in addition what differs
/// between runs. With several pairs that is the scatter of the row's ratios over the pairs, but no less than the usual
/// row's. With one pair it has two parts: how rows scatter about the middle of their group (or how the row drifts
/// within its runs, if that is more), those measured in the same seconds, and how groups scatter about the middle of
/// all, or how the first and last halves of their rounds differ if that is more. Intervals are Student's, with degrees
/// of freedom by Welch and Satterthwaite, at a level of 1 - (1 - confidence) / rows, so that all hold together. Of a
/// device that other programs disturbed (disturbance_of()), and of the machine's own processors, one pair tells
/// nothing.
///
/// Precondition: pairs is not empty; the documents outlive the result.
document_comparison compare_documents(const std::vector<std::pair<const document*, const document*>>& pairs,
                                      const comparison_rule& rule = {});

/// Whether anything is slower or broke.
bool has_regressed(const document_comparison& found);

/// Whether anything was compared: times, or what was ok before or after.
bool has_compared(const document_comparison& found);

}  // namespace gpusync::tool
