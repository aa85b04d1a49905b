// Experiment bitonic-sort: the sort of Feng and Xiao's figures 1b and 2b (items F1 to F6 and F8 to F10).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/feng_xiao_2010/application.hpp"
#include "harness/choices.hpp"
#include "harness/published.hpp"
#include "usage_error.hpp"
#include "workloads/bitonic_sort/sort_input.hpp"

namespace gpusync::tool::bitonic_sort_experiment {

namespace {

constexpr const char* name = "bitonic-sort";

/// What a GPU sorts in a millisecond takes host threads a second.
constexpr int64_t count_by_default(bool gpu, bool quick) {
  return gpu ? (quick ? 1 << 14 : 1 << 18) : (quick ? 1 << 12 : 1 << 16);
}

std::vector<sort_problem> problems(const experiment_request& request) {
  std::vector<sort_problem> all;
  const int64_t count = count_by_default(request.device.kind == device_kind::cuda, request.quick);
  for (const int64_t elements : request.axes.numbers_or("elements", {count})) {
    for (const std::string& type : chosen_words(request, "type", sort_types(), {"float32"})) {
      for (const int64_t values : request.axes.numbers_or("values", {0})) {
        for (const std::string& input : chosen_words(request, "input", sort_inputs(), {"random"})) {
          all.push_back({static_cast<uint64_t>(elements), type, values != 0, input});
        }
      }
    }
  }
  return all;
}

void require_room(const sort_problem& problem, sort_form form, const bitonic_device& device,
                  const experiment_request& request) {
  const uint32_t element = element_bytes_of(problem);
  const memory_need need = device.need_of(problem.count, element, form);
  require_memory(
      {fmt::format("Sorting {} elements of {} bytes", problem.count, element), "use fewer elements", need.all,
       device.memory(), need.largest_buffer, device.largest_buffer(), host_bytes_of_sort(problem.count, element)},
      request);
}

application application_of(const sort_problem& problem, const sort_input& input, sort_form form,
                           bitonic_device& device) {
  application what;
  what.experiment = name;
  what.axes = {{"elements", static_cast<int64_t>(problem.count)},
               {"type", problem.type},
               {"values", int64_t{problem.values}},
               {"input", problem.input},
               {"form", form_word(form)}};
  what.open = [&device, &input, form] { return device.sorting(input, form); };
  what.work = problem.count < 2 ? 0 : static_cast<double>(problem.count) * 1e-9;
  what.rate = "elements_sorted";
  what.items = {"F8", "F9"};
  return what;
}

void check(const experiment_request& request) {
  const auto device = open_side<bitonic_device>(request.device);
  const sort_input nothing = make_sort_input({});
  for (const sort_form form : chosen_forms(request, *device, sort_form::memory)) {
    for (const sort_problem& problem : problems(request)) require_room(problem, form, *device, request);
    (void)chosen_methods(request, device->sorting(nothing, form)->methods());
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<bitonic_device>(request.device);
  const std::vector<sort_form> chosen = chosen_forms(request, *device, sort_form::memory);
  const auto label = [&](const sort_problem& problem) {
    return fmt::format("{} {} elements", request.device.id, problem.count);
  };
  for_each_case(problems(request), sink, label, [&](const sort_problem& problem, const auto& progress) {
    progress(0, "sorted on the host");
    sort_input input;
    try {
      input = make_sort_input(problem, sink.interrupted);
    } catch (const run_interrupted&) {
      return;
    }
    for (size_t i = 0; i < chosen.size() && !sink.interrupted(); ++i) {
      run_application(application_of(problem, input, chosen[i], *device), request, sink,
                      part_of(progress, i, chosen.size()));
    }
  });
  if (!sink.interrupted()) add_all(published_rows(paper::feng_xiao_2010, name), sink);
}

std::vector<axis> axes() {
  std::vector<axis> all{
      {"elements", "elements to sort", 0, static_cast<int64_t>(most_elements), false, sizes_in_words(count_by_default)},
      {"type", "of the keys: uint32, int32, float32, uint64, int64, float64", 0, 0, true, "float32"},
      {"values", "1: every key carries a value of its own size", 0, 1, false, "0"},
      {"input", "random, sorted, reversed, equal, few (eight different keys), special (NaN, -0.0, infinities)", 0, 0,
       true, "random"},
      {"form",
       "memory: a boundary after each step of comparisons, as in 2010; registers: after each step between "
       "blocks (CUDA)",
       0, 0, true, "memory"}};
  for (axis& each : application_axes()) all.push_back(std::move(each));
  return all;
}

const register_experiment registered({
    name,
    "bitonic sort: a launch for each step, or one kernel with a grid barrier?",
    {"F1", "F2", "F3", "F4", "F5", "F6", "F8", "F9", "F10"},
    {device_kind::cuda, device_kind::opencl, device_kind::host},
    axes(),
    run,
    {check, check_methods([](const device_description& device) {
              return open_side<bitonic_device>(device)->sorting(make_sort_input({}), sort_form::memory)->methods();
            }).method_names},
    case_time{6, 4},
});

}  // namespace

}  // namespace gpusync::tool::bitonic_sort_experiment
