// Computations in steps, with something between the steps that lets blocks wait for each other: what experiments time.
// C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gpusync/core/error.hpp>
#include <gpusync/grid/counter_plan.hpp>

#include "boundary/method_kind.hpp"
#include "devices/device.hpp"
#include "measure/interruption.hpp"
#include "measure/stuck_launch.hpp"

namespace gpusync::tool {

/// What a step looks like.
struct step_shape {
  uint32_t blocks = 1;
  uint32_t threads = 1;  ///< per block
  bool stores = false;   ///< every step writes one word per thread, which another block reads and checks after it
};

/// Threads of a shape. Throws invalid_argument if there are none, or so many that two words for each cannot be numbered
/// in 32 bits.
uint32_t elements_of(const step_shape& shape);

/// Throws invalid_argument for blocks that are not whole warps of so many threads.
void require_whole_warps(const step_shape& shape, uint32_t warp_size = 32);

/// Those of some counts that are from 1 to `most`, in order, each once.
std::vector<uint32_t> distinct(std::vector<uint32_t> counts, uint32_t most = UINT32_MAX);

/// A way to pass from one step to the next.
struct step_method {
  std::string name;                ///< in results: "cg", "lock-based-acquire-release", "relaunch"
  std::string title;               ///< in words: "stream relaunch"
  std::vector<std::string> items;  ///< paper items that it reproduces
  method_kind kind = method_kind::barrier;
  bool ordered = true;              ///< false if what is read after it may be stale: its results prove nothing
  bool needs_co_residency = false;  ///< all blocks must run at once
  uint32_t cluster = 1;             ///< blocks per thread block cluster
  /// For placed counters: the plan to follow instead of the device's tuned one.
  std::optional<grid::counter_plan> plan = std::nullopt;
  /// The barrier that blocks wait by, as its registry calls it; empty if the method is called so itself, or has none.
  std::string barrier = {};
  /// For barriers and objects: not this library's own, but what its are compared with.
  bool rival = false;
};

/// The barrier of a method of that kind, as its registry calls it.
inline const std::string& barrier_name_of(const step_method& method) {
  return method.barrier.empty() ? method.name : method.barrier;
}

/// Whether a method is what people use without this library. Launches and graphs always are.
inline bool is_rival(const step_method& method) {
  return method.rival || method.kind == method_kind::host_wait || method.kind == method_kind::launch ||
         method.kind == method_kind::graph;
}

/// Names of methods that every device may have, and of the barrier that the others are compared with.
namespace method_names {
inline constexpr const char *none = name_of_floor, *host_wait = "launch-wait", *relaunch = "relaunch",
                            *cooperative = "cooperative-relaunch", *graph = "graph", *dependent_graph = "graph-pdl",
                            *late_dependent_graph = "graph-pdl-late", *while_graph = "graph-while";
/// This library's default barrier on GPUs, as its registry names it.
inline constexpr const char* default_barrier = "placed-counters-acquire-release";
}  // namespace method_names

/// What a check of the computed result found.
struct verification {
  bool performed = false;
  uint64_t checked = 0;  ///< values compared
  uint64_t wrong = 0;    ///< of which wrong
  std::string how;       ///< in words
};

/// What a run has found besides being right or wrong, by name: a score, a position. Empty: there is none.
using findings = std::vector<std::pair<std::string, std::optional<double>>>;

/// Device memory of a program's barrier, in bytes.
struct program_memory {
  uint64_t algorithm = 0;  ///< its own words; 0 where there is no barrier
  uint64_t barrier = 0;    ///< these, and what finds out about residency and time-outs
  uint64_t allocated = 0;  ///< what the device says of the same
};

/// What one run took, in nanoseconds.
struct run_times {
  double host = 0;    ///< host's clock: before the first command is enqueued, after the last has been waited for
  double device = 0;  ///< device's: start of the first command to end of the last
};

/// A prepared computation: memory allocated, kernels compiled.
class program {
 public:
  virtual ~program() = default;
  /// Runs `steps` steps, a multiple of steps_unit(), and returns the nanoseconds that they took on the device's own
  /// timer, or on the host's where the method involves the host. Blocking. Every run is checked before it returns;
  /// checking is not in the figure. Throws gpusync::error if the device fails.
  virtual double run(uint64_t steps) = 0;
  /// Steps come in multiples of this. Where every run computes the whole from a fresh copy of the input, the steps of
  /// one such run.
  virtual uint64_t steps_unit() const = 0;
  /// No run should be longer.
  virtual uint64_t most_steps() const { return 1u << 20; }
  /// What all runs so far have computed, compared with what they should have.
  virtual verification verify() = 0;
  /// What the last run has found.
  virtual findings found() const { return {}; }
  /// What the last run took on both clocks; 0 where that is not measured.
  virtual run_times times() const { return {}; }
  virtual program_memory memory() const { return {}; }
  /// Takes other memory for the words that are waited on, as another process might have got it: how long a message
  /// takes hangs on where its word lies. Told before each turn of a comparison; no run is under way.
  virtual void place_anew() {}
  /// Lets runs end before they are done: those whose steps the host carries out ask `interrupted` now and then, from
  /// any of their threads, and throw run_interrupted once it has said yes. Runs of a device's own are soon over.
  virtual void end_when(std::function<bool()> interrupted) { (void)interrupted; }

