// Experiment rmw-cost: what a call of a wait-free read-modify-write object costs, beside the hardware's atomic
// operations and a loop of compare-and-swap (Hagen, Ha and Anshus, figures 3 to 6; items H3 to H7).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "experiments/hagen_2012/memory_spaces.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/method_comparison.hpp"
#include "harness/published.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"
#include "workloads/rmw_calls/rmw_calls.hpp"

namespace gpusync::tool::rmw_cost_experiment {

namespace {

constexpr rmw::operation_kind all_kinds[] = {rmw::operation_kind::add,       rmw::operation_kind::subtract,
                                             rmw::operation_kind::exchange,  rmw::operation_kind::minimum,
                                             rmw::operation_kind::maximum,   rmw::operation_kind::increment,
                                             rmw::operation_kind::decrement, rmw::operation_kind::compare_exchange};

/// Calls to be measured side by side under all methods.
struct calls_case {
  call_setup setup;
  uint32_t participants = 1;
};

constexpr const char* name = "rmw-cost";

std::vector<rmw::space> spaces(const experiment_request& request, const rmw_calls_device& device) {
  std::vector<rmw::space> there(std::begin(memory_spaces), std::end(memory_spaces));
  std::erase_if(there, [&](rmw::space where) { return device.capacities(where).empty(); });
  return chosen_of(request, "memory", there, memory_word);
}

std::vector<uint32_t> usual_participants(uint32_t capacity, bool quick) {
  if (quick) return {1, capacity};
  if (capacity == 5) return {1, 2, 3, 4, 5};
  std::vector<uint32_t> usual;
  for (uint32_t count = 1; count < capacity; count *= 4) usual.push_back(count);
  if (capacity % 132 == 0) usual = {1, 4, 16, 33, 66, 132};
  if (usual.back() != capacity) usual.push_back(capacity);
  return usual;
}

void add(const experiment_request& request, const rmw_calls_device& device, rmw::space where, uint32_t capacity,
         const std::string& type, rmw::operation_kind kind, uint32_t participants, std::vector<calls_case>& all) {
  const std::vector<std::string> types = device.types(where, capacity);
  if (std::ranges::find(types, type) == types.end()) {
    throw usage_error(fmt::format("Axis type does not take '{}' for objects of capacity {}: it takes {}.", type,
                                  capacity, fmt::join(types, ", ")));
  }
  const int64_t usual = request.quick ? 3'000 : participants <= 5 ? 30'000 : 10'000;
  const auto calls = static_cast<uint32_t>(chosen_number(request, "calls", usual));
  all.push_back({{where, type, capacity, kind, calls}, participants});
}

/// The capacity that the user wants, if there are such objects; the least for so many participants if it is 0.
uint32_t capacity_for(const experiment_request& request, const rmw_calls_device& device, rmw::space where,
                      int64_t wanted, int64_t participants) {
  const std::vector<uint32_t> there = device.capacities(where);
  const auto found = std::ranges::find_if(
      there, [&](uint32_t capacity) { return wanted == 0 ? capacity >= participants : capacity == wanted; });
  if (found != there.end()) return *found;
  throw usage_error(
      wanted == 0 ? fmt::format("Axis participants does not take {} for {} memory on {}: there are objects for up to "
                                "{}.",
                                participants, memory_word(where), request.device.id, there.back())
                  : fmt::format("Axis capacity does not take {} for {} memory on {}: it takes {}.", wanted,
                                memory_word(where), request.device.id, fmt::join(there, ", ")));
}

void add_chosen(const experiment_request& request, const rmw_calls_device& device, rmw::space where,
                std::vector<calls_case>& all) {
  // The smallest objects have all types.
  const std::vector<std::string> types = device.types(where, device.capacities(where).front());
  for (const int64_t wanted : request.axes.numbers_or("capacity", {0})) {
    for (const std::string& type : chosen_words(request, "type", types, {"uint32"})) {
      for (const rmw::operation_kind kind : chosen_of(request, "operation", all_kinds, rmw::to_string, {"ADD"})) {
        for (const int64_t participants : request.axes.numbers_or("participants", {wanted == 0 ? 5 : wanted})) {
          add(request, device, where, capacity_for(request, device, where, wanted, participants), type, kind,
              static_cast<uint32_t>(participants), all);
        }
      }
    }
  }
}

/// Everything that the request names; by default the papers' sweep, the sweep to all multiprocessors, and a table of
/// operations and types.
std::vector<calls_case> cases(const experiment_request& request, const rmw_calls_device& device) {
  std::vector<calls_case> all;
  const bool by_default = !has_chosen(request, "participants") && !has_chosen(request, "capacity") &&
                          !has_chosen(request, "operation") && !has_chosen(request, "type");
  for (const rmw::space where : spaces(request, device)) {
    const std::vector<uint32_t> capacities = device.capacities(where);
    if (!by_default) {
      add_chosen(request, device, where, all);
      continue;
    }
    for (const uint32_t capacity : capacities) {
      for (const uint32_t participants : usual_participants(capacity, request.quick)) {
        add(request, device, where, capacity, "uint32", rmw::operation_kind::add, participants, all);
      }
    }
    if (request.quick) continue;
    for (const rmw::operation_kind kind : all_kinds) {
      for (const std::string& type : device.types(where, capacities.front())) {
        const bool counted = type == "uint32" && kind == rmw::operation_kind::add;
        if (!counted) add(request, device, where, capacities.front(), type, kind, capacities.front(), all);
      }
    }
  }
  return all;
}

/// Until when calls are compared.
stop_rule rule_for_calls(bool quick) {
  // An object lies elsewhere in each of eight rounds.
  return quick ? stop_rule{1, 2, 0.01, 0, 0.2e9, 1} : stop_rule{8, 16, 0.01, 0, 1.5e9, 8};
}

/// The rows, of whole runs so far, in terms of calls.
void speak_of_calls(const calls_case& what, bool keep_samples, std::vector<method_result>& results) {
  for (method_result& result : results) {
    row& entry = result.entry;
    if (what.setup.kind != rmw::operation_kind::add || what.setup.type != "uint32") entry.items = {"H7"};
    if (entry.status != row_status::ok) entry.metrics.resize(1);
    entry.metrics.front() = {"call_time", result.median_of(run_sample, 1e3 / what.setup.calls, "us", keep_samples)};
  }
  add_ratios(results, "call_time", run_sample, {"hardware", "hardware-global", "cas-loop"});
  for (method_result& result : results) {
    if (result.entry.status != row_status::ok) continue;
    auto& metrics = result.entry.metrics;
    const metric time = metrics.front().second;
    if (time.value && *time.value > 0) {
      metrics.emplace_back("calls_per_second", plain_metric(what.participants / *time.value, "1e6/s", time.n));
    }
    std::rotate(metrics.begin() + 1, metrics.begin() + 3, metrics.end());  // what the program has found comes last
    metrics.back().second.unit = "us";
  }
}

void check(const experiment_request& request) {
  const auto device = open_side<rmw_calls_device>(request.device);
  for (const calls_case& each : cases(request, *device)) {
    (void)chosen_methods(request, device->open(each.setup)->methods());
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<rmw_calls_device>(request.device);
  const auto label = [](const calls_case& one) {
    return fmt::format("{} {}, {} memory, {} participants", to_string(one.setup.kind), one.setup.type,
                       memory_word(one.setup.where), one.participants);
  };
  for_each_case(cases(request, *device), sink, label, [&](const calls_case& one, const auto& progress) {
    const auto workload = kept_if_stuck(device->open(one.setup));
    step_shape shape;
    shape.blocks = one.participants;
    auto results = compare_runs(*workload, {name, request, sink}, chosen_methods(request, workload->methods()), shape,
                                rule_for_calls(request.quick), progress);
    speak_of_calls(one, request.keep_samples, results);
    add_rows(results,
             {{"memory", memory_word(one.setup.where)},
              {"type", one.setup.type},
              {"operation", to_string(one.setup.kind)},
              {"capacity", int64_t{one.setup.capacity}},
              {"calls", int64_t{one.setup.calls}},
              {"participants", int64_t{one.participants}}},
             sink);
  });
  if (request.device.kind == device_kind::cuda) add_all(joined(published_rows(paper::hagen_2012, name)), sink);
}

/// Of the calls by the most participants.
std::string answer(const measured_rows& measured) {
  int64_t most = 0;
  for (const row* entry : measured.rows) most = std::max(most, axis_number(entry->axes, "participants").value_or(0));
  const auto by_all = [most](const row& entry) { return axis_number(entry.axes, "participants") == most; };
  const row* best = least(measured, "call_time", [&](const row& entry) { return by_all(entry) && !entry.rival; });
  if (best == nullptr) return "";
  const std::string head = fmt::format("{} is the cheapest wait-free object: {} us a call", best->method,
                                       figure(*value_of(*best, "call_time")));
  const row* plain =
      least(measured, "call_time", [&](const row& entry) { return entry.rival && entry.axes == best->axes; });
  if (plain == nullptr) return answer_in(measured, {head}, nullptr);
  const double times = *value_of(*best, "call_time") / *value_of(*plain, "call_time");
  return answer_in(
      measured, {fmt::format("{}, {} as long as {}, {} participants", head, ratio(times), plain->method, most), head});
}

const register_experiment registered({
    name,
    "what a call of a wait-free read-modify-write object costs, beside atomics and a loop of compare-and-swap",
    {"H3", "H4", "H5", "H6", "H7"},
    {device_kind::cuda, device_kind::host},
    {{"memory", "where the object lies: global, shared (of one block)", 0, 0, true, "all that the device has"},
     {"participants", "who call it, all at once: blocks, or warps of one block in shared memory", 1, 65535, false,
      "1 to 5; then up to all multiprocessors, and all warps of a block"},
     {"capacity", "participants that the object is made for; at least that many", 1, 65535, false,
      "the least that there is"},
     {"operation", "ADD, SUB, EXCH, MIN, MAX, INC, DEC, CAS", 0, 0, true, "ADD; with 5 participants also all others"},
     {"type", "of the state: uint32, float32, float64", 0, 0, true, "uint32; with 5 participants also all others"},
     {"calls", "by each participant in one run; one value", 1, (1 << 24) - 1, false,
      "30000 for up to 5 participants, else 10000", true},
     {"method", "policies of the object, and what to compare with, by name", 0, 0, true, "all"}},
    run,
    {check, check_methods([](const device_description& device) {
              const auto opened = open_side<rmw_calls_device>(device);
              return opened->open(cases({device, {}}, *opened).front().setup)->methods();
            }).method_names},
    case_time{3, 0.6},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::rmw_cost_experiment
