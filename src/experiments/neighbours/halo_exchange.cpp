// Experiment halo-exchange: a step in which blocks need words of a few others, under every way to wait for them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "harness/answers.hpp"
#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "measure/repeat_difference.hpp"
#include "usage_error.hpp"
#include "workloads/halo_exchange/halo_exchange.hpp"

namespace gpusync::tool::halo_exchange_experiment {

namespace {

constexpr const char* name = "halo-exchange";

/// "none", "constant-1000", "uniform-1000", "exponential-1000": nanoseconds.
struct work_word {
  std::string word;
  halo_work::kind kind;
  uint32_t mean_ns;
};

work_word parse_work(const std::string& word) {
  if (word == "none") return {word, halo_work::kind::none, 0};
  for (const auto& [prefix, kind] : {std::pair{"constant-", halo_work::kind::constant},
                                     {"uniform-", halo_work::kind::uniform},
                                     {"exponential-", halo_work::kind::exponential}}) {
    const std::string begin = prefix;
    if (word.rfind(begin, 0) != 0) continue;
    const std::string digits = word.substr(begin.size());
    const bool is_number =
        !digits.empty() && digits.size() <= 6 && digits.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && std::stoul(digits) > 0) return {word, kind, static_cast<uint32_t>(std::stoul(digits))};
  }
  throw usage_error(
      fmt::format("Axis work does not take '{}': it takes none, and constant-N, uniform-N and exponential-N, "
                  "where N is 1 to 999999 nanoseconds.",
                  word));
}
void require_work(const std::string& word) {
  (void)parse_work(word);
}
struct halo_case {
  step_shape shape;
  std::string neighbours;
  int64_t bytes;
  work_word work;
  std::string overlap;
};

std::vector<halo_case> cases_of(const experiment_request& request) {
  const bool on_host = request.device.kind == device_kind::host;
  const auto processors = static_cast<uint32_t>(std::max(4, request.device.compute_units));
  const std::vector<step_shape> shapes =
      on_host && !has_chosen(request, "shape")
          ? std::vector<step_shape>{{processors / 2 * 2, 1}}
          : shapes_or(request, request.quick ? std::vector<std::string>{"132x256"}
                                             : std::vector<std::string>{"132x256", "132x1024", "264x512", "1056x256"});
  const auto few = on_host || request.quick;
  const std::vector<std::string> neighbours =
      chosen_words(request, "neighbours", {"2", "4", "8"},
                   request.quick ? std::vector<std::string>{"2"} : std::vector<std::string>{"2", "4", "8"});
  const auto named_work = request.axes.words.find("work");
  const std::vector<std::string> works =
      named_work != request.axes.words.end()
          ? named_work->second
          : (few ? std::vector<std::string>{"none"} : std::vector<std::string>{"none", "exponential-1000"});
  const std::vector<int64_t> bytes_of_block = chosen_numbers(request, "bytes", {on_host ? 16u : 1024u});
  for (const int64_t bytes : bytes_of_block) {
    if (bytes % 4 != 0) {
      throw usage_error(
          fmt::format("Axis bytes does not take {}: words have 4 bytes, so it takes multiples of 4.", bytes));
    }
  }
  std::vector<halo_case> cases;
  for (const step_shape& shape : shapes) {
    for (const std::string& count : neighbours) {
      for (const int64_t bytes : bytes_of_block) {
        for (const std::string& work : works) {
          for (const std::string& overlap : chosen_words(request, "overlap", {"no", "yes"}, {"no"})) {
            cases.push_back({shape, count, bytes, parse_work(work), overlap});
          }
        }
      }
    }
  }
  return cases;
}

/// The ways that are compared if the user names none.
const std::vector<std::string> ways{"graph",
                                    "graph-pdl",
                                    "graph-pdl-late",
                                    "cg",
                                    method_names::default_barrier,
                                    halo_methods::split,
                                    halo_methods::barrier,
                                    halo_methods::automatic,
                                    halo_methods::words,
                                    halo_methods::flags};

std::vector<step_method> methods_of(const experiment_request& request, const workload& workload) {
  std::vector<std::string> defaults = ways;
  if (request.device.kind == device_kind::host) defaults.insert(defaults.begin(), "launch-wait");
  return chosen_methods(request, workload.methods(), defaults);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<halo_device>(request.device);
  const auto label = [](const halo_case& one) {
    return fmt::format("{}, {} neighbours, {} bytes, work {}", to_word(one.shape), one.neighbours, one.bytes,
                       one.work.word);
  };
  for_each_case(cases_of(request), sink, label, [&](const halo_case& one, const auto& progress) {
    const halo_problem problem{static_cast<uint32_t>(std::stoul(one.neighbours)), static_cast<uint32_t>(one.bytes / 4),
                               one.work.kind, one.work.mean_ns, one.overlap == "yes"};
    const auto exchange = kept_if_stuck(device->exchanging(problem));
    auto results = compare_steps(*exchange, {name, request, sink}, methods_of(request, *exchange), one.shape, progress);
    add_ratios(results, "step_time", step_sample,
               {method_names::default_barrier, "cg", "graph", "graph-pdl", "graph-pdl-late", halo_methods::words,
                halo_methods::flags});
    add_rows(results,
             {{"shape", to_word(one.shape)},
              {"neighbours", static_cast<int64_t>(problem.neighbours)},
              {"bytes", one.bytes},
              {"work", one.work.word},
              {"overlap", one.overlap}},
             sink);
  });
}

request_check checks() {
  request_check made = check_methods(
      [](const device_description& device) { return open_side<halo_device>(device)->exchanging({})->methods(); });
  made.check = [methods = made.check](const experiment_request& request) {
    (void)cases_of(request);
    methods(request);
  };
  return made;
}

const register_experiment registered({
    name,
    "a step in which blocks need words of a few others: halos and neighbour barriers beside whole-grid barriers and "
    "launches",
    {},
    {device_kind::cuda, device_kind::host},
    {shape_axis("132x256,132x1024,264x512,1056x256; with --quick 132x256; on the host a block on each processor"),
     {"neighbours", "of each block: 2 in a ring, 4 or 8 in a torus", 0, 0, true, "2,4,8; with --quick 2"},
     {"bytes", "that a block publishes in a step", 4, 16384, false, "1024; on the host 16"},
     {"work", "of a block in a step: none, or constant-N, uniform-N or exponential-N with a mean of N nanoseconds", 0,
      0, true, "none,exponential-1000; with --quick none; on the host none", false, false, require_work},
     {"overlap", "whether the work needs nothing from others: no or yes", 0, 0, true, "no"},
     {"method", "ways to pass from step to step, by name; halo-words-unplaced besides, on CUDA devices", 0, 0, true,
      on_axis(ways) + ", as far as the device has them; on the host launch-wait besides"}},
    run,
    checks(),
});

}  // namespace

}  // namespace gpusync::tool::halo_exchange_experiment
