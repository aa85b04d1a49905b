// Experiment barrier-stress: do the grid barriers hold? Phases in great number, in all forms, shapes and parts of
// grids, with blocks that are late now and then; not a measurement.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "experiments/experiment.hpp"
#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/grid_barriers/shapes.hpp"
#include "measure/host_timer.hpp"
#include "usage_error.hpp"
#include "workloads/barrier_stress/barrier_stress.hpp"

namespace gpusync::tool {

namespace {

/// How long launches are to take, in nanoseconds: long enough that their start does not count, short enough to be
/// interrupted between them.
constexpr double launch_ns = 0.3e9;
constexpr uint32_t least_phases = 16, most_phases = 1u << 22;

/// Phases of the next launch: so many that it takes about launch_ns.
class launch_length {
 public:
  /// For a program that still has `left` phases to do and is to pass through all modes.
  uint32_t next(uint64_t share, uint64_t left) const {
    const auto fair = static_cast<double>(share) / 8;
    const double wanted = std::min({phases_, fair, static_cast<double>(left)});
    return static_cast<uint32_t>(std::clamp(wanted, double{least_phases}, double{most_phases}));
  }
  void took(uint32_t phases, double ns) { phases_ = std::min(8.0 * phases, launch_ns / std::max(ns, 1.0) * phases); }

 private:
  double phases_ = 256;  // nothing is known yet
};

class barrier_stress : public experiment {
 public:
  std::string name() const override { return "barrier-stress"; }
  std::string title() const override {
    return "whether the grid barriers hold: phases without end, with late blocks, every word checked";
  }
  std::vector<std::string> items() const override { return {}; }
  std::vector<device_kind> devices() const override { return {device_kind::cuda}; }
  std::vector<axis> axes() const override {
    return {{"phases", "barrier phases in all, spread over methods and shapes; one value", 1, 10'000'000'000, false,
             "1000000; with --quick 20000"},
            shape_axis(fmt::format("{}", fmt::join(usual_shapes(false), ","))),
            {"method", "grid barriers that order data, by name", 0, 0, true, "all"}};
  }

  void check(const experiment_request& request) const override {
    (void)shapes_or(request, usual_shapes(false));
    (void)phases_of(request);
    if (request.axes.words.count("method") != 0) {
      (void)chosen(request, *open_side<barrier_stress_device>(request.device));
    }
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    auto device = open_side<barrier_stress_device>(request.device);
    const std::vector<std::string> methods = chosen(request, *device);
    const std::vector<step_shape> shapes = shapes_or(request, usual_shapes(false));
    const uint64_t combinations = std::max<uint64_t>(1, methods.size() * shapes.size());
    const uint64_t share = (phases_of(request) + combinations - 1) / combinations;
    uint64_t finished = 0;
    bool stuck = false;
    for (const step_shape& shape : shapes) {
      for (const std::string& method : methods) {
        if (sink.interrupted()) break;
        const auto progress = [&](double fraction) {
          sink.progress((static_cast<double>(finished) + fraction) / static_cast<double>(combinations),
                        fmt::format("{} {}", method, to_word(shape)));
        };
        row entry;
        entry.experiment = name();
        entry.device = request.device.id;
        entry.axes = {{"shape", to_word(shape)}};
        entry.method = method;
        if (stuck) {
          entry.status = row_status::skipped;
          entry.reason = "The device is stuck in a launch before this one.";
        } else {
          stuck = !put_under_stress(*device, shape, share, sink, progress, entry);
        }
        sink.add(std::move(entry), true);
        finished += 1;
      }
    }
    if (stuck) (void)device.release();  // to give it back would wait for the launch
  }

 private:
  static uint64_t phases_of(const experiment_request& request) {
    const std::vector<int64_t> phases = request.axes.numbers_or("phases", {request.quick ? 20'000 : 1'000'000});
    if (phases.size() != 1) throw usage_error("Axis phases takes one value: they are spread over methods and shapes.");
    return static_cast<uint64_t>(phases.front());
  }

  static std::vector<std::string> chosen(const experiment_request& request, const barrier_stress_device& device) {
    const std::vector<std::string> all = device.methods();
    return choose_names(request, all, all);
  }

  /// Fills in the row of one barrier on one shape. False if the device is stuck.
  static bool put_under_stress(barrier_stress_device& device, const step_shape& shape, uint64_t share,
                               const experiment_sink& sink, const std::function<void(double)>& progress, row& entry) {
    progress(0);
    std::unique_ptr<stress_program> program;
    stress_count done;
    try {
      program = device.prepare(entry.method, shape.blocks, shape.threads);
      go_through_modes(*program, share, sink, progress);
      done = program->count();
    } catch (const stuck_launch&) {
      mark_thrown(entry, std::current_exception());
      (void)program.release();  // to free its memory would wait for the launch
      return false;
    } catch (const error&) {
      mark_thrown(entry, std::current_exception());
      return true;
    }
    if (done.phases == 0) {
      entry.status = row_status::skipped;
      entry.reason = "Interrupted before it ran.";
      return true;
    }
    const auto count = [](uint64_t value) { return plain_metric(static_cast<double>(value), "1", 1); };
    entry.metrics = {
        {"phases", count(done.phases)}, {"words_checked", count(done.checked)}, {"mismatches", count(done.wrong)}};
    mark_checked(entry, done.checked, done.wrong, "three words of other blocks per thread and phase");
    return true;
  }

  static void go_through_modes(stress_program& program, uint64_t share, const experiment_sink& sink,
                               const std::function<void(double)>& progress) {
    const std::vector<stress_mode> modes = program.modes();
    std::vector<launch_length> lengths(modes.size());
    uint64_t done = 0;
    for (uint32_t round = 0; done < share && !sink.interrupted(); ++round) {
      const size_t which = round % modes.size();
      const uint32_t phases = lengths[which].next(share, share - done);
      const host_timer clock;
      program.run(modes[which], phases, round * 0x9e3779b9u + 12345u);
      lengths[which].took(phases, clock.nanoseconds());
      const uint64_t parts = modes[which] == stress_mode::two_parts     ? 2
                             : modes[which] == stress_mode::three_parts ? 3
                                                                        : 1;
      done += parts * phases;
      progress(std::min(1.0, static_cast<double>(done) / static_cast<double>(share)));
    }
  }
};

const register_experiment registered(std::make_unique<barrier_stress>());

}  // namespace

}  // namespace gpusync::tool
