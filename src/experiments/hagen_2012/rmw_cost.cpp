// Experiment rmw-cost: what a call of a wait-free read-modify-write object costs, beside the hardware's atomic
// operations and a loop of compare-and-swap (Hagen, Ha and Anshus, figures 3 to 6; items H3 to H7).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "experiments/experiment.hpp"
#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/hagen_2012/hagen_published.hpp"
#include "experiments/step_contest.hpp"
#include "experiments/whole_contest.hpp"
#include "usage_error.hpp"
#include "workloads/rmw_calls/rmw_calls.hpp"

namespace gpusync::tool {

namespace {

constexpr rmw::operation_kind all_kinds[] = {rmw::operation_kind::add,       rmw::operation_kind::subtract,
                                             rmw::operation_kind::exchange,  rmw::operation_kind::minimum,
                                             rmw::operation_kind::maximum,   rmw::operation_kind::increment,
                                             rmw::operation_kind::decrement, rmw::operation_kind::compare_exchange};

const char* to_word(rmw::space where) {
  return where == rmw::space::global ? "global" : "shared";
}

/// Calls to be measured side by side under all methods.
struct calls_case {
  call_setup setup;
  uint32_t participants = 1;
};

class rmw_cost : public experiment {
 public:
  std::string name() const override { return "rmw-cost"; }
  std::string title() const override {
    return "what a call of a wait-free read-modify-write object costs, beside atomics and a loop of compare-and-swap";
  }
  std::vector<std::string> items() const override { return {"H3", "H4", "H5", "H6", "H7"}; }
  std::vector<device_kind> devices() const override { return {device_kind::cuda, device_kind::host}; }
  std::vector<axis> axes() const override {
    return {
        {"memory", "where the object lies: global, shared (of one block)", 0, 0, true, "all that the device has"},
        {"participants", "who call it, all at once: blocks, or warps of one block in shared memory", 1, 65535, false,
         "1 to 5; then up to all multiprocessors, and all warps of a block"},
        {"capacity", "participants that the object is made for; at least that many", 1, 65535, false,
         "the least that there is"},
        {"operation", "ADD, SUB, EXCH, MIN, MAX, INC, DEC, CAS", 0, 0, true,
         "ADD; with 5 participants also all others"},
        {"type", "of the state: uint32, float32, float64", 0, 0, true, "uint32; with 5 participants also all others"},
        {"calls", "by each participant in one run; one value", 1, (1 << 24) - 1, false,
         "30000 for up to 5 participants, else 10000"},
        {"method", "policies of the object, and what to compare with, by name", 0, 0, true, "all"}};
  }

  void check(const experiment_request& request) const override {
    const auto device = open_side<rmw_calls_device>(request.device);
    for (const calls_case& each : cases(request, *device)) {
      (void)choose_names(request, names(*device->open(each.setup)), {});
    }
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto device = open_side<rmw_calls_device>(request.device);
    const std::vector<calls_case> all = cases(request, *device);
    for (size_t i = 0; i < all.size() && !sink.interrupted(); ++i) {
      run_case(request, *device, all[i], sink, [&](double fraction) {
        sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(all.size()),
                      fmt::format("{} {}, {} memory, {} participants", to_string(all[i].setup.kind), all[i].setup.type,
                                  to_word(all[i].setup.where), all[i].participants));
      });
    }
    if (request.device.kind != device_kind::cuda) return;
    for (const row& entry : hagen_published(name())) sink.add(entry, true);
  }

 private:
  static std::vector<std::string> names(const whole_workload& workload) {
    std::vector<std::string> all;
    for (const step_method& method : workload.methods()) all.push_back(method.name);
    return all;
  }

  static std::vector<rmw::space> spaces(const experiment_request& request, const rmw_calls_device& device) {
    std::vector<std::string> there;
    for (const rmw::space where : {rmw::space::global, rmw::space::shared}) {
      if (!device.capacities(where).empty()) there.emplace_back(to_word(where));
    }
    std::vector<rmw::space> chosen;
    for (const std::string& word : words_of(request, "memory", there, there)) {
      chosen.push_back(word == "global" ? rmw::space::global : rmw::space::shared);
    }
    return chosen;
  }

