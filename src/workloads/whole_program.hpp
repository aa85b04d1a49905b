// A computation that is run whole, from its input to its result, under some way to pass from step to step: what
// experiments on applications time. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/interruption.hpp"
#include "workloads/step_program.hpp"

namespace gpusync::tool {

/// What a run has found besides being right or wrong, by name: a score, a position. Empty: there is none.
using findings = std::vector<std::pair<std::string, std::optional<double>>>;

/// A prepared computation: memory allocated, kernels compiled, graphs instantiated.
class whole_program {
 public:
  virtual ~whole_program() = default;
  /// Computes once, from a fresh copy of the input, and returns the nanoseconds from the first step to the last: on the
  /// device's own timer, or on the host's where the method involves the host. Blocking. The whole result is checked
  /// before it returns; checking is not in the figure. Throws gpusync::error if the device fails.
  virtual double run() = 0;
  /// Lets runs end before they are done: those whose steps the host carries out ask `interrupted` now and then, from
  /// any of their threads, and throw run_interrupted once it has said yes. Runs of a device's own are soon over.
  virtual void end_when(std::function<bool()> interrupted) { (void)interrupted; }
  /// What the checks of all runs so far have found.
  virtual verification verify() const = 0;
  /// What the last run has found.
  virtual findings found() const { return {}; }
};

/// A method that no workload lists, and that computations in steps on CUDA and on host threads have nevertheless: one
/// kernel that waits for nothing between its steps. Tests see with it that checks find what a barrier prevents.
inline constexpr const char* no_barrier_method = "no-barrier";

/// A computation on one device.
class whole_workload {
 public:
  virtual ~whole_workload() = default;
  /// Every method that this computation has on this device.
  virtual std::vector<step_method> methods() const = 0;
  /// A program for one method and shape (blocks and threads; the rest of the shape says nothing here); it must not
  /// outlive the workload. Throws gpusync::error when the device cannot run it (the row is skipped with that sentence
  /// as its reason). Programs of one workload share its memory: one runs at a time.
  virtual std::unique_ptr<whole_program> prepare(const step_method& method, const step_shape& shape) = 0;
  /// The most blocks of `threads` threads that run at once under all of these methods; UINT64_MAX if none of them needs
  /// that.
  virtual uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) = 0;
};

/// What came of comparing one run's result with what the host computed.
struct comparison {
  uint64_t checked = 0;  ///< values compared
  uint64_t wrong = 0;    ///< of which wrong
};

/// What the programs of one workload work on.
class run_data {
 public:
  virtual ~run_data() = default;
  /// Makes everything as it is before the first step. Complete when it returns.
  virtual void reset() = 0;
  /// Compares the whole result of the run since reset(). Precondition: the run has ended.
  virtual comparison check() = 0;
  /// How check() does that, in words.
  virtual std::string how() const = 0;
  /// What the run that was checked last has found.
  virtual findings found() const { return {}; }
};

/// What all programs have in common, whatever device they run on.
class checked_program : public whole_program {
 public:
  explicit checked_program(std::shared_ptr<run_data> data) : data_(std::move(data)) {}

  void end_when(std::function<bool()> interrupted) override { interrupted_ = std::move(interrupted); }

  double run() override {
    data_->reset();
    const double elapsed = compute();
    const comparison result = data_->check();
    runs_ += 1;
    checked_ += result.checked;
    wrong_ += result.wrong;
    found_ = data_->found();
    return elapsed;
  }

  verification verify() const override {
    verification all;
    all.performed = runs_ > 0;
    all.checked = checked_;
    all.wrong = wrong_;
    all.how = data_->how() + ", in each of " + std::to_string(runs_) + " runs";
    return all;
  }
  findings found() const override { return found_; }

 protected:
  /// All steps; returns their nanoseconds.
  virtual double compute() = 0;
  /// Whether the run is to end early.
  bool is_interrupted() const { return interrupted_ && interrupted_(); }

 private:
  std::shared_ptr<run_data> data_;
  std::function<bool()> interrupted_;
  uint64_t runs_ = 0, checked_ = 0, wrong_ = 0;
  findings found_;
};

}  // namespace gpusync::tool
