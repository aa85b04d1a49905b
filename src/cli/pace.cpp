// gpusync pace: what artificial barriers in the place of marks do to a user's kernel.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include <gpusync/core/error.hpp>

#include "boundary/device_side.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/run_context.hpp"
#include "measure/interruption.hpp"
#include "number_in.hpp"
#include "pacing/pace_rows.hpp"
#include "pacing/pace_verdict.hpp"
#include "pacing/paced_program.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"
#include "results/table.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

/// Set in a process that tries variants, with their names.
constexpr const char* trial_mark = "GPUSYNC_PACE_TRIAL";
/// How long one launch of the user's kernel may take.
constexpr double limit_s = 60;

uint32_t bytes_in(const std::string& text) {
  constexpr uint32_t most = 1u << 20;
  if (const auto bytes = number_in<uint32_t>(text); bytes && *bytes <= most) return *bytes;
  throw usage_error(fmt::format("--shared '{}' is no number of bytes from 0 to {}.", text, most));
}

/// "90" or "sm_90".
int architecture_in(const std::string& text) {
  const auto number = number_in<int>(text.starts_with("sm_") ? text.substr(3) : text);
  if (number && *number >= 50 && *number < 1000) return *number;
  throw usage_error(fmt::format("--arch '{}' is no architecture: it takes 90 or sm_90.", text));
}

/// Everything that the command line says, read before a device is looked for.
struct pace_request {
  paced_launch launch;
  paced_source source;
  std::optional<int> architecture;
};

pace_request read_request(const pace_options& options) {
  pace_request request;
  request.launch.blocks = parse_dimensions(options.blocks, "--blocks", 65535);
  request.launch.threads = parse_dimensions(options.threads, "--threads", 1024);
  if (request.launch.threads.all() > 1024) {
    throw usage_error(fmt::format("--threads {} is {} threads: a block has at most 1024.", options.threads,
                                  request.launch.threads.all()));
  }
  request.launch.shared_bytes = options.shared.empty() ? 0 : bytes_in(options.shared);
  for (const std::string& each : options.arguments) request.launch.arguments.push_back(parse_argument(each));
  for (const std::string& each : options.definitions) require_definition(each);
  if (!options.architecture.empty()) request.architecture = architecture_in(options.architecture);
  request.source = read_paced({options.file, options.kernel, options.definitions, options.folders,
                               parse_intervals(options.every), request.launch.threads.all()});
  return request;
}

const device_description& device_of(const pace_options& options) {
  if (options.devices.size() > 1) throw usage_error("gpusync pace takes one device at a time.");
  if (!options.devices.empty()) {
    const device_description& named = find_device(options.devices[0]);
    if (named.kind == device_kind::cuda) return named;
    throw usage_error(
        fmt::format("gpusync pace runs CUDA kernels, and {} is a device of kind {}.", named.id, to_string(named.kind)));
  }
  std::vector<std::string> present;
  for (const device_description& each : all_devices()) {
    if (each.kind == device_kind::cuda) return each;
    present.push_back(each.id);
  }
  throw no_such_device(
      fmt::format("gpusync pace needs a CUDA device; this machine has {}. With --dry-run and --arch it "
                  "compiles without one.",
                  fmt::join(present, ", ")));
}

/// 90 of the fact "9.0": without the device's runtime, which a stuck kernel of a trial must find alone.
int architecture_of(const device_description& device) {
  for (const device_fact& fact : device.facts) {
    const std::string* const text = std::get_if<std::string>(&fact.value);
    if (fact.name != "compute capability" || text == nullptr) continue;
    std::string digits = *text;
    std::erase(digits, '.');
    return architecture_in(digits);
  }
  throw error(fmt::format("The compute capability of {} is not known: name it by --arch.", device.id));
}

/// The compiler's message on stderr, and an end with the sentence.
[[noreturn]] void refuse(const compile_failure& failure) {
  fmt::print(stderr, "{}{}", failure.log(), failure.log().ends_with('\n') ? "" : "\n");
  const bool has_host_code = failure.log().find("open source file") != std::string::npos;
  throw usage_error(fmt::format("{}: the compiler's messages stand above.{}", failure.what(),
                                has_host_code ? " Host code and its headers go between #ifndef __CUDACC_RTC__ and "
                                                "#endif; folders of other headers are named by -I."
                                              : ""));
}

std::vector<compiled_kernel> compile_all(const pace_request& request, int architecture) {
  const run_time_compiler compiler;
  std::vector<compiled_kernel> compiled;
  const std::vector<pace_variant>& variants = request.source.variants;
  for (const pace_variant& each : variants) {
    if (interrupted()) throw run_interrupted();
    try {
      compiled.push_back(compile_variant(compiler, request.source, each, architecture));
    } catch (const compile_failure& failure) {
      refuse(failure);
    }
  }
  const auto barrier = std::ranges::find_if(variants, &pace_variant::is_barrier) - variants.begin();
  check_paced(request.source, compiled.front(), compiled[static_cast<size_t>(barrier)], request.launch.arguments);
  return compiled;
}

std::vector<std::string> names_of(const std::vector<pace_variant>& variants) {
  std::vector<std::string> names;
  for (const pace_variant& each : variants) names.push_back(each.name);
  return names;
}

