// What an experiment is, and the list of them all.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "harness/axis.hpp"
#include "results/row.hpp"

namespace gpusync::tool {

struct document;

/// What the user asked of one experiment on one device.
struct experiment_request {
  device_description device;
  axis_choice axes;
  bool quick = false;
  bool keep_samples = false;
  bool wants_matches = false;  ///< experiment_sink::matches is there
};

/// Where an experiment puts what it finds, and what it asks while it runs.
struct experiment_sink {
  /// Takes a finished row. `claims_correctness` is false for methods that are known to give wrong results: a failed
  /// check is their finding then, not a failure of the run.
  std::function<void(row, bool claims_correctness)> add;
  /// Called often: the part of the work that is done (0..1), and what is being done.
  std::function<void(double fraction, const std::string& what)> progress;
  /// True once the user wants to stop; the experiment returns soon, with the rows that it has finished.
  std::function<bool()> interrupted;
  /// Asked before each case, with what it is in words: the rows that it had in a run that was cut short, which are
  /// handed over again; empty: it is to be measured. Null: there was no such run.
  std::function<std::optional<std::vector<row>>(const std::string& what)> recall = nullptr;
  /// Told behind each case that was measured to its end, after its rows; may be null.
  std::function<void()> done = nullptr;
  /// Takes the text of an experiment that finds matches (experiment::finds_matches), once; null if nobody wants it.
  std::function<void(const std::string& text)> matches = nullptr;
  /// For an experiment that judges rows of others: those that the run has so far. Null: it measures what it needs.
  const std::vector<row>* so_far = nullptr;
};

/// About the longest that a case takes, in seconds: its time budget, and what comes before.
struct case_time {
  double full, quick;
};
/// What a quick case of most experiments stays within, in seconds.
inline constexpr double usual_quick_case = 3;

/// What an experiment has measured on one device: rows that are ok, but for lines through others. The document outlives
/// it.
struct measured_rows {
  const document& results;
  std::string device;
  std::vector<const row*> rows;
};

/// What an experiment asks of a request beyond its axes' bounds.
struct request_check {
  /// Checks what only a device can say (say, the names of methods). Throws usage_error. Null: there is nothing to
  /// check.
  std::function<void(const experiment_request&)> check = nullptr;
  /// What axis `method` takes on a device; null if there is no such axis, or other axes say what it takes. Throws
  /// gpusync::error.
  std::function<std::vector<std::string>(const device_description&)> method_names = nullptr;
};

/// One experiment. The file that implements it registers it; see register_experiment.
struct experiment {
  std::string name;
  std::string question;            ///< one line: what it answers
  std::vector<std::string> items;  ///< paper items that it covers
  std::vector<device_kind> devices;
  std::vector<axis> axes;
  /// Measures. A combination that cannot run is a skipped row, a check that fails is a failed row; what it throws ends
  /// the command.
  std::function<void(const experiment_request&, const experiment_sink&)> run;
  /// Called for all devices before anything is measured.
  request_check request = {};
  case_time longest_case{9, 2.5};
  /// What it has found in one sentence of at most 25 words, made by answer_in(); empty if its rows say nothing. Null:
  /// the verdict on its times (results/verdict.hpp).
  std::string (*answer)(const measured_rows&) = nullptr;
  /// Whether it finds matches of sequences, as a text that people ask for by --matches.
  bool finds_matches = false;
  /// Whether it judges rows of other experiments, if the sink has them: then it comes last, and takes no time.
  bool judges_rows = false;
};

/// Hands over rows that claim to be right.
void add_all(const std::vector<row>& rows, const experiment_sink& sink);

/// Registers an experiment; called during static initialization.
struct register_experiment {
  explicit register_experiment(experiment which);
};

/// All experiments by name.
std::vector<const experiment*> all_experiments();
/// The experiment with this name. Throws usage_error naming those that there are.
const experiment& find_experiment(const std::string& name);

/// The progress of part `i` of `parts`, told to `progress`, which must outlive it; what is being done is handed on.
template <class Progress>
auto part_of(const Progress& progress, size_t i, size_t parts) {
  return [&progress, i, parts](double fraction, const auto&... doing) {
    progress((static_cast<double>(i) + fraction) / static_cast<double>(parts), doing...);
  };
}

/// Calls `body(one, progress)` for each case that the sink does not recall until the user wants to stop;
/// `progress(fraction)` of one case becomes that of all of them, with `label(one)` in words; `progress(fraction,
/// doing)` says more.
template <class Case, class Label, class Body>
void for_each_case(const std::vector<Case>& cases, const experiment_sink& sink, const Label& label, const Body& body) {
  for (size_t i = 0; i < cases.size() && !sink.interrupted(); ++i) {
    if (sink.recall && sink.recall(label(cases[i]))) continue;
    const auto part = part_of(sink.progress, i, cases.size());
    body(cases[i], [&](double fraction, const std::string& doing = "") {
      part(fraction, label(cases[i]) + (doing.empty() ? "" : ", " + doing));
    });
    if (sink.done && !sink.interrupted()) sink.done();
  }
}

}  // namespace gpusync::tool
