// Experiment warp-reduction: the sum of 32 doubles by one warp (Zhang et al. 2020, item Z13, Figure 11 and Table 5):
// what it takes, and how often it is right.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/zhang_2020/level_rows.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/published.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/warp_sum/warp_sum.hpp"

namespace gpusync::tool::warp_reduction_experiment {

namespace {

constexpr const char *name = "warp-reduction", *as_printed = "figure-11";

const std::vector<std::string>& method_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names{empty_warp_sum};
    for (const warp_sum_form& form : warp_sum_forms()) names.push_back(form.method);
    return names;
  }();
  return all;
}

/// The form of that method; null for the empty one.
const warp_sum_form* find_form(const std::string& method) {
  const auto found = std::ranges::find(warp_sum_forms(), method, &warp_sum_form::method);
  return found == warp_sum_forms().end() ? nullptr : &*found;
}

step_method step_method_of(const std::string& method) {
  const warp_sum_form* const form = find_form(method);
  step_method made;
  made.name = method;
  made.title = form == nullptr ? "two readings of the clock" : form->title;
  made.kind = method_kind::floor;  // no row keeps it but the empty one's: a sum is no way to wait
  made.ordered = form == nullptr || form->fault.empty();
  return made;
}

/// What the check of a form has found.
struct found_sums {
  right_sums timed, together, apart;

  uint64_t checked() const { return timed.inputs + together.inputs + apart.inputs; }
  uint64_t right() const { return timed.right + together.right + apart.right; }
  std::string in_words() const {
    return fmt::format(
        "sums compared exactly; right in {} of {} timed ones, {} of {} other inputs, and {} of {} where lanes 0 to 7 "
        "take each step behind the others",
        timed.right, timed.inputs, together.right, together.inputs, apart.right, apart.inputs);
  }
};

prepared_method prepare(warp_sums_device& device, const std::string& method, found_sums& found) {
  const auto program = kept_if_stuck(device.prepare(method));
  candidate turns;
  turns.run = [program]() -> turn_samples { return {{latency_sample, program->run()}}; };
  const warp_sum_form* const form = find_form(method);
  if (form == nullptr) return {turns, [] { return verification{}; }};
  const auto verify = [program, form, &found]() -> verification {
    found = {program->timed(), program->together(), program->apart()};
    const std::string fault = form->fault.empty() ? "" : form->fault + "; ";
    return {true, found.checked(), found.checked() - found.right(), fault + found.in_words()};
  };
  return {turns, verify};
}

/// The instructions of each method between its readings of the clock.
class counted_sums {
 public:
  counted_sums(const warp_sums_device& device, const std::vector<std::string>& methods) {
    std::vector<std::string> functions;
    for (const std::string& method : methods) functions.push_back(device.function_of(method));
    const own_machine_code found = disassemble_this_program(functions, device.architecture());
    why_not_ = found.why_not;
    for (size_t i = 0; i < methods.size(); ++i) {
      const auto function = found.functions.find(functions[i]);
      if (function == found.functions.end()) continue;
      if (const auto code = split_at_clocks(function->second)) codes_[methods[i]] = *code;
    }
  }

  void add_to(row& entry) const {
    metric all = empty_metric("1"), barriers = empty_metric("1");
    if (const auto code = codes_.find(entry.method); code != codes_.end()) {
      all = plain_metric(static_cast<double>(code->second.in_line.size()), "1", 1);
      barriers = plain_metric(static_cast<double>(count_opcodes(code->second.in_line, {"WARPSYNC"})), "1", 1);
    }
    entry.metrics.emplace_back("instructions", all);
    entry.metrics.emplace_back("barrier_instructions", barriers);
  }
  /// Why instructions were not counted; empty if they were.
  const std::string& why_not() const { return why_not_; }

 private:
  std::map<std::string, timed_code> codes_;
  std::string why_not_;
};

metric part_that_is_right(const right_sums& sums) {
  if (sums.inputs == 0) return empty_metric("1");
  return plain_metric(static_cast<double>(sums.right) / static_cast<double>(sums.inputs), "1", sums.inputs);
}

void measure(const experiment_request& request, const experiment_sink& sink,
             const std::function<void(double)>& progress) {
  const auto device = open_side<warp_sums_device>(request.device);
  const std::vector<std::string> methods = chosen_words(request, "method", method_names());
  std::vector<step_method> all;
  std::ranges::transform(methods, std::back_inserter(all), step_method_of);
  std::map<std::string, found_sums> found;
  const comparison_setting setting{name, request, sink, {"Z13"}};
  auto results = compare_methods(
      setting, all, [&](const step_method& method) { return prepare(*device, method.name, found[method.name]); },
      rule_for_cycles(request.quick), progress);
  const counted_sums code(*device, methods);
  for (method_result& result : results) {
    row& entry = result.entry;
    entry.metrics = {{"latency", result.median_of(latency_sample, 1, "cycles", request.keep_samples)}};
    if (find_form(entry.method) != nullptr) {
      entry.kind.reset();
      entry.metrics.emplace_back("right", part_that_is_right(found[entry.method].together));
      entry.metrics.emplace_back("right_apart", part_that_is_right(found[entry.method].apart));
    }
    code.add_to(entry);
  }
  add_rows(results, sink);
  if (code.why_not().empty()) return;
  row counts = new_row(name, request, "machine-code", method_kind::floor);
  counts.kind.reset();
  counts.items = {"Z13"};
  mark_skipped(counts, code.why_not());
  sink.add(counts, true);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const std::vector<std::string> cases{"32 doubles"};
  for_each_case(
      cases, sink, [](const std::string& one) { return one; },
      [&](const std::string&, const auto& progress) {
        measure(request, sink, [&](double fraction) { progress(fraction); });
      });
  if (!sink.interrupted()) add_all(published_rows(paper::zhang_2020, name), sink);
}

/// How figure 11 as printed fared; empty if it was not measured.
std::string finding_of_figure_11(const measured_rows& measured) {
  for (const row& entry : measured.results.rows) {
    if (entry.experiment != name || entry.device != measured.device || entry.method != as_printed) continue;
    const auto apart = value_of(entry, "right_apart");
    if (apart) return *apart < 1 ? "; figure 11 as printed races, and fails" : "; figure 11 as printed races";
  }
  return "";
}

std::string answer(const measured_rows& measured) {
  const row* const best =
      least(measured, "latency", [](const row& entry) { return entry.ordered && find_form(entry.method) != nullptr; });
  if (best == nullptr) return "";
  const std::string head =
      fmt::format("Sum a warp's values by {}: {} cycles", best->method, figure(*value_of(*best, "latency")));
  return answer_in(measured, {head + finding_of_figure_11(measured), head});
}

const register_experiment registered({
    name,
    "what the sum of 32 doubles in a warp takes by each way to synchronize, and how often it is right",
    {"Z13"},
    {device_kind::cuda},
    {{"method", "ways to sum, and the empty reading of the clock", 0, 0, true, "all"}},
    run,
    {[](const experiment_request& request) { (void)chosen_words(request, "method", method_names()); },
     [](const device_description&) { return method_names(); }},
    case_time{5, 2},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::warp_reduction_experiment