  /// The shortest run.
  double run() { return run(steps_unit()); }
};

/// What a device's grids are made of, as far as the tuning of barriers asks for it.
struct grid_facts {
  uint32_t sms = 1;  ///< multiprocessors
  uint32_t threads_per_sm = 1;
  bool l2_partitions = false;  ///< an L2 cache of two partitions was found
  double near_cycles = 0;      ///< an atomic's round trip to the own partition, if there are two
  double far_cycles = 0;       ///< and to the other
};

/// A computation on one device.
class workload {
 public:
  virtual ~workload() = default;
  /// Every method that it has on this device, the floor, if there is one, first.
  virtual std::vector<step_method> methods() const = 0;
  /// A program for one method and shape; it must not outlive the workload. Throws gpusync::error when the device cannot
  /// run it (the row is skipped with that sentence as its reason). Programs of one workload may share its memory: one
  /// runs at a time.
  virtual std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) = 0;
  /// The most blocks of `threads` threads that run at once under all of these methods; UINT64_MAX if none of them needs
  /// that.
  virtual uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) = 0;
  /// Under all methods that need it.
  uint64_t max_co_resident(uint32_t threads) { return max_co_resident(methods(), threads); }
  /// Values that an experiment sweeps when the user names none: of blocks and of threads per block.
  virtual std::vector<uint32_t> default_blocks(bool quick) {
    (void)quick;
    return {};
  }
  virtual std::vector<uint32_t> default_threads(bool quick) {
    (void)quick;
    return {};
  }
  virtual grid_facts facts() { return {}; }
};

/// A program whose runs are not made of steps, but are what is measured.
class run_program : public program {
 public:
  double run(uint64_t runs) override {
    double elapsed = 0;
    for (uint64_t i = 0; i < runs; ++i) elapsed += run_once();
    return elapsed;
  }
  using program::run;
  uint64_t steps_unit() const override { return 1; }

 protected:
  virtual double run_once() = 0;
};

/// What came of comparing a run's result with what it should be.
struct check_result {
  uint64_t checked = 0;  ///< values compared
  uint64_t wrong = 0;    ///< of which wrong
};

/// What the programs of one workload work on.
class run_data {
 public:
  virtual ~run_data() = default;
  /// Makes everything as it must be before the first step of a run. Complete when it returns.
  virtual void reset() = 0;
  /// Compares the result of the run since reset(), of `steps` steps. Precondition: the run has ended.
  virtual check_result check(uint64_t steps) = 0;
  /// Compares what the last run left, where check() looks at less than that. Asked when all runs are over.
  virtual check_result check_last() { return {}; }
  /// How that is done, in words.
  virtual std::string how() const = 0;
  /// What the run that was checked last has found.
  virtual findings found() const { return {}; }
};

/// The steps of a computation, as far as whoever carries them out must know.
struct step_sequence {
  /// In the place of a step's number: it does nothing.
  static constexpr uint32_t idle = UINT32_MAX;

  uint32_t count = 1;  ///< whole: steps of a run; else runs are multiples of it
  bool whole = false;  ///< every run computes the whole, from a fresh copy of the input
  uint32_t least = 1;  ///< steps of a run, if it is not whole
  /// What the s-th of a run's `steps` steps is told. Empty: s.
  std::function<uint32_t(uint32_t s, uint32_t steps)> number = {};
  /// Steps of a graph that is replayed, if it is not whole; 0: as many as are right for short ones.
  uint32_t nodes = 0;
  uint32_t most = 1u << 20;  ///< steps of a run

  /// A computation from its input to its result.
  static step_sequence of_whole(uint32_t steps) { return {steps, true, 0}; }

  /// Steps after which a computation that ends by itself, and does not, is given up.
  uint32_t limit() const { return 2 * count; }
  uint32_t number_of(uint32_t s, uint32_t steps) const { return number ? number(s, steps) : s; }
};

/// What all programs have in common, whatever device they run on.
class checked_program : public program {
 public:
  checked_program(std::shared_ptr<run_data> data, step_sequence steps);

  double run(uint64_t steps) override;
  using program::run;
  uint64_t steps_unit() const override { return unit_; }
  uint64_t most_steps() const override { return steps_.most; }
  verification verify() override;
  findings found() const override { return found_; }
  void end_when(std::function<bool()> interrupted) override { interrupted_ = std::move(interrupted); }

 protected:
  /// Carries out so many steps; returns their nanoseconds.
  virtual double compute(uint32_t steps) = 0;
  /// Steps come in multiples of this besides. To be called by constructors; not for a computation that is whole.
  void require_multiples_of(uint32_t steps);
  /// Makes everything as it was before compute(), which has carried out steps that are not timed.
  void start_again() { data_->reset(); }
  /// Whether the run is to end early.
  bool is_interrupted() const { return interrupted_ && interrupted_(); }
  const step_sequence& steps() const { return steps_; }

 private:
  const std::shared_ptr<run_data> data_;
  const step_sequence steps_;
  uint64_t unit_;
  std::function<bool()> interrupted_;
  uint64_t runs_ = 0;
  check_result all_;
  findings found_;
};

/// The workload of a computation that is the same for all shapes: a host_computation, cuda_computation or
/// opencl_computation.
template <class Computation>
class same_for_all_shapes : public workload {
 public:
  explicit same_for_all_shapes(Computation computation) : computation_(std::move(computation)) {}

  std::vector<step_method> methods() const override { return methods_of(computation_); }
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    return prepare_program(method, shape, computation_);
  }
  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_of(computation_, methods, threads);
  }

 private:
  const Computation computation_;
};
template <class Computation>
std::unique_ptr<workload> workload_of(Computation computation) {
  return std::make_unique<same_for_all_shapes<Computation>>(std::move(computation));
}

/// Opens workload `name` ("average") on a device, as register_side<workload> knows it; kept_if_stuck(). Throws
/// gpusync::error if the device's kind does not have it, or it is stuck.
std::shared_ptr<workload> open_workload(const std::string& name, const device_description& device);

}  // namespace gpusync::tool
