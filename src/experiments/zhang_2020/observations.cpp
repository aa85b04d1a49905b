// Experiment observations: each statement of the summary of Zhang and others (table 8) on this GPU, by measured rows.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include <gpusync/core/error.hpp>

#include "experiments/zhang_2020/observation_rules.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/rows.hpp"
#include "results/context.hpp"
#include "results/groups.hpp"
#include "results/json.hpp"
#include "usage_error.hpp"

namespace gpusync::tool::observations_experiment {

namespace {

constexpr const char *name = "observations", *files = "from", *of_device = "of";

/// What is judged together: the rows of one GPU.
struct gpu_rows {
  std::string title;
  std::vector<row> rows;
};

bool is_cuda(const std::string& device) {
  return device.starts_with("cuda:");
}

/// The rows of documents, by the GPUs that they are of.
std::vector<gpu_rows> rows_of_documents(const std::vector<std::string>& paths) {
  std::vector<gpu_rows> all;
  for (const std::string& path : paths) {
    const document results = read_document(path);
    for (const row& entry : results.rows) {
      if (!is_cuda(entry.device)) continue;
      const std::string title = device_title(results, entry.device);
      auto found = std::ranges::find(all, title, &gpu_rows::title);
      if (found == all.end()) found = all.insert(all.end(), {title, {}});
      found->rows.push_back(entry);
    }
  }
  if (all.empty()) throw usage_error("The documents of axis from have no rows of a CUDA device.");
  return all;
}

/// What the statements need beyond the few points of a quick run, or instead of them.
axis_choice choice_for(const experiment& which) {
  axis_choice all;
  if (which.name == "grid-sync") {
    all.numbers = {{"blocks_per_sm", {1, 2, 8}}, {"threads", {32, 256}}, {"stores", {0}}, {"barriers", {1}}};
  } else if (which.name == "partial-sync") {
    all.words = {{"method", {"cg"}}, {"rest", {"leaves"}}, {"subset", {"half"}}};
  }
  const auto has = [&](const std::string& axis_name, bool words) {
    return std::ranges::any_of(which.axes,
                               [&](const axis& each) { return each.name == axis_name && each.words == words; });
  };
  std::erase_if(all.numbers, [&](const auto& one) { return !has(one.first, false); });
  std::erase_if(all.words, [&](const auto& one) { return !has(one.first, true); });
  return all;
}

/// The rows of the experiments that the statements ask for, measured now and quickly, as far as this program has them.
gpu_rows measured_now(const experiment_request& request, const experiment_sink& sink) {
  std::set<std::string> names;
  for (const observation& each : observations()) names.insert(each.experiments.begin(), each.experiments.end());
  std::vector<const experiment*> known;
  for (const experiment* each : all_experiments()) {
    if (names.contains(each->name)) known.push_back(each);
  }
  gpu_rows found{request.device.name, {}};
  if (request.device.kind != device_kind::cuda) return found;  // it has documents of GPUs to judge, or nothing
  for (size_t i = 0; i < known.size() && !sink.interrupted(); ++i) {
    experiment_sink own;
    own.add = [&](row entry, bool) { found.rows.push_back(std::move(entry)); };
    const auto part = part_of(sink.progress, i, known.size());
    own.progress = [&](double fraction, const std::string& what) { part(fraction, known[i]->name + ", " + what); };
    own.interrupted = sink.interrupted;
    const experiment_request quick{request.device, choice_for(*known[i]), true, false};
    try {
      known[i]->run(quick, own);
    } catch (const error&) {  // the statements that need its rows will say that they are not there
    }
  }
  return found;
}

/// Those of a run's rows so far that are of the device.
gpu_rows rows_of_run(const experiment_request& request, const std::vector<row>& rows) {
  gpu_rows found{request.device.name, {}};
  std::ranges::copy_if(rows, std::back_inserter(found.rows),
                       [&](const row& entry) { return is_cuda(entry.device) && entry.device == request.device.id; });
  return found;
}

row row_of(const experiment_request& request, const observation& which, const gpu_rows& gpu) {
  row entry = new_row(name, request, which.id, method_kind::object);
  entry.kind.reset();  // it is no way to wait
  entry.items = {"Z23"};
  entry.axes = {{of_device, gpu.title}};
  const observation_finding found = judge(which, gpu.rows);
  if (found.what == observation_finding::not_measured) {
    mark_skipped(entry, fmt::format("Not measured: {}. {}", which.sentence, found.evidence));
    return entry;
  }
  const bool holds = found.what == observation_finding::holds;
  entry.metrics = {{"holds", count_metric(holds ? 1 : 0)}};
  entry.verification = fmt::format("{}: {}. {}", which.sentence, holds ? "holds" : "does not hold", found.evidence);
  return entry;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const std::vector<std::string> cases{"table 8"};
  for_each_case(
      cases, sink, [](const std::string& one) { return one; },
      [&](const std::string&, const auto& progress) {
        std::vector<gpu_rows> gpus;
        if (has_chosen(request, files)) {
          gpus = rows_of_documents(request.axes.words.at(files));
        } else if (sink.so_far != nullptr) {
          gpus.push_back(rows_of_run(request, *sink.so_far));
        } else {
          experiment_sink own = sink;
          own.progress = progress;
          gpus.push_back(measured_now(request, own));
        }
        if (sink.interrupted()) return;
        for (const gpu_rows& gpu : gpus) {
          for (const observation& each : observations()) sink.add(row_of(request, each, gpu), true);
        }
      });
}

/// Of the GPU that stands first.
std::string answer(const measured_rows& measured) {
  size_t hold = 0, judged = 0, skipped = 0;
  std::vector<std::string> failing;
  const axis_values& where = measured.rows.front()->axes;
  for (const row& entry : measured.results.rows) {
    if (entry.experiment != name || entry.device != measured.device || entry.axes != where) continue;
    const std::optional<double> holds = value_of(entry, "holds");
    if (!holds) {
      skipped += 1;
      continue;
    }
    judged += 1;
    if (*holds != 0) {
      hold += 1;
    } else {
      failing.push_back(entry.method);
    }
  }
  std::string head = fmt::format("{} of {} observations of 2020 hold", hold, judged);
  if (!is_cuda(measured.device)) head += " on " + std::get<std::string>(where.front().second);
  const std::string tail = skipped == 0 ? "" : fmt::format("; {} not measured", skipped);
  return answer_in(measured,
                   {failing.size() == 1 ? head + ", " + failing.front() + " does not" + tail : head + tail, head});
}

request_check checks() {
  request_check made;
  made.check = [](const experiment_request& request) {
    if (has_chosen(request, files)) (void)rows_of_documents(request.axes.words.at(files));
  };
  return made;
}

const register_experiment registered({
    name,
    "which statements of the summary of Zhang and others hold on this GPU, with the evidence",
    {"Z23"},
    {device_kind::cuda, device_kind::host},
    {{files, "result documents that have the rows", 0, 0, true, "what is needed is measured now, as with --quick",
      false, true}},
    run,
    checks(),
    case_time{600, 300},
    answer,
    /*finds_matches=*/false,
    /*judges_rows=*/true,
});

}  // namespace

}  // namespace gpusync::tool::observations_experiment
