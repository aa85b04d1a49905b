// Experiment store-atomicity: what the masked store of rmw::coalesced_store stands on, and no manual promises (Hagen,
// Ha and Anshus, items H2, H3 and H5).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "experiments/hagen_2012/memory_spaces.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/rows.hpp"
#include "models/rare_events.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"
#include "workloads/store_atomicity/store_atomicity.hpp"

namespace gpusync::tool::store_atomicity_experiment {

namespace {

constexpr const char* name = "store-atomicity";

struct test_case {
  litmus_method method;
  litmus_setup setup;
};

/// Whether rmw::coalesced_store is offered for such stores (rmw/litmus.hpp). What it is not offered for claims
/// nothing.
bool is_offered(const test_case& one) {
  const uint32_t words = one.method.sized() ? one.setup.bytes / one.setup.word_bytes : 16;
  if (one.setup.where == rmw::space::shared) return words <= 16;
  const bool one_sector = one.method.sized() && one.setup.bytes <= 32;
  return !one.setup.same_sm || one_sector;
}

void add_sizes(const experiment_request& request, test_case one, std::vector<test_case>& all) {
  const std::vector<int64_t> stress =
      request.axes.numbers_or("stress", request.quick ? std::vector<int64_t>{0} : std::vector<int64_t>{0, 1});
  const bool chosen = has_chosen(request, "bytes") || has_chosen(request, "word_bytes");
  const bool sized = one.method.sized(), control = one.method.control;
  std::vector<int64_t> all_bytes = request.axes.numbers_or("bytes", {8, 16, 32, 64, 128});
  if (!sized) all_bytes = {128};
  for (const int64_t bytes : all_bytes) {
    if ((bytes & (bytes - 1)) != 0) {
      throw usage_error(fmt::format("Axis bytes takes 8, 16, 32, 64 and 128, not {}.", bytes));
    }
    std::vector<int64_t> words = request.axes.numbers_or("word_bytes", {4, 8});
    if (!sized) words = {8};
    for (const int64_t word : words) {
      if (word != 4 && word != 8) throw usage_error(fmt::format("Axis word_bytes takes 4 and 8, not {}.", word));
      if (bytes < one.method.least_words * word) continue;
      // By default controls, and what is slow or of little news, only in the largest form.
      if (control && sized && !chosen && (bytes < 64 || word == 8)) continue;
      for (const int64_t load : stress) {
        if (control && load == 1 && !chosen) continue;
        one.setup.bytes = static_cast<uint32_t>(bytes);
        one.setup.word_bytes = static_cast<uint32_t>(word);
        one.setup.stress = load == 1;
        all.push_back(one);
      }
    }
  }
}

std::vector<test_case> cases(const experiment_request& request, const store_atomicity_device& device) {
  std::vector<std::string> names;
  std::vector<test_case> all;
  for (const rmw::space where : memory_spaces) {
    for (const litmus_method& method : device.methods(where)) {
      if (std::find(names.begin(), names.end(), method.name) == names.end()) names.push_back(method.name);
    }
  }
  const std::vector<std::string> wanted = chosen_words(request, "method", names);
  for (const rmw::space where : chosen_of(request, "memory", memory_spaces, memory_word)) {
    for (const std::string& writers : chosen_words(request, "writers", {"apart", "together"})) {
      if (where == rmw::space::shared && writers == "apart") continue;
      for (const litmus_method& method : device.methods(where)) {
        if (std::find(wanted.begin(), wanted.end(), method.name) == wanted.end()) continue;
        test_case one{method, {}};
        one.setup.method = method.name;
        one.setup.where = where;
        one.setup.same_sm = writers == "together";
        add_sizes(request, one, all);
      }
    }
  }
  return all;
}

row row_of(const experiment_request& request, const test_case& what) {
  row entry = new_row(name, request, what.setup.method, method_kind::object);
  entry.items = what.method.items;
  entry.axes = {{"memory", memory_word(what.setup.where)}, {"writers", what.setup.same_sm ? "together" : "apart"}};
  if (what.method.sized()) {
    entry.axes.emplace_back("bytes", int64_t{what.setup.bytes});
    entry.axes.emplace_back("word_bytes", int64_t{what.setup.word_bytes});
  }
  entry.axes.emplace_back("stress", int64_t{what.setup.stress});
  return entry;
}

void test(const experiment_request& request, store_atomicity_device& device, const test_case& what,
          const experiment_sink& sink, const std::function<void(double)>& progress, row& entry) {
  progress(0);
  const auto program = kept_if_stuck(device.prepare(what.setup));
  litmus_count count;
  auto wanted = static_cast<uint64_t>(chosen_number(request, "trials", request.quick ? 1'000'000 : 1'000'000'000));
  // A control has told what it is for as soon as it was torn a few hundred times.
  if (what.method.control) wanted = std::min<uint64_t>(wanted, 50'000'000);
  for (uint32_t seed = 1; count.trials < wanted && !sink.interrupted(); ++seed) {
    const litmus_count more = program->run(seed * 0x9e3779b9u);
    if (more.trials == 0) throw error("A launch of the litmus test has made no trial.");
    count.trials += more.trials;
    count.violations += more.violations;
    count.lasting += more.lasting;
    progress(std::min(1.0, static_cast<double>(count.trials) / static_cast<double>(wanted)));
  }
  if (count.trials == 0) return mark_interrupted(entry, "a first trial");
  const auto trials = static_cast<double>(count.trials);
  entry.metrics = {
      {"violations_per_1e9", plain_metric(1e9 * static_cast<double>(count.violations) / trials, "1", count.trials)},
      {"upper_bound_per_1e9", plain_metric(1e9 * poisson_upper_bound(count.violations) / trials, "1", count.trials)},
      {"violations", count_metric(count.violations)},
      {"lasting", count_metric(count.lasting)},
      {"trials", count_metric(count.trials)}};
  entry.verification =
      fmt::format("{} trials, {} violations; upper bound with 95 % confidence", count.trials, count.violations);
  if (what.method.control) {
    // It claims nothing, and nothing is wrong with it: that it is torn shows that the test can see it.
    *entry.verification += count.violations == 0
                               ? "; a control, which was not caught: the test had no chance to see one"
                               : "; a control, which is to be caught";
    return;
  }
  const char* therefore =
      is_offered(what) ? "do not use rmw::coalesced_store here" : "rmw::coalesced_store is not offered for such";
  mark_verified(entry, count.violations == 0,
                fmt::format("{} of {} stores were not seen as one, {} of them for good: {}.", count.violations,
                            count.trials, count.lasting, therefore));
}

void check(const experiment_request& request) {
  (void)cases(request, *open_side<store_atomicity_device>(request.device));
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<store_atomicity_device>(request.device);
  const auto label = [](const test_case& one) {
    return fmt::format("{}, {} memory", one.setup.method, memory_word(one.setup.where));
  };
  for_each_case(cases(request, *device), sink, label, [&](const test_case& one, const auto& progress) {
    row entry = row_of(request, one);
    fill_in(entry, [&] { test(request, *device, one, sink, progress, entry); });
    sink.add(std::move(entry), !one.method.control && is_offered(one));
  });
}

std::string answer(const measured_rows& measured) {
  measured_rows right = measured, torn = measured;
  const auto was_torn = [](const row* entry) { return value_of(*entry, "violations").value_or(0) > 0; };
  std::erase_if(right.rows, was_torn);
  std::erase_if(torn.rows, [&](const row* entry) { return !was_torn(entry); });
  return answer_in(measured,
                   {fmt::format("No store torn in {} trials of {} settings; torn in {} others, controls among them",
                                count_in_words(sum_of(right, "trials")), right.rows.size(), torn.rows.size())});
}

const register_experiment registered({
    name,
    "whether one masked store of a warp to several words is seen as one, on which the objects without atomics "
    "rely",
    {"H2", "H3", "H5", "H9"},
    {device_kind::cuda},
    {{"memory", "global, shared", 0, 0, true, "both"},
     {"writers", "apart: on multiprocessors of their own (global memory); together: warps of one block", 0, 0, true,
      "both"},
     {"bytes", "of a segment: 8, 16, 32, 64, 128", 8, 128, false, "all; controls 64, 128"},
     {"word_bytes", "that each lane stores: 4, 8", 4, 8, false, "both; controls 4"},
     {"stress", "1: as many blocks again load the caches and shared memories", 0, 1, false, "both; controls 0"},
     {"trials", "segments to write, at least, in each case; one value", 1, 1'000'000'000'000, false,
      "1000000000; controls at most 50000000", true},
     {"method",
      "random-masks, object-cells, consensus-N; controls: split-store, across-lines, "
      "consensus-N-unfenced",
      0, 0, true, "all"}},
    run,
    {check},
    case_time{4, 1},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::store_atomicity_experiment
