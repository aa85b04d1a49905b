// What an experiment is, and the list of them all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "experiments/axis.hpp"
#include "results/document.hpp"

namespace gpusync::tool {

/// What the user asked of one experiment on one device.
struct experiment_request {
  device_description device;
  axis_choice axes;
  bool quick = false;
  bool keep_samples = false;
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
};

/// One experiment. Registers itself; see register_experiment.
class experiment {
 public:
  virtual ~experiment() = default;
  virtual std::string name() const = 0;
  virtual std::string title() const = 0;               ///< one line: the question that it answers
  virtual std::vector<std::string> items() const = 0;  ///< paper items that it covers
  virtual std::vector<device_kind> devices() const = 0;
  virtual std::vector<axis> axes() const = 0;
  /// Checks what only a device can say (say, the names of methods). Throws usage_error. Called for all devices before
  /// anything is measured.
  virtual void check(const experiment_request& request) const = 0;
  /// Measures. A combination that cannot run is a skipped row, a check that fails is a failed row; what the experiment
  /// throws ends the command.
  virtual void run(const experiment_request& request, const experiment_sink& sink) const = 0;
};

/// Registers an experiment; called during static initialization by the file that implements it.
struct register_experiment {
  explicit register_experiment(std::unique_ptr<experiment> which);
};

/// All experiments by name.
std::vector<const experiment*> all_experiments();
/// The experiment with this name. Throws usage_error naming those that there are.
const experiment& find_experiment(const std::string& name);

}  // namespace gpusync::tool