std::shared_ptr<paced_kernel> load(const pace_request& request, const device_description& device,
                                   const std::vector<compiled_kernel>& compiled) {
  std::vector<loadable_kernel> variants;
  for (const compiled_kernel& each : compiled) variants.push_back({each.symbol, each.image});
  return kept_if_stuck(open_side<pacing_device>(device)->load(variants, request.launch));
}

/// In a process of its own: tries the variants that the environment names.
exit_code try_named(const pace_request& request, const device_description& device,
                    const std::vector<compiled_kernel>& compiled, const std::string& wanted) {
  const std::vector<std::string> names = names_of(request.source.variants);
  std::vector<size_t> numbers;
  for (size_t i = 0; i < names.size(); ++i) {
    if (("," + wanted + ",").find("," + names[i] + ",") != std::string::npos) numbers.push_back(i);
  }
  const std::shared_ptr<paced_kernel> kernel = load(request, device, compiled);
  if (!run_trial(*kernel, names, numbers, limit_s, std::cout)) _exit(0);  // to free anything might wait for ever
  return exit_code::done;
}

std::map<std::string, trial_outcome> try_all(const pace_request& request, const pace_options& options,
                                             const console_options& console) {
  const std::vector<std::string> names = names_of(request.source.variants);
  std::vector<std::string> command = options.command;
  command.front() = "/proc/self/exe";
  progress_display progress(console, "pace");
  progress.update(0, "trying each variant once in a process of its own");
  return try_variants(names, [&](const std::vector<std::string>& wanted) {
    if (interrupted()) throw run_interrupted();
    const auto launches = static_cast<double>(wanted.size()) + 2;
    return run_child(command, {std::chrono::seconds(static_cast<int64_t>(launches * limit_s))}, true,
                     {fmt::format("{}={}", trial_mark, fmt::join(wanted, ","))});
  });
}

exit_code measure(const pace_request& request, const device_description& device,
                  const std::vector<compiled_kernel>& compiled, const pace_options& options,
                  const console_options& console) {
  std::optional<output_file> json_file;
  if (options.json) json_file.emplace(*options.json);
  if (options.json && json_file->goes_to(options.file)) {
    throw usage_error(fmt::format("--json would take the place of '{}': give it another name.", options.file));
  }
  document results;
  const graph_watch no_graphs({});
  results.context = begin_context(options.command, {device}, no_graphs);
  const machine_load load_before;

  const std::map<std::string, trial_outcome> trials = try_all(request, options, console);
  if (interrupted()) throw run_interrupted();
  const auto plain = trials.find(request.source.variants.front().name);
  if (plain == trials.end() || plain->second.end != trial_end::right) {
    throw std::runtime_error(why_refused(plain == trials.end() ? trial_outcome{} : plain->second, true));
  }
  const std::shared_ptr<paced_kernel> kernel = load(request, device, compiled);
  std::vector<kernel_variant> variants;
  {
    progress_display progress(console, "pace");
    pace_comparison_options how{options.quick, limit_s, interrupted,
                                [&](double fraction) { progress.update(fraction, request.source.kernel.name); }};
    variants = compare_paced(*kernel, request.source.variants, trials, how);
  }
  const kernel_text text = read_ptx(compiled.front().ptx, compiled.front().symbol);
  const pace_verdict verdict = judge_paced(variants);
  const std::vector<std::string> cures = other_cures(request.source.kernel, text.narrow_loads, text.wide_loads);

  results.rows = rows_of(request.source, request.launch, device.id, variants);
  end_context(*results.context, {device}, no_graphs, load_before, true);
  (*results.context)["pace"] = in_json(verdict, cures);
  if (json_file) {
    json_file->write(to_json_text(results));
    if (const std::optional<std::string> failure = commit_or_save(*json_file)) throw std::runtime_error(*failure);
  }
  if (!json_file || !json_file->is_stdout()) {
    fmt::print("{}", to_table(results, console.color_data));
    for (const std::string& cure : cures) fmt::print("\n{}\n", cure);
    fmt::print("\n{}\n", verdict.sentence);
  }
  if (json_file && !json_file->is_stdout()) say(console, fmt::format("Wrote {}.", json_file->path()));
  if (remark_on_short_runs(variants)) {
    say(console, "The kernel takes less than 20 us: much of that is its launch. A larger problem says more.");
  }
  const auto refused = [](const kernel_variant& each) { return each.found == kernel_variant::state::refused; };
  return std::ranges::any_of(variants, refused) ? exit_code::failed : exit_code::done;
}

}  // namespace

exit_code run_pace(const console_options& console, const pace_options& options) try {
  const pace_request request = read_request(options);
  const bool needs_device = !options.dry || !request.architecture;
  const device_description* const device = needs_device ? &device_of(options) : nullptr;
  const int architecture = request.architecture ? *request.architecture : architecture_of(*device);
  const char* const wanted = std::getenv(trial_mark);
  if (wanted == nullptr) catch_interrupts(console.level != verbosity::quiet);
  const std::vector<compiled_kernel> compiled = compile_all(request, architecture);
  if (options.dry) {
    fmt::print("{} compiles for sm_{} in {} variants: {}.\n", request.source.kernel.name, architecture, compiled.size(),
               fmt::join(names_of(request.source.variants), ", "));
    return exit_code::done;
  }
  if (wanted != nullptr) return try_named(request, *device, compiled, wanted);
  return measure(request, *device, compiled, options, console);
} catch (const run_interrupted&) {
  say(console, "Interrupted: nothing was written.");
  return exit_code::failed;
}

}  // namespace gpusync::tool
