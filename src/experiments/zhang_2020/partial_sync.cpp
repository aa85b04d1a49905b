// Experiment partial-sync: what happens when part of a group calls its barrier: parts of a warp, a block, a cluster, a
// grid. Zhang et al. 2020, section 8.2; item Z18. Each case has a process of its own, for its launch may never end.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/own_process.hpp"
#include "harness/published.hpp"
#include "harness/rows.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/partial_sync/partial_sync.hpp"

namespace gpusync::tool::partial_sync_experiment {

namespace {

constexpr const char* name = "partial-sync";

/// How long a process of its own may take in all, with what a driver may have to compile; a launch has three seconds.
constexpr std::chrono::seconds limit{60};
/// How long a process may go on whose device is stuck.
constexpr unsigned seconds_to_say_so = 5;

struct partial_case {
  partial_barrier barrier;
  std::string subset;
  std::string rest;

  bool is_defined() const { return rest == "stays" ? barrier.defined_if_rest_stays : barrier.defined_if_rest_leaves; }
};

std::string in_words(const partial_case& one) {
  return fmt::format("{} by {}, the rest {}", one.barrier.name, one.subset, one.rest);
}

std::vector<partial_case> cases_of(const experiment_request& request) {
  const std::vector<std::string> subsets{"half", "one", "odd"}, rests{"leaves", "stays"};
  const auto barriers = request.quick ? chosen_of(request, "method", partial_barriers, &partial_barrier::name,
                                                  {"syncwarp", "syncthreads", "cg", "grid-barrier-part", "multi-grid"})
                                      : chosen_of(request, "method", partial_barriers, &partial_barrier::name);
  std::vector<partial_case> cases;
  for (const partial_barrier& barrier : barriers) {
    for (const std::string& subset :
         chosen_words(request, "subset", subsets,
                      request.quick ? std::vector<std::string>{"half"} : std::vector<std::string>{"half", "one"})) {
      for (const std::string& rest :
           chosen_words(request, "rest", rests, request.quick ? std::vector<std::string>{"leaves"} : rests)) {
        cases.push_back({barrier, subset, rest});
      }
    }
  }
  return cases;
}

row row_of(const experiment_request& request, const partial_case& one) {
  row entry = new_row(name, request, one.barrier.name, method_kind::barrier);
  entry.items = {"Z18"};
  entry.rival = one.barrier.rival;
  entry.axes = {{"group", std::string(one.barrier.level)}, {"subset", one.subset}, {"rest", one.rest}};
  return entry;
}

/// What became of those that called, in words.
std::string in_words(const partial_outcome& outcome) {
  std::string words = fmt::format("{} of {} called", outcome.called, outcome.members);
  if (outcome.passed != 0) words += fmt::format(", {} passed", outcome.passed);
  if (outcome.late != 0) words += fmt::format(", {} passed only when the rest had ended", outcome.late);
  if (outcome.timed_out != 0) words += fmt::format(", {} were told that others are missing", outcome.timed_out);
  const uint32_t gone = outcome.passed + outcome.late + outcome.timed_out;
  if (gone < outcome.called) words += fmt::format(", {} never went on", outcome.called - gone);
  return words + (outcome.ended ? "" : "; the kernel was ended with its process");
}

void fill_in_outcome(row& entry, const partial_case& one, const partial_outcome& outcome) {
  const partial_finding finding = finding_of(outcome, one.is_defined());
  entry.metrics = {{"deadlock", count_metric(finding == partial_finding::deadlock ? 1 : 0)},
                   {"called", count_metric(outcome.called)},
                   {"passed", count_metric(outcome.passed)},
                   {"passed_late", count_metric(outcome.late)},
                   {"timed_out", count_metric(outcome.timed_out)}};
  entry.verification =
      fmt::format("{}: {}; {}", to_string(finding), in_words(outcome),
                  one.is_defined() ? "what the barrier promises, and words that were written before it were looked at"
                                   : "nobody promises anything");
  if (!one.is_defined()) return;
  mark_verified(entry, finding == partial_finding::ok && outcome.wrong == 0 && outcome.named_the_rest,
                finding != partial_finding::ok ? "It hangs where it is promised to go on."
                : outcome.wrong != 0           ? "A word that was written before the barrier was not seen behind it."
                                               : "It did not name exactly the blocks that were missing.");
}

/// In this process, which ends with what it has done to its device.
void measure_here(const partial_case& one, const experiment_request& request, const experiment_sink& sink) {
  row entry = row_of(request, one);
  fill_in(entry, [&] {
    const auto device = open_side<partial_sync_device>(request.device);
    const partial_outcome outcome =
        device->run(one.barrier.name, one.subset, one.rest == "stays" ? the_rest::stays : the_rest::leaves);
    // To leave a device that is stuck may take for ever; by then the row has been written.
    if (!outcome.ended) (void)alarm(seconds_to_say_so);
    fill_in_outcome(entry, one, outcome);
  });
  sink.add(std::move(entry), true);
}

void measure_in_child(const partial_case& one, const experiment_request& request, const experiment_sink& sink) {
  own_process_result found = measure_in_own_process(
      {name, {{"method", one.barrier.name}, {"subset", one.subset}, {"rest", one.rest}}}, request, limit);
  if (sink.interrupted()) return;
  for (row& entry : found.rows) sink.add(std::move(entry), true);
  if (!found.rows.empty()) return;
  row entry = row_of(request, one);
  entry.status = row_status::failed;
  entry.reason = found.reason();
  sink.add(std::move(entry), true);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto label = [](const partial_case& one) { return in_words(one); };
  for_each_case(cases_of(request), sink, label, [&](const partial_case& one, const auto& progress) {
    if (is_own_process()) return measure_here(one, request, sink);
    progress(0, "in a process of its own");
    // What no device has needs no process.
    if (std::string(one.barrier.name) == "multi-grid") return measure_here(one, request, sink);
    measure_in_child(one, request, sink);
  });
  if (!is_own_process()) add_all(published_rows(paper::zhang_2020, name), sink);
}

std::string answer(const measured_rows& measured) {
  std::vector<std::string> hanging;
  std::vector<std::string> others;
  for (const row* entry : measured.rows) {
    const auto leaves = std::pair(std::string("rest"), axis_value(std::string("leaves")));
    if (std::ranges::find(entry->axes, leaves) == entry->axes.end()) continue;
    std::vector<std::string>& list = value_of(*entry, "deadlock").value_or(0) != 0 ? hanging : others;
    if (std::ranges::find(list, entry->method) == list.end()) list.push_back(entry->method);
  }
  std::erase_if(others, [&](const std::string& each) { return std::ranges::find(hanging, each) != hanging.end(); });
  if (hanging.empty() && others.empty()) return "";
  if (hanging.empty()) {
    return answer_in(measured, {fmt::format("No deadlock: all {} barriers let part of a group pass when the rest had "
                                            "left",
                                            others.size())});
  }
  return answer_in(
      measured,
      {fmt::format("Never let part of a group call {}: deadlock; {} other barriers let it pass when the rest leaves",
                   join_words(hanging), others.size()),
       fmt::format("{} barriers deadlock when part of a group calls them, {} do not", hanging.size(), others.size())});
}

request_check checks() {
  request_check made;
  made.check = [](const experiment_request& request) { (void)cases_of(request); };
  made.method_names = [](const device_description&) {
    std::vector<std::string> names;
    for (const partial_barrier& each : partial_barriers) names.emplace_back(each.name);
    return names;
  };
  return made;
}

const register_experiment registered({
    name,
    "whether part of a warp, a block, a cluster or a grid may call its barrier: ok, undefined or deadlock",
    {"Z18"},
    {device_kind::cuda},
    {{"subset", "who calls: half of the group, one of it, or odd, every other", 0, 0, true,
      "half,one; half with --quick"},
     {"rest",
      "what the others do: leaves, they end at once; stays, they wait until the callers have passed, 0.3 s at "
      "most",
      0, 0, true, "all; leaves with --quick"},
     {"method", "barriers by name, each in processes of its own", 0, 0, true,
      "all; syncwarp,syncthreads,cg,grid-barrier-part,multi-grid with --quick"}},
    run,
    checks(),
    case_time{4, 3},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::partial_sync_experiment
