// Experiment rmw-faults: participants of wait-free objects stop, for ever or for long, at every step of a call; do the
// others go on? Hagen, Ha and Anshus claim it (item H8) and inject no fault.
#include <fmt/format.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "experiments/hagen_2012/memory_spaces.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/rows.hpp"
#include "models/linearizability.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"
#include "workloads/rmw_faults/rmw_faults.hpp"

namespace gpusync::tool::rmw_faults_experiment {

namespace {

using history_call = recorded_call<rmw::named_operation<uint32_t>, uint32_t>;

constexpr fault_kind all_faults[] = {fault_kind::none, fault_kind::crash, fault_kind::stall};

const char* to_word(fault_kind kind) {
  return kind == fault_kind::crash ? "crash" : kind == fault_kind::stall ? "stall" : "none";
}

/// What has come of all runs of one row.
struct findings_of_faults {
  uint64_t runs = 0, struck = 0, calls = 0;
  uint64_t most_passes = 0, most_accesses = 0;
  uint64_t unfinished = 0, not_linearizable = 0;
  uint32_t steps = 0;  ///< at which victims were struck, the most of one call
};

constexpr const char* name = "rmw-faults";

void add_faults(const experiment_request& request, const fault_object& object, std::vector<fault_case>& all) {
  const uint32_t participants = object.participants;
  fault_case one;
  one.object = object;
  std::vector<int64_t> victims;
  for (uint32_t some = 1; some < participants; ++some) victims.push_back(some);
  if (request.quick) victims = {1, participants - 1};
  for (const fault_kind kind : chosen_of(request, "fault", all_faults, to_word)) {
    one.kind = kind;
    one.victims = 0;
    if (kind == fault_kind::none) {
      all.push_back(one);
      continue;
    }
    for (const int64_t some : request.axes.numbers_or("victims", victims)) {
      if (some >= participants) {
        throw usage_error(fmt::format("Axis victims does not take {} of {} participants: one at least must survive.",
                                      some, participants));
      }
      one.victims = static_cast<uint32_t>(some);
      all.push_back(one);
    }
  }
}

std::vector<fault_case> cases(const experiment_request& request, const rmw_faults_device& device) {
  const std::vector<fault_object> objects = device.objects();
  std::vector<std::string> known;
  for (const fault_object& object : objects) {
    if (std::ranges::find(known, object.method) == known.end()) known.push_back(object.method);
  }
  for (const int64_t wanted : request.axes.numbers_or("participants", {})) {
    if (std::ranges::find(objects, wanted, &fault_object::participants) != objects.end()) continue;
    throw usage_error(
        fmt::format("Axis participants does not take {} on {}: there are objects for 5 (global, shared) and 16 "
                    "(shared).",
                    wanted, request.device.id));
  }
  const std::vector<std::string> methods = chosen_words(request, "method", known);
  std::vector<fault_case> all;
  for (const rmw::space where : chosen_of(request, "memory", memory_spaces, memory_word)) {
    for (const fault_object& object : objects) {
      const std::vector<int64_t> sizes = request.axes.numbers_or("participants", {object.participants});
      const bool chosen = std::ranges::find(sizes, object.participants) != sizes.end() &&
                          std::ranges::find(methods, object.method) != methods.end();
      if (chosen && object.where == where) add_faults(request, object, all);
    }
  }
  return all;
}

/// Whether the calls could have taken place one after the other, and left that state.
bool is_linearizable(const fault_result& result, linearizability<uint32_t, history_call>& checker) {
  std::vector<history_call> history;
  uint32_t last = 0;
  for (const std::vector<fault_call>& of_one : result.calls) {
    for (const fault_call& call : of_one) {
      if (!call.begun) continue;
      history.push_back({call.operation, call.answer, call.begin, call.end, call.ended});
      last = std::max({last, call.begin, call.end});
    }
  }
  // Somebody looks at it in the end.
  history.push_back(
      {rmw::named_operation<uint32_t>::make(rmw::operation_kind::add, 0), result.last_state, last + 1, last + 2, true});
  return checker
      .order_of(result.first_state, history,
                [](uint32_t& state, const history_call& call) {
                  if (call.ended && call.answer != state) return false;
                  state = call.operation(state);
                  return true;
                })
      .has_value();
}

void count(const fault_case& what, const fault_result& result, findings_of_faults& found,
           linearizability<uint32_t, history_call>& checker) {
  found.runs += 1;
  found.struck += result.struck;
  for (uint32_t self = 0; self < result.calls.size(); ++self) {
    const bool may_be_gone = what.kind == fault_kind::crash && self < what.victims;
    for (const fault_call& call : result.calls[self]) {
      if (!call.ended) {
        found.unfinished += may_be_gone ? 0 : 1;
        continue;
      }
      found.calls += 1;
      found.most_passes = std::max<uint64_t>(found.most_passes, call.passes);
      found.most_accesses = std::max<uint64_t>(found.most_accesses, call.accesses);
    }
  }
  if (!is_linearizable(result, checker)) found.not_linearizable += 1;
}

/// Every step of the victims' first call and of a later one, which begins with what the one before has left.
void strike_everywhere(rmw_faults_device& device, fault_case what, uint32_t repeats, const experiment_sink& sink,
                       const std::function<void(double)>& progress, findings_of_faults& found) {
  linearizability<uint32_t, history_call> checker;
  if (what.kind == fault_kind::none) {
    for (uint32_t i = 0; i < 100 * repeats && !sink.interrupted(); ++i) {
      what.seed = i + 1;
      count(what, device.run(what), found, checker);
    }
    return;
  }
  for (const uint32_t call : {0u, 2u}) {
    uint32_t missed = 0;  // steps in a row to which no victim came: calls are not that long
    for (uint32_t step = 1; missed < 4 && !sink.interrupted(); ++step) {
      what.in_call = call;
      what.at_step = step;
      uint64_t struck = 0;
      for (uint32_t i = 0; i < repeats; ++i) {
        what.seed = step * 1000 + i + 1;
        if (what.object.participants > 5) what.seed |= 1;  // so many calls of any kind have too many orders to try
        const fault_result result = device.run(what);
        struck += result.struck;
        count(what, result, found, checker);
      }
      missed = struck == 0 ? missed + 1 : 0;
      if (struck != 0) found.steps = std::max(found.steps, step);
    }
    progress(call == 0 ? 0.5 : 1);
  }
}

row row_of(const experiment_request& request, const fault_case& what) {
  row entry = new_row(name, request, what.object.method, method_kind::object);
  entry.items = {what.kind == fault_kind::none ? "H1" : "H8"};
  entry.axes = {{"memory", memory_word(what.object.where)},
                {"participants", int64_t{what.object.participants}},
                {"fault", to_word(what.kind)},
                {"victims", int64_t{what.victims}}};
  return entry;
}

void inject(const experiment_request& request, rmw_faults_device& device, const fault_case& what,
            const experiment_sink& sink, const std::function<void(double)>& progress, row& entry) {
  progress(0);
  findings_of_faults found;
  const fault_object& object = what.object;
  const auto repeats = static_cast<uint32_t>(chosen_number(request, "repeats", request.quick ? 1 : 8));
  try {
    strike_everywhere(device, what, repeats, sink, progress, found);
  } catch (const stuck_launch&) {
    throw;
  } catch (const error&) {
    if (found.runs != 0) throw;
    // Before the first run it is a refusal: a policy that was not tested on this device, say.
    return mark_not_prepared(entry, std::current_exception());
  }
  if (found.runs == 0) return mark_interrupted(entry, "a first run");
  entry.metrics = {{"most_passes", count_metric(found.most_passes)},
                   {"passes_bound", count_metric(object.passes_bound)},
                   {"most_accesses", count_metric(found.most_accesses)},
                   {"accesses_bound", count_metric(object.accesses_bound)},
                   {"runs", count_metric(found.runs)},
                   {"struck", count_metric(found.struck)},
                   {"steps", count_metric(found.steps)},
                   {"calls", count_metric(found.calls)}};
  entry.verification = fmt::format(
      "{} runs with {} victims struck, at up to {} steps of a call: every other participant made all its calls, "
      "within the bound, and each history is linearizable",
      found.runs, found.struck, found.steps);
  const bool within = found.most_passes <= object.passes_bound && found.most_accesses <= object.accesses_bound;
  mark_verified(
      entry, found.unfinished == 0 && found.not_linearizable == 0 && within,
      fmt::format("{} calls did not end, {} of {} histories are not linearizable; {} passes where {} are the bound, "
                  "{} accesses where {} are.",
                  found.unfinished, found.not_linearizable, found.runs, found.most_passes, object.passes_bound,
                  found.most_accesses, object.accesses_bound));
}

void check(const experiment_request& request) {
  (void)cases(request, *open_side<rmw_faults_device>(request.device));
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<rmw_faults_device>(request.device);
  const auto label = [](const fault_case& one) {
    return fmt::format("{}, {} of {} {}, {} memory", one.object.method, one.victims, one.object.participants,
                       one.kind == fault_kind::crash ? "crash" : "stall", memory_word(one.object.where));
  };
  for_each_case(cases(request, *device), sink, label, [&](const fault_case& one, const auto& progress) {
    row entry = row_of(request, one);
    fill_in(entry, [&] { inject(request, *device, one, sink, progress, entry); });
    sink.add(std::move(entry), true);
  });
}

std::string answer(const measured_rows& measured) {
  double most = 0;
  for (const row* entry : measured.rows) {
    most = std::max(most, value_of(*entry, "most_passes").value_or(0) / value_of(*entry, "passes_bound").value_or(1));
  }
  return answer_in(
      measured,
      {fmt::format("Survivors ended every call within {:.0f} % of the proven passes, in {} runs with {} "
                   "participants struck",
                   100 * most, count_in_words(sum_of(measured, "runs")), count_in_words(sum_of(measured, "struck")))});
}

const register_experiment registered({
    name,
    "whether wait-free objects survive participants that stop, for ever or for long, at any step of a call",
    {"H1", "H8"},
    {device_kind::cuda},
    {{"memory", "where the object lies: global, shared (of one block)", 0, 0, true, "both"},
     {"participants", "of the object: blocks, or warps of one block in shared memory", 1, 65535, false,
      "all that there are"},
     {"fault", "crash: victims end in the middle of a call; stall: they wait there for all others; none", 0, 0, true,
      "all"},
     {"victims", "how many, 1 to all but one", 1, 65535, false, "all"},
     {"repeats", "runs for each step, with other operations; one value", 1, 1000, false, "8", true},
     {"method", "policies of the object, by name", 0, 0, true, "all"}},
    run,
    {check},
    case_time{2, 0.5},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::rmw_faults_experiment