  static std::vector<std::string> words_of(const experiment_request& request, const std::string& axis,
                                           const std::vector<std::string>& allowed,
                                           const std::vector<std::string>& defaults) {
    const auto found = request.axes.words.find(axis);
    if (found == request.axes.words.end()) return defaults;
    for (const std::string& word : found->second) {
      if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) continue;
      throw usage_error(fmt::format("Axis {} does not take '{}' on {}: it takes {}.", axis, word, request.device.id,
                                    fmt::join(allowed, ", ")));
    }
    return found->second;
  }

  static std::vector<rmw::operation_kind> kinds(const experiment_request& request,
                                                const std::vector<std::string>& defaults) {
    std::vector<std::string> there;
    for (const rmw::operation_kind kind : all_kinds) there.emplace_back(to_string(kind));
    std::vector<rmw::operation_kind> chosen;
    for (const std::string& word : words_of(request, "operation", there, defaults)) {
      chosen.push_back(all_kinds[std::find(there.begin(), there.end(), word) - there.begin()]);
    }
    return chosen;
  }

  /// Everything that the request names; by default the papers' sweep, the sweep to all multiprocessors, and a table of
  /// operations and types.
  static std::vector<calls_case> cases(const experiment_request& request, const rmw_calls_device& device) {
    std::vector<calls_case> all;
    const auto& axes = request.axes;
    const bool by_default = axes.numbers.count("participants") + axes.numbers.count("capacity") +
                                axes.words.count("operation") + axes.words.count("type") ==
                            0;
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

  static std::vector<uint32_t> usual_participants(uint32_t capacity, bool quick) {
    if (quick) return {1, capacity};
    if (capacity == 5) return {1, 2, 3, 4, 5};
    std::vector<uint32_t> usual;
    for (uint32_t count = 1; count < capacity; count *= 4) usual.push_back(count);
    if (capacity % 132 == 0) usual = {1, 4, 16, 33, 66, 132};
    if (usual.back() != capacity) usual.push_back(capacity);
    return usual;
  }

  static void add_chosen(const experiment_request& request, const rmw_calls_device& device, rmw::space where,
                         std::vector<calls_case>& all) {
    const std::vector<uint32_t> there = device.capacities(where);
    std::vector<std::string> types;
    for (const uint32_t capacity : there) {
      for (const std::string& type : device.types(where, capacity)) {
        if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
      }
    }
    const std::vector<int64_t> capacities = request.axes.numbers_or("capacity", {0});
    for (const int64_t wanted : capacities) {
      if (wanted == 0 || std::find(there.begin(), there.end(), wanted) != there.end()) continue;
      throw usage_error(fmt::format("Axis capacity does not take {} for {} memory on {}: it takes {}.", wanted,
                                    to_word(where), request.device.id, fmt::join(there, ", ")));
    }
    for (const int64_t wanted : capacities) {
      for (const std::string& type : words_of(request, "type", types, {"uint32"})) {
        for (const rmw::operation_kind kind : kinds(request, {"ADD"})) {
          for (const int64_t participants : request.axes.numbers_or("participants", {wanted == 0 ? 5 : wanted})) {
            const auto fits =
                std::find_if(there.begin(), there.end(), [&](uint32_t capacity) { return capacity >= participants; });
            if (wanted == 0 && fits == there.end()) {
              throw usage_error(
                  fmt::format("Axis participants does not take {} for {} memory on {}: there are objects "
                              "for up to {}.",
                              participants, to_word(where), request.device.id, there.back()));
            }
            add(request, device, where, wanted == 0 ? *fits : static_cast<uint32_t>(wanted), type, kind,
                static_cast<uint32_t>(participants), all);
          }
        }
      }
    }
  }

  static void add(const experiment_request& request, const rmw_calls_device& device, rmw::space where,
                  uint32_t capacity, const std::string& type, rmw::operation_kind kind, uint32_t participants,
                  std::vector<calls_case>& all) {
    const std::vector<std::string> types = device.types(where, capacity);
    if (std::find(types.begin(), types.end(), type) == types.end()) {
      throw usage_error(fmt::format("Axis type does not take '{}' for objects of capacity {}: it takes {}.", type,
                                    capacity, fmt::join(types, ", ")));
    }
    calls_case one;
    one.setup.where = where;
    one.setup.type = type;
    one.setup.capacity = capacity;
    one.setup.kind = kind;
    const std::vector<int64_t> calls = request.axes.numbers_or("calls", {request.quick       ? 3'000
                                                                         : participants <= 5 ? 30'000
                                                                                             : 10'000});
    if (calls.size() != 1) throw usage_error("Axis calls takes one value.");
    one.setup.calls = static_cast<uint32_t>(calls.front());
    one.participants = participants;
    all.push_back(one);
  }

  static whole_rounds rounds(bool quick) {
    whole_rounds rounds;
    rounds.least = quick ? 1 : 8;  // an object lies elsewhere in each of eight rounds
    rounds.most = quick ? 2 : 16;
    rounds.relative_spread = 0.01;
    rounds.budget_ns = quick ? 0.2e9 : 1.5e9;
    return rounds;
  }

  void run_case(const experiment_request& request, rmw_calls_device& device, const calls_case& what,
                const experiment_sink& sink, const std::function<void(double)>& progress) const {
    const auto workload = device.open(what.setup);
    std::vector<step_method> methods = workload->methods();
    const std::vector<std::string> wanted = choose_names(request, names(*workload), names(*workload));
    std::erase_if(methods, [&](const step_method& method) {
      return std::find(wanted.begin(), wanted.end(), method.name) == wanted.end();
    });
    step_shape shape;
    shape.blocks = what.participants;
    std::vector<whole_outcome> outcomes =
        run_whole_contest(*workload, request, sink, methods, shape, rounds(request.quick), progress);
    for (const whole_outcome& outcome : outcomes) sink.add(row_of(outcome, outcomes, what, request), true);
  }

  row row_of(const whole_outcome& outcome, const std::vector<whole_outcome>& all, const calls_case& what,
             const experiment_request& request) const {
    row entry = outcome.entry;
    entry.experiment = name();
    entry.axes = {{"memory", to_word(what.setup.where)},
                  {"type", what.setup.type},
                  {"operation", to_string(what.setup.kind)},
                  {"capacity", static_cast<int64_t>(what.setup.capacity)},
                  {"calls", static_cast<int64_t>(what.setup.calls)},
                  {"participants", static_cast<int64_t>(what.participants)}};
    if (what.setup.kind != rmw::operation_kind::add || what.setup.type != "uint32") entry.items = {"H7"};
    const std::optional<std::string> stop = entry.find_metric("run_time")->stop;
    metric time = mean_metric(outcome.samples, 1e3 / what.setup.calls, "us", request.keep_samples);
    time.value = time.median;
    time.stop = stop;
    std::vector<std::pair<std::string, metric>> metrics = {{"call_time", time}};
    if (entry.status == row_status::ok) {
      for (const char* rival : {"hardware", "hardware-global", "cas-loop"}) {
        for (const whole_outcome& base : all) {
          if (base.method.name != rival || base.entry.status != row_status::ok) continue;
          metrics.emplace_back(std::string("call_time_over_") + rival, ratio_of(outcome.samples, base.samples));
        }
      }
      if (time.value && *time.value > 0) {
        metrics.emplace_back("calls_per_second", plain_metric(what.participants / *time.value, "1e6/s", time.n));
      }
      for (const char* found : {"slowest_over_mean", "longest_call"}) {
        metric figure = *entry.find_metric(found);
        if (std::string(found) == "longest_call") figure.unit = "us";
        metrics.emplace_back(found, figure);
      }
    }
    entry.metrics = std::move(metrics);
    return entry;
  }
};

const register_experiment registered(std::make_unique<rmw_cost>());

}  // namespace

}  // namespace gpusync::tool
