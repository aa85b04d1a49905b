// Experiment barrier-stress: do the grid barriers hold? Phases in great number, in all forms, shapes and parts of
// grids, with blocks that are late now and then; not a measurement.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/answers.hpp"
#include "harness/rows.hpp"
#include "harness/shapes.hpp"
#include "measure/host_timer.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/barrier_stress/barrier_stress.hpp"

namespace gpusync::tool::barrier_stress_experiment {

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

constexpr const char* name = "barrier-stress";

void go_through_modes(stress_program& program, uint64_t share, const experiment_sink& sink,
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

/// Fills in the row of one barrier on one shape.
void put_under_stress(barrier_stress_device& device, const step_shape& shape, uint64_t share,
                      const experiment_sink& sink, const std::function<void(double)>& progress, row& entry) {
  progress(0);
  const auto program = kept_if_stuck(device.prepare(entry.method, shape.blocks, shape.threads));
  go_through_modes(*program, share, sink, progress);
  const stress_count done = program->count();
  if (done.phases == 0) return mark_interrupted(entry, "it ran");
  entry.metrics = {{"phases", count_metric(done.phases)},
                   {"words_checked", count_metric(done.checked)},
                   {"mismatches", count_metric(done.wrong)}};
  mark_checked(entry, done.checked, done.wrong, "three words of other blocks per thread and phase");
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<barrier_stress_device>(request.device);
  std::vector<std::pair<step_shape, step_method>> cases;
  for (const step_shape& shape : shapes_or(request, usual_shapes(false))) {
    for (const step_method& method : chosen_methods(request, device->methods())) cases.emplace_back(shape, method);
  }
  const auto phases = static_cast<uint64_t>(chosen_number(request, "phases", request.quick ? 20'000 : 1'000'000));
  const uint64_t combinations = std::max<uint64_t>(1, cases.size());
  const uint64_t share = (phases + combinations - 1) / combinations;
  const auto label = [](const auto& one) { return fmt::format("{} {}", one.second.name, to_word(one.first)); };
  for_each_case(cases, sink, label, [&](const auto& one, const auto& progress) {
    const step_shape& shape = one.first;
    row entry = new_row(name, request, one.second);
    entry.axes = {{"shape", to_word(shape)}};
    fill_in(entry, [&] { put_under_stress(*device, shape, share, sink, progress, entry); });
    sink.add(std::move(entry), true);
  });
}

std::string answer(const measured_rows& measured) {
  return answer_in(measured, {fmt::format("No mismatch: {} barriers and shapes passed {} phases, {} words checked",
                                          measured.rows.size(), count_in_words(sum_of(measured, "phases")),
                                          count_in_words(sum_of(measured, "words_checked")))});
}

const register_experiment registered({
    name,
    "whether the grid barriers hold: phases without end, with late blocks, every word checked",
    {},
    {device_kind::cuda},
    {{"phases", "barrier phases in all, spread over methods and shapes; one value", 1, 10'000'000'000, false,
      "1000000; with --quick 20000", true},
     shape_axis(fmt::format("{}", fmt::join(usual_shapes(false), ","))),
     {"method", "grid barriers that order data, by name", 0, 0, true, "all"}},
    run,
    check_methods([](const device_description& device) { return open_side<barrier_stress_device>(device)->methods(); }),
    case_time{25, 3},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::barrier_stress_experiment
