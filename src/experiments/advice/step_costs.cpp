// Experiment step-costs: steps in random situations, and the costs of waiting that the adviser draws from them.
#include <fmt/format.h>

#include <optional>

#include "experiments/advice/measured_situations.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool::step_costs_measured {

namespace {

constexpr int64_t default_seed = 1;

int64_t cases_by_default(const experiment_request& request) {
  return request.device.kind == device_kind::host ? (request.quick ? 16 : 40) : (request.quick ? 40 : 360);
}

/// A row of the device itself.
row device_row(const experiment_request& request, const char* method) {
  row entry = new_row(step_costs_experiment, request, method, method_kind::object);
  entry.kind.reset();  // it is no way to wait
  entry.axes = {{costs_part, std::string(method)}};
  return entry;
}

/// The costs of each way that rows give, as rows of their own.
std::vector<row> cost_rows(const experiment_request& request, const std::vector<row>& rows,
                           const advice::device_room& room) {
  std::vector<row> all;
  const advice::device_costs costs =
      fit_step_costs(request.device.name, room, observations_of(rows, request.device.id));
  for (const advice::way_costs& one : costs.ways) {
    row& entry = all.emplace_back(device_row(request, name_of(one.which)));
    entry.axes = {{costs_part, std::string("costs")}};
    entry.metrics = metrics_of(one);
  }
  return all;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<situation_device>(request.device);
  const advice::device_room room = device->room();
  row told = device_row(request, room_method);
  told.metrics = room_metrics(room);
  sink.add(std::move(told), true);

  const auto count = static_cast<size_t>(chosen_number(request, "cases", cases_by_default(request)));
  const std::vector<advice::situation> situations = random_situations(
      static_cast<uint64_t>(chosen_number(request, "seed", default_seed)), count, request.device.kind, room);
  const std::vector<row> rows = rows_of_cases(
      situations, sink, [](const advice::situation& one) { return in_words(one); },
      [&](advice::situation one, const auto& progress) {
        auto results = measure_situation(*device, one, {step_costs_experiment, request, sink}, progress);
        return add_rows(results, axes_of(one), sink);
      });
  add_all(cost_rows(request, rows, room), sink);
}

/// By the spread of the best and of the worst fit.
std::string answer(const measured_rows& measured) {
  const row *best = nullptr, *worst = nullptr;
  const auto spread = [](const row& entry) { return value_of(entry, "spread"); };
  for (const row* entry : measured.rows) {
    if (!spread(*entry)) continue;
    if (best == nullptr || *spread(*entry) < *spread(*best)) best = entry;
    if (worst == nullptr || *spread(*entry) > *spread(*worst)) worst = entry;
  }
  if (best == nullptr) return "";
  return answer_in(
      measured,
      {fmt::format("Nine of ten steps that it does not know lie within {:.0f} % ({}) to {:.0f} % ({}) of the model",
                   100 * *spread(*best), best->method, 100 * *spread(*worst), worst->method)});
}

const register_experiment registered({
    step_costs_experiment,
    "what waiting costs on this device, term by term: measured in random situations, and what the adviser reads",
    {},
    {device_kind::cuda, device_kind::host},
    {{"cases", "situations to measure", 1, 100000, false, "360, with --quick 40; on the host 40 and 16", true},
     {"seed", "of the draws of situations", 0, INT64_MAX, false, "1", true}},
    run,
    {},
    case_time{2, 1},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::step_costs_measured
